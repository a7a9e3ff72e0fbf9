# SPDX-License-Identifier: BSD-3-Clause
"""Draws the gain of a placement: links, matrix and loads, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Allocation, CommGraph, Judgement, Machine, Placement
from topoloom.figure.histogram import draw_histogram
from topoloom.figure.links import (
    AXES,
    Array,
    LinkLoads,
    TorusLinks,
    choose_load_unit,
    find_torus_links,
)
from topoloom.figure.matrix import (
    draw_matrix,
    draw_scale,
    make_log_norm,
    make_ordered_matrix,
)
from topoloom.figure.page import open_page
from topoloom.figure.torus import draw_torus
from topoloom.nodes.hosts import format_allocated_share
from topoloom.placements.measures import measure_title
from topoloom.support.gain import gain
from topoloom.support.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Maximum number of drawn links: a torus with more is drawn as a gray block.
MAX_LINKS = 600_000


def draw_judgement(
    path: str | Path,
    graph: CommGraph,
    allocation: Allocation,
    placements: Mapping[str, Placement],
) -> None:
    """Draw `block` (or the first placement) next to the best other placement.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    graph, allocation
        The placed graph, and the slots of the job.
    placements
        One or more placements, by name of their mapper.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    from topoloom._core import Error, judge, predicted_time

    if not placements:
        raise Error("there is no placement to draw")
    judged = {n: judge(graph, allocation, p) for n, p in placements.items()}
    seconds = {}
    if allocation.machine.has_bandwidths:
        seconds = {
            n: predicted_time(graph, allocation, p) for n, p in placements.items()
        }
    names = _choose_placements(judged, seconds)
    with open_page(path, (10.2, 12.0 if _is_drawable(allocation) else 8.0)) as figure:
        _draw_page(
            figure,
            graph,
            allocation,
            {name: placements[name] for name in names},
            {name: judged[name] for name in names},
            seconds,
        )


def write_headline(
    judged: Mapping[str, Judgement],
    seconds: Mapping[str, float] | None = None,
    machine: Machine | None = None,
) -> str:
    """Describe the gain in one sentence, in predicted time if known."""
    names = list(judged)
    if len(names) == 1:
        title = measure_title("hops_per_byte", machine)
        return f"{names[0]}: {judged[names[0]].hops_per_byte:.2f} {title}"
    before, after = judged[names[0]], judged[names[-1]]
    changes = [
        _describe_change(before.hop_bytes, after.hop_bytes, measure_title("hop_bytes"))
    ]
    if seconds:
        times = (seconds[names[0]], seconds[names[-1]])
        changes.insert(
            0, _describe_change(*times, f"the {measure_title('predicted_seconds')}")
        )
    else:
        loads = (before.congestion_max, after.congestion_max)
        changes.append(_describe_change(*loads, measure_title("congestion_max")))
    if all(change.startswith("keeps") for change in changes):
        return f"{names[-1]} is just as good as {names[0]}"
    return f"{names[-1]} {' and '.join(changes)} against {names[0]}"


def _describe_change(before: float, after: float, what: str) -> str:
    percent = gain(before, after)
    if percent is None:
        return f"raises {what} from 0"
    if abs(percent) < 0.5:
        return f"keeps {what}"
    return f"{'cuts' if percent > 0 else 'raises'} {what} by {abs(percent):.0f} %"


def _choose_placements(
    judged: Mapping[str, Judgement], seconds: Mapping[str, float]
) -> list[str]:
    names = list(judged)
    before = "block" if "block" in judged else names[0]
    others = [name for name in names if name != before]
    if not others:
        return [before]

    def cost(name: str) -> float:
        return seconds[name] if seconds else judged[name].hop_bytes

    return [before, min(others, key=cost)]


def _is_drawable(allocation: Allocation) -> bool:
    machine = allocation.machine
    return len(machine.shape) in (2, 3) and machine.link_count <= MAX_LINKS


def _draw_page(
    figure: Figure,
    graph: CommGraph,
    allocation: Allocation,
    placements: dict[str, Placement],
    judged: dict[str, Judgement],
    seconds: dict[str, float],
) -> None:
    machine = allocation.machine
    unit = choose_load_unit(machine)
    busy = {name: unit.compute_loads(judgement) for name, judgement in judged.items()}
    top = max(float(values.max(initial=0)) for values in busy.values()) or 1.0
    loads = LinkLoads(busy, top, unit)
    links = find_torus_links(machine) if 0 < len(machine.shape) <= 4 else None
    drawn = _is_drawable(allocation)
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06, hspace=0.04)
    parts: Any = figure.subfigures(
        3 if drawn else 2, 1, height_ratios=[5.0, 4.1, 2.6] if drawn else [4.1, 2.6]
    )
    title = write_headline(judged, seconds, machine)
    figure.suptitle(title, fontsize=14, fontweight="bold", x=0.5)
    nodes = format_allocated_share(allocation)
    where = (
        f"{counted(graph.rank_count, 'rank')} on {nodes} of "
        f"{machine.name.partition(';')[0]}"
    )
    if drawn and links is not None:
        _draw_tori(parts[0], links, loads, judged, allocation, where)
    _draw_matrices(parts[-2], graph, allocation, placements, "" if drawn else where)
    _draw_histograms(parts[-1], links, loads)


