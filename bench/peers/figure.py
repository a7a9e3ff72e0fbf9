# SPDX-License-Identifier: BSD-3-Clause
"""Performance profiles: share of instances by ratio to the best known value.

Dolan and Moré, *Benchmarking optimization software with performance profiles*,
Mathematical Programming 91, 2002. Infeasible and missing answers never count.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.best_known import BestKnownValues
from peers.comparison import best_run_of_each_instance
from peers.measure import Run
from peers.tables import ratio_to_best_known

#: Maximum ratio of the axis; beyond, the curves are not informative.
FAR = 3.0


def draw_profile(runs: Sequence[Run], best_known: BestKnownValues, file: Path) -> None:
    """Draw a panel per set: curves of our efforts and of every other tool.

    Another tool's curve uses the best feasible answer of all its efforts.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = list(dict.fromkeys(run.group for run in runs))
    picture, panels = pyplot.subplots(
        1,
        len(groups),
        figsize=(3.6 * len(groups), 4.4),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for panel, group in zip(panels[0], groups, strict=True):
        members = [run for run in runs if run.group == group]
        count = len({run.instance for run in members})
        for number, (tool, effort) in enumerate(list_curves(runs)):
            mine = [run for run in members if run.tool == tool]
            if effort:
                mine = [run for run in mine if run.effort == effort]
            points = list_corners(best_run_of_each_instance(mine), best_known, count)
            if points:
                panel.step(
                    *zip(*points, strict=True),
                    where="post",
                    color=f"C{number % 10}",
                    linestyle="-" if tool == "ours" else "--",
                    linewidth=2.2 if tool == "ours" else 1.4,
                    label=f"{tool} {effort}".strip(),
                )
        panel.set(
            title=f"{group} ({count})", xlim=(1, FAR), ylim=(0, 1.02), xscale="log"
        )
        panel.set_xticks([1, 1.25, 1.5, 2, 3], ["1", "1.25", "1.5", "2", "3"])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("J / best known")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("part of the instances")
    named: dict[str, Any] = {}
    for panel in panels[0]:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    picture.legend(
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=max(3, 2 * len(groups)),
        fontsize="small",
    )
    picture.savefig(file, dpi=150)
    pyplot.close(picture)


def list_curves(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return (tool, effort) of each curve; the effort of other tools is empty."""
    pairs = [(run.tool, run.effort if run.tool == "ours" else "") for run in runs]
    return sorted(set(pairs), key=lambda pair: (pair[0] != "ours", pairs.index(pair)))


def list_corners(
    runs: Sequence[Run], best_known: BestKnownValues, count: int
) -> list[tuple[float, float]]:
    """Return the corners of a curve: (ratio, share of instances up to this ratio)."""
    found = [
        ratio_to_best_known(run, best_known, run.hop_bytes)
        for run in runs
        if run.outcome == "ok"
    ]
    near = sorted(value for value in found if value is not None)
    if not near:
        return []
    corners = [(value, (i + 1) / count) for i, value in enumerate(near)]
    return [(1.0, sum(v <= 1 for v in near) / count), *corners, (FAR, corners[-1][1])]
