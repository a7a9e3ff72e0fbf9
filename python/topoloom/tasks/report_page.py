# SPDX-License-Identifier: BSD-3-Clause
"""Writes the HTML page that compares placements of one job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from topoloom._core import CommGraph, Error, OperationGraph, Placement
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.graphs.graph_file import load_graph, load_operations
from topoloom.graphs.phases import load_phase_names, load_phases
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.report.page_data import PlacementView, Report
from topoloom.simulate import bind_switch, load_simulator
from topoloom.support.units import counted
from topoloom.tasks.launched_placement import (
    is_placement_file,
    load_launched_placement,
)
from topoloom.tasks.objective import read_background
from topoloom.tasks.placement_problem import (
    PlacementProblem,
    find_graph_file,
    load_launched_problems,
)
from topoloom.tasks.problem import AllocationSpec
from topoloom.tasks.report import ReportedPlacement, build_report
from topoloom.tasks.simulate import (
    MonitorSimulation,
    Simulations,
    simulate_placements,
    unmonitored_simulation,
)

if TYPE_CHECKING:
    from topoloom.documents.placements import PlacementOnPage, ReportDocument

MAX_PLACEMENTS = 7
#: The nodes of a job are those of its placement files, or all.
NO_ALLOCATION = AllocationSpec()
#: Simulation results that the ``--json`` output contains.
_SIMULATED = ("simulated_seconds", "busiest_channels", "busiest_switches")


class Simulator(NamedTuple):
    """A simulator, its switches, and the progress monitor."""

    name: str
    switch: str | None = None
    monitor: MonitorSimulation = unmonitored_simulation


class WrittenReport(NamedTuple):
    """The path of a page, its report and headline, and warnings about input files.

    `interrupted` is set if Ctrl-C ended the simulations.
    """

    path: Path
    report: Report
    headline: str
    warnings: list[str]
    interrupted: bool = False

    @property
    def size(self) -> int:
        """The size of the page in bytes."""
        return self.path.stat().st_size

    def document(self) -> ReportDocument:
        """Return the fields of the ``--json`` output."""
        report = self.report
        views: list[dict[str, Any]] = [
            {"name": view.name, "file": view.file or None, **view.values}
            for view in report.views
        ]
        for entry, placed in zip(views, report.views, strict=True):
            if links := report.list_shared_links(placed):
                entry["busiest_links"] = links
        for view, found in zip(views, report.simulated, strict=False):
            view |= {key: found[key] for key in _SIMULATED}
        return {
            "output": str(self.path),
            "bytes": self.size,
            "headline": self.headline,
            "best": report.views[report.best].name,
            "placements": cast("list[PlacementOnPage]", views),
        }


def write_report(
    placements: Sequence[str | Path],
    output: Path,
    graph_file: str | None = None,
    command: tuple[str, ...] = (),
    simulator: Simulator | None = None,
    machine: str | None = None,
    where: AllocationSpec = NO_ALLOCATION,
    advise: Callable[[Report], str] = lambda _: "",
    background: Sequence[str] | None = None,
) -> WrittenReport:
    """Write a page that compares placements of one job with the launcher's order.

    Launchers' files, such as rankfiles, are for the machine and allocation of the first
    placement file. Without one, these are `machine` and `where`.

    Parameters
    ----------
    placements
        Placement files and launchers' files.
    output
        Path of the page.
    graph_file
        File of the graph; by default the graph of the first placement.
    command
        The command line, which the page shows.
    simulator
        The simulator for each placement; None for no simulation.
    advise
        Returns the sentence of advice for the page.
    background
        Traffic of other jobs, as for `topoloom.tasks.objective.read_background`.

    Raises
    ------
    topoloom.Error
        If there are too many placements, they are of several jobs, or jinja2 is
        missing.
    OSError
        If a file cannot be read or written.
    """
    from topoloom.report.page import save_report
    from topoloom.report.text import write_title

    if not placements:
        raise Error("there are no placements to show; name one or more")
    if len(placements) > MAX_PLACEMENTS:
        raise Error(
            f"{len(placements)} placements are too many: at most {MAX_PLACEMENTS}"
        )
    names = [str(path) for path in placements]
    loaded = _load_files(names, graph_file, machine, where)
    files, graph_file = loaded.files, loaded.graph_file
    _check_same_job(names, files)
    graph = load_graph(graph_file)
    ranks = len(files[0].placement.slots)
    if ranks != graph.rank_count:
        raise Error(
            f"{placements[0]} places {counted(ranks, 'rank')}, but {graph_file} has "
            f"{graph.rank_count}"
        )
    made = list(map(ReportedPlacement, files, names))
    phases = load_phases(graph_file)
    report = build_report(
        graph,
        graph_file,
        made,
        phases,
        command=command,
        names=load_phase_names(graph_file),
        default=loaded.default,
        background=read_background(background, files[0].allocation.machine),
    )
    inputs = [Path(name) for name in [*names, graph_file] if Path(name).exists()]
    if output.exists() and any(output.samefile(path) for path in inputs):
        raise Error(f"{output} is an input of the page; name another output file")
    interrupted = False
    if simulator is not None:
        operations = load_operations(graph_file)
        found = _simulate_views(simulator, loaded, names, operations, graph, phases)
        interrupted = found.interrupted
        name = simulator.name
        if operations is not None and name == "switches":
            name += ", with what operations wait for"
        report = replace(report, simulator=name, simulated=found.results)
    report = replace(report, advice=advise(report))
    save_report(output, report)
    headline = write_title(report.views[0], report.views[report.best])
    changed = (_warn_changed_graph(view, graph_file) for view in report.views[1:])
    warnings = [*loaded.remarks, *(line for line in changed if line)]
    return WrittenReport(output, report, headline, warnings, interrupted)


class _LoadedFiles(NamedTuple):
    """Placements of one job, its graph, and what was assumed about them.

    `default` is the launcher's placement, unless it is block order of the allocation.
    """

    files: list[PlacementFile]
    graph_file: str
    remarks: list[str]
    default: Placement | None = None


def _load_files(
    names: list[str],
    graph_file: str | None,
    machine: str | None,
    where: AllocationSpec,
) -> _LoadedFiles:
    """Load placement files, and launchers' files for the same job."""
    made = {name: load_placement(name) for name in names if is_placement_file(name)}
    if not made:
        if graph_file is None:
            raise Error(f"{names[0]} does not name its graph; give the graph, too")
        problems = load_launched_problems(
            "report on", graph_file, names, machine, where
        )
        remarks = [one.remark for one in problems if one.remark]
        files = [one.file for one in problems if one.file is not None]
        return _LoadedFiles(files, graph_file, remarks, problems[0].default)
    first_name, first = next(iter(made.items()))
    if machine or where != NO_ALLOCATION:
        raise Error(
            f"{first_name} contains its machine and allocation; leave out the machine, "
            "the allocation and the launcher"
        )
    if graph_file is None:
        graph_file = find_graph_file(Path(first_name), first)
    given = AllocatedHosts(first.allocation, first.hosts)
    ranks = len(first.placement.slots)
    remarks = []
    for name in names:
        if name not in made:
            loaded = load_launched_placement(name, given, first.node, ranks)
            made[name] = loaded.file
            remarks += [loaded.remark] if loaded.remark else []
    return _LoadedFiles([made[name] for name in names], graph_file, remarks)