def _draw_tori(
    part: Any,
    links: TorusLinks,
    loads: LinkLoads,
    judged: dict[str, Judgement],
    allocation: Allocation,
    where: str,
) -> None:
    from matplotlib.colors import Normalize

    norm = Normalize(0, loads.top)
    text = loads.unit.format
    panels = part.subplots(1, len(loads.busy), squeeze=False)[0]
    for panel, (name, values) in zip(panels, loads.busy.items(), strict=True):
        between = values[: len(links.axis)]
        lines = draw_torus(panel, links, between, norm, allocation)
        panel.set_title(name, fontweight="bold")
        panel.text(
            0.5,
            -0.02,
            f"{measure_title('congestion_max')} "
            f"{text(float(judged[name].congestion_max))}",
            transform=panel.transAxes,
            ha="center",
            va="top",
            fontsize=13,
        )
    if any(values.any() for values in loads.busy.values()):
        bar = part.colorbar(lines, ax=list(panels), shrink=0.75, pad=0.01, aspect=28)
        bar.ax.yaxis.set_major_formatter(lambda value, _: text(value))
        bar.set_label(f"{loads.unit.title} (thick and dark: much)")
        bar.outline.set_visible(False)
    both = (
        "both directions side by side"
        if len(links.shape) == 2
        else ("each link as its busier direction")
    )
    ragged = len(allocation.nodes) < allocation.machine.node_count
    circles = "; circles: allocated nodes" if ragged else ""
    part.suptitle(f"{where}{circles}; {both}", fontsize=9)


def _draw_matrices(
    part: Any,
    graph: CommGraph,
    allocation: Allocation,
    placements: dict[str, Placement],
    where: str,
) -> None:
    matrices = {
        n: make_ordered_matrix(graph, allocation, p) for n, p in placements.items()
    }
    values = np.concatenate([m[m > 0] for m, _ in matrices.values()])
    norm = make_log_norm(values)
    panels = part.subplots(1, len(matrices), squeeze=False)[0]
    for panel, (name, (matrix, width)) in zip(panels, matrices.items(), strict=True):
        image = draw_matrix(panel, matrix, width, graph.rank_count, norm)
        panel.set_title(f"who talks to whom, ranks as {name} places them")
    if values.size:
        draw_scale(part, image, list(panels), values, width)
    if where:
        part.suptitle(where, fontsize=9)


def _group_by_direction(
    links: TorusLinks, count: int
) -> list[tuple[str, Array, Array | None]]:
    """Group links by axis; return each group's title, and a mask for each direction."""
    between, link = len(links.axis), np.arange(count)
    axis = np.full(count, -1)
    axis[:between] = links.axis
    forward = (link - between) % 2 == 0
    forward[:between] = links.forward
    groups: list[tuple[str, Array, Array | None]] = []
    for index in range(len(links.shape)):
        letter = AXES[index] if index < len(AXES) else f"axis {index}"
        along = axis == index
        title = f"{letter} links: + above, - below"
        groups.append((title, along & forward, along & ~forward))
    if between < count:
        title = "node links: up above, down below"
        groups.append((title, (axis < 0) & forward, (axis < 0) & ~forward))
    return groups


def _draw_histograms(part: Any, links: TorusLinks | None, loads: LinkLoads) -> None:
    count = len(next(iter(loads.busy.values())))
    groups: list[tuple[str, Array, Array | None]] = [
        ("all links", np.ones(count, dtype=bool), None)
    ]
    if links is not None:
        groups = _group_by_direction(links, count)
    panels = part.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    highest = 1.0
    for panel, (title, up, down) in zip(panels, groups, strict=True):
        counted = draw_histogram(panel, loads, up, down)
        highest = max(highest, counted)
        panel.set_title(title)
        panel.set_xlabel(loads.unit.title)
    panels[0].set_ylabel("links that carry any")
    panels[0].set_ylim(-2 * highest if links is not None else 0, 2 * highest)
    part.suptitle("how many links carry how much; triangles: the busiest", fontsize=9)
    shown, names = panels[0].get_legend_handles_labels()
    part.legend(shown, names, loc="upper right", ncols=2, frameon=False, fontsize=9)
