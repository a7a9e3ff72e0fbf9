# SPDX-License-Identifier: BSD-3-Clause
"""Figure of the time of each axis, in the default order and in the best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axes.cases import Result
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, SETTINGS

COPIES = "copies"

#: Colors by axis; data-parallel axes carry gradients.
COLORS = {
    "tp": AFTER,
    "cp": "#80b1d3",
    "ep": BEFORE,
    "etp": "#e9a3c9",
    "pp": "#666666",
    COPIES: "#35978f",
}


def draw(results: Sequence[Result], file: Path) -> None:
    """Draw two bars per job: default order (above) and best order, relative to it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    with pyplot.rc_context(SETTINGS):
        picture, panel = pyplot.subplots(
            figsize=(7.4, 0.9 + 0.5 * len(results)), layout="constrained"
        )
        seen = set()
        for row, result in enumerate(results):
            orders = result.orders
            for order, up in ((orders.given, 0.19), (orders.best, -0.19)):
                left = 0.0  # after the loop: length of the last bar
                for one, seconds in zip(orders.traffic, order.seconds, strict=True):
                    width = seconds / orders.given.total
                    kind = COPIES if one.axes[-1] in ("dp", "edp") else one.name
                    seen.add(kind)
                    panel.barh(
                        row - up,
                        width,
                        0.34,
                        left=left,
                        color=COLORS[kind],
                        clip_on=False,
                    )
                    left += width
            name = orders.text(orders.best)
            panel.text(left + 0.01, row + 0.19, name, va="center", fontsize=7)
        names = [
            f"{r.case.machine_name}\n{r.case.model.split('-A')[0]}"
            + (f", {r.case.experts}" if r.case.experts else "")
            for r in results
        ]
        panel.set_yticks(range(len(results)), names)
        panel.set_ylim(len(results) - 0.4, -0.6)
        panel.set_xlim(0, 1.01)
        panel.set_xticks([0, 1], ["0", "default"])
        panel.axvline(1, color=NEUTRAL, linewidth=0.8, zorder=0)
        panel.tick_params(length=0)
        panel.set_xlabel("time of what a step sends: default above, best below")
        picture.legend(
            handles=[
                Patch(color=color, label="dp, edp, ..." if name == COPIES else name)
                for name, color in COLORS.items()
                if name in seen
            ],
            loc="outside lower center",
            ncols=len(COLORS),
            frameon=False,
        )
        extra = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 150}
        picture.savefig(file, facecolor="w", **extra)
        pyplot.close(picture)
