# SPDX-License-Identifier: BSD-3-Clause
"""Builds a report that compares placements with the launcher's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from topoloom._core import Allocation, CommGraph, Placement
    from topoloom.placements.fixed_bounds import AnyBounds
    from topoloom.placements.placement_file import PlacementFile
    from topoloom.report.page_data import PlacementView, Report

#: Maximum number of parts of the pattern: with more, a page does not show loads by
#: part.
MAX_PARTS = 12
LAUNCHER = "block (default)"  # name of the placement in block order


class ReportedPlacement(NamedTuple):
    """A placement and its file path; "" without a file."""

    file: PlacementFile
    path: str = ""


class _Problem(NamedTuple):
    """The graph, allocation and phases that all views of a report share."""

    graph: CommGraph
    where: Allocation
    shared: bool
    bounds: AnyBounds | None
    views: int
    phases: Sequence[CommGraph]
    parts: Mapping[str, Sequence[CommGraph]]
    background: NDArray[np.float64] | None
    bounds_with_background: AnyBounds | None


def build_report(
    graph: CommGraph,
    graph_file: str,
    made: list[ReportedPlacement],
    phases: Sequence[CommGraph],
    proof: str = "",
    command: tuple[str, ...] = (),
    names: Sequence[str] = (),
    default: Placement | None = None,
    background: NDArray[np.float64] | None = None,
) -> Report:
    """Measure the launcher's order and placements of one job; build the report.

    `names` contains the names of the phases. Phases of one name form one part of the
    page. `default` is the launcher's placement, by default block order. `background` is
    the traffic of other jobs, in bytes by link id.
    """
    from topoloom.report.page_data import Report
    from topoloom.tasks.optimality_gap import prove_quick_bounds
    from topoloom.tasks.problem import place_like_launcher

    first = made[0].file
    where = first.allocation
    shared = any(one.file.placement.shared for one in made)
    # Bounds are valid only for one rank per slot.
    bounds = None if shared else prove_quick_bounds(graph, where, phases)
    loaded = None
    if background is not None and not shared:
        loaded = prove_quick_bounds(graph, where, phases, background=background)
    parts: dict[str, list[CommGraph]] = {}
    if 0 < len(set(names)) <= MAX_PARTS:
        for name, phase in zip(names, phases, strict=True):
            parts.setdefault(name, []).append(phase)
    count = 1 + len(made)
    problem = _Problem(
        graph, where, shared, bounds, count, phases, parts, background, loaded
    )
    block = default or place_like_launcher(graph, where, shared, first.capacities)
    views = [_make_view(problem, LAUNCHER, block)]
    for one, name in zip(made, _name_placements(made), strict=True):
        views.append(_make_view(problem, name, one.file.placement, one))
    best = 1 + min(
        range(len(made)), key=_list_objective_values(made, views[1:]).__getitem__
    )
    return Report(
        graph=graph,
        allocation=where,
        views=views,
        best=best,
        hosts=first.hosts,
        bounds=bounds,
        bounds_with_background=loaded,
        graph_file=graph_file,
        command=command,
        affinity=proof,
        switches=first.switches,
        node=first.node,
        parts=tuple(parts),
    )


def _list_objective_values(
    made: list[ReportedPlacement], views: list[PlacementView]
) -> list[float]:
    """Return the values of the first placement's objective, which compares placements.

    Objectives that are not a metric, such as weighted ones, are read from the files.
    Unless all files contain the value, predicted time or congestion replaces it.
    """
    files = [one.file for one in made]
    # Launchers' files have no measures.
    objective = next((one for one in files if one.values), files[0]).objective
    if all(
        "objective" in file.values and file.objective == objective for file in files
    ):
        return [file.values["objective"] for file in files]
    measure = "hop_bytes"
    if "congestion" in objective:
        measure = "congestion_max"
    elif "time" in objective and "predicted_seconds" in views[0].values:
        measure = "predicted_seconds"
    return [view.values[measure] for view in views]


def _name_placements(made: list[ReportedPlacement]) -> list[str]:
    """Name placements by mapper if mappers differ, else by file."""
    stems = [Path(one.path).stem for one in made]
    mappers = [one.file.mapper or stem for one, stem in zip(made, stems, strict=True)]
    for names in (mappers, stems):
        if len(set(names)) == len(names) and LAUNCHER not in names:
            return names
    return [one.path for one in made]


def _make_view(
    problem: _Problem,
    name: str,
    placement: Placement,
    made: ReportedPlacement | None = None,
) -> PlacementView:
    from topoloom._core import judge
    from topoloom.placements.measures import collect_measures
    from topoloom.report.page_data import PlacementView, count_explained_links
    from topoloom.tasks.objective import predict_time
    from topoloom.tasks.optimality_gap import compute_background_gaps, compute_gaps

    judgement = judge(
        problem.graph,
        problem.where,
        placement,
        hottest=count_explained_links(problem.views),
        background=problem.background,
    )
    values = predict_time(
        problem.graph, problem.where, placement, problem.phases, problem.background
    )
    values |= collect_measures(judgement, problem.shared)
    part_loads = [
        np.sum(
            [judge(phase, problem.where, placement).loads for phase in phases], axis=0
        )
        for phases in problem.parts.values()
    ]
    return PlacementView(
        name=name,
        placement=placement,
        judgement=judgement,
        values=values,
        gaps=compute_gaps(values, problem.bounds)
        | compute_background_gaps(values, problem.bounds_with_background),
        made=made.file if made else None,
        file=made.path if made else "",
        part_loads=part_loads,
    )