def _simulate_views(
    simulator: Simulator,
    loaded: _LoadedFiles,
    names: Sequence[str],
    operations: OperationGraph | None,
    graph: CommGraph,
    phases: Sequence[CommGraph],
) -> Simulations:
    simulate = load_simulator(simulator.name)
    simulate = bind_switch(
        simulate, simulator.name, simulator.switch, operations=operations
    )
    given = [
        PlacementProblem(
            graph,
            file.allocation,
            file,
            file.hosts,
            file.switches,
            file.node,
            default=loaded.default,
        )
        for file in loaded.files
    ]
    return simulate_placements(
        names, given, list(phases) or [graph], simulate, simulator.monitor
    )


def _check_same_job(paths: Sequence[str], files: list[PlacementFile]) -> None:
    first = files[0]
    for path, file in zip(paths[1:], files[1:], strict=True):
        if file.machine.text != first.machine.text:
            what = f"for {file.machine.text}, not {first.machine.text}"
        elif len(file.placement.slots) != len(first.placement.slots):
            what = f"of {len(file.placement.slots)} ranks"
        elif not np.array_equal(file.allocation.slots, first.allocation.slots):
            what = "on other nodes"
        else:
            continue
        raise Error(
            f"{path} is a placement {what}; a page compares placements of one job, so "
            f"write separate reports of it and {paths[0]}"
        )


def _warn_changed_graph(view: PlacementView, graph_file: str) -> str:
    """Return a warning if the placement was made for another graph."""
    assert view.made is not None
    made = view.made.values.get("hop_bytes")
    if made is None or made == view.values["hop_bytes"]:
        return ""
    return (
        f"{view.file} records {made:,.0f} hop-bytes, but with {graph_file} it has "
        f"{view.values['hop_bytes']:,.0f}: it was made for another pattern"
    )
