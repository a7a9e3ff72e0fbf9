# SPDX-License-Identifier: BSD-3-Clause
"""Figure of latency over load: ours as a line, other simulators as markers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.figure.style import AFTER, BEFORE, SETTINGS

if TYPE_CHECKING:
    from network.compare import SimulatorComparison


def draw(compared: Sequence[SimulatorComparison], file: Path) -> None:
    """Draw a panel per network."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(
            1,
            len(compared),
            figsize=(9, 2.8),
            layout="constrained",
            sharey=True,
            squeeze=False,
        )
        for panel, one in zip(panels[0], compared, strict=True):
            for label, points, look in (
                ("ours", one.ours, {"color": AFTER}),
                ("BookSim 2", one.booksim, {"color": BEFORE, "marker": "o"}),
                (
                    "CAMINOS, another router",
                    one.caminos,
                    {"color": "#999999", "marker": "x"},
                ),
            ):
                shown = [point for point in points if point.offered < 1]
                panel.plot(
                    [point.offered for point in shown],
                    [point.latency for point in shown],
                    linestyle="-" if label == "ours" else "none",
                    label=label,
                    markersize=5,
                    **look,
                )
            panel.set_title(one.case.name)
            panel.set_xlabel("flits per node and cycle")
            panel.set_ylim(0, 100)
            panel.grid(axis="y", alpha=0.3)
        panels[0][0].set_ylabel("cycles")
        panels[0][0].legend(frameon=False, loc="upper left")
        picture.savefig(file, facecolor="w", metadata={"Date": None})
        pyplot.close(picture)
