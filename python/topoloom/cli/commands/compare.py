# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom compare`: compare mappers in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure, GraphFile, PlacementOption
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    MachineText,
    RankLimitOptions,
)
from topoloom.cli.options.searches import (
    Effort,
    FixedRanks,
    ObjectiveOptions,
    SearchOptions,
    SharingOptions,
    set_effort,
)
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import Sharing
    from topoloom.documents.placements import CompareDocument, MapperResult
    from topoloom.tasks.advice.rules import Advice
    from topoloom.tasks.compare import Comparison
    from topoloom.tasks.problem import Problem

#: Default mappers, and default mappers for ranks that share slots.
MAPPERS = "block,hilbert,gge,mahd+swap,multisection+swap,auto"
SHARING_MAPPERS = "block,hilbert,multisection,auto"
_DEFAULT_MAPPERS = f"{MAPPERS}; where ranks share slots: {SHARING_MAPPERS}"

#: Columns that are left out on narrow terminals, in this order.
_DROPPED_FIRST = (
    "search",
    "dilation_max",
    "dilation_average",
    "hops_per_byte",
    "inter_node_max",
    "inter_node_bytes",
    "load_max",
    "congestion_max",
    "hop_bytes",
    "gain",
)

#: Measures that a figure shows in addition to the objective.
_DRAWN = ("hop_bytes", "congestion_max", "inter_node_bytes", "search")


@flatten_option_groups
def command(
    graph: GraphFile,
    machine: MachineText,
    *,
    allowed: AllocationOptions,
    mappers: Annotated[
        str | None,
        Option(
            "--mappers",
            metavar="LIST",
            help="Mappers separated by commas; + joins the stages of one. "
            "FILE.py:FUNCTION and LIBRARY.so:FUNCTION are user mappers; the file is "
            "executed.",
            autocompletion=completions.mapper_list,
            show_default=_DEFAULT_MAPPERS.replace(",", ", "),
        ),
    ] = None,
    effort: Effort = None,
    minimizing: ObjectiveOptions,
    sharing: SharingOptions,
    placement: PlacementOption = None,
    fix: FixedRanks = None,
    searching: SearchOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Try several mappers on one problem and print one table.

    Gains are relative to 'block', the launcher's default, with rank i on slot i. The
    best mapper is marked. --time and --work apply to each mapper. The gap is the
    objective divided by a quick lower bound; 1 is optimal. 'topoloom bound' proves
    better bounds. If ranks share slots (--imbalance, --capacities), the load of the
    fullest slot replaces the gap, and block places equally many ranks on every slot.

    Your own mapper is a function in a Python file or a shared library, executed with
    your rights. It takes the problem and returns the slot of every rank. If it fails,
    an error is printed, and the exit status is 1.

    \b
    predicted time  communication time, if bandwidths are known
    dilation        links that a message crosses: average and maximum
    congestion      largest load divided by bandwidth (in bytes if none is known)
    ▲               more inter-node bytes than with block

    \b
    Examples:
      topoloom compare p.npz --machine torus:4x4x4
      topoloom compare p.npz --machine torus:8x8x8 --allocation a.txt \\
          --mappers block,gge,mahd+swap,auto
      topoloom compare p.npz -m torus:4x4x4 --objective congestion \\
          --mappers mahd+swap,mahd+swap+local-opt,auto
      topoloom compare p.npz -m tree:4:8:2 --figure mappers.svg
      topoloom compare md.npz -m torus:4x4x4 --imbalance 0.3 --mappers bricks,auto
      topoloom compare p.npz -m torus:4x4x4 --mappers auto,mine.py:place
    """
    from topoloom.cli.console import (
        monitor_search,
        note,
        note_assumption,
        print_json,
    )
    from topoloom.cli.exit_status import Failure, Interrupted
    from topoloom.tasks.compare import DEFAULT, compare_mappers, split_mappers
    from topoloom.tasks.fixed_ranks import read_fixed_ranks
    from topoloom.tasks.launched_placement import load_present_placement
    from topoloom.tasks.objective import read_objective
    from topoloom.tasks.problem import AllocationSpec, load_problem
    from topoloom.tasks.sharing import has_shared_slots

    search, share = searching.make_search(), sharing.make_sharing()
    where = AllocationSpec(*allowed, search.seed, limits.make_launch_order(launcher))
    problem = load_problem(graph, machine, where, share)
    shared = has_shared_slots(share, problem.graph, problem.allocation)
    present = {}
    if placement is not None:
        name = str(placement)
        problem, loaded = load_present_placement(name, problem, machine, where, shared)
        note_assumption(loaded.remark)
        present[name] = loaded.file.placement
    if mappers is None:
        mappers = SHARING_MAPPERS if shared else MAPPERS
    found = compare_mappers(
        problem,
        read_objective(*minimizing, graph, problem.machine),
        _set_efforts(split_mappers(mappers), effort),
        search=search,
        sharing=share,
        present=present,
        fixed=read_fixed_ranks(fix, problem, shared),
        monitor=monitor_search,
    )
    if figure is not None:
        _draw(figure, problem, found)
    advice = _advise(graph, problem, found, share, search.is_limited)
    if as_json:
        document: CompareDocument = {
            "machine": problem.machine.text,
            "nodes": len(problem.allocation.nodes),
            "ranks": problem.graph.rank_count,
            "seed": search.seed,
            "objective": found.objective.objective,
            "reason": found.objective.reason,
            "default": DEFAULT,
            "best": found.best,
            "results": cast("list[MapperResult]", found.results),
            "failed": found.failed,
            "figure": None if figure is None else str(figure),
            "advice": advice.document(),
        }
        print_json(document)
    else:
        _print_result(problem, found, figure, advice.sentence)
    if found.failed:
        *others, last = found.failed.values()
        for failure in others:
            note(f"topoloom: {failure}")
        raise Failure(last)
    if found.interrupted:
        raise Interrupted(f"interrupted in mapper {found.results[-1]['mapper']}")


def _choose_columns(problem: Problem, comparison: Comparison) -> dict[str, str]:
    """Return the columns as pairs of result key and heading."""
    from topoloom.placements.measures import measure_title, wrap_column_heading

    objective, first = comparison.objective, comparison.results[0]
    bounded = any(each["gap"].get(objective.measure) for each in comparison.results)
    shown = {
        "mapper": True,
        "gain": True,
        "objective": "objective" in first,
        "predicted_seconds": "predicted_seconds" in first,
        "hop_bytes": True,
        "load_max": comparison.shared,
        "gap": bounded and not comparison.shared,
        "hops_per_byte": True,
        "dilation_average": True,
        "dilation_max": True,
        "congestion_max": True,
        "inter_node_bytes": True,
        "inter_node_max": True,
        "search": True,
    }
    return {
        name: wrap_column_heading(measure_title(name, problem.machine))
        for name, is_shown in shown.items()
        if is_shown
    }


def _format_cell(
    name: str, result: dict[str, Any], problem: Problem, comparison: Comparison
) -> str:
    from topoloom.placements.measures import (
        MEASURES,
        Unit,
        format_measure,
        format_objective,
    )
    from topoloom.support.gain import format_percent
    from topoloom.support.units import format_count
    from topoloom.tasks.compare import DEFAULT
    from topoloom.tasks.optimality_gap import format_gap

    mapper, machine = result["mapper"], problem.machine
    if name == "mapper":
        label = f"{mapper} (default)" if mapper == DEFAULT else mapper
        return f"{label} ◄ best" if mapper == comparison.best else label
    if name == "gain":
        return format_percent(result["gain_percent"])
    if name == "objective":
        return format_objective(result[name], comparison.objective.objective, machine)
    if name == "gap":
        return format_gap(result["gap"].get(comparison.objective.measure))
    if name == "search":
        return f"{result['search_seconds']:.2f} s"
    if MEASURES[name].unit is Unit.HOPS:
        return format_count(result[name])
    text = format_measure(name, result[name], machine)
    rises = name.startswith("inter_node") and result[name] > comparison.results[0][name]
    return f"{text} ▲" if rises else text


def _make_title(problem: Problem, comparison: Comparison) -> str:
    from topoloom.machines.machine_facts import machine_name
    from topoloom.nodes.hosts import format_allocated_share
    from topoloom.support.units import counted

    objective = comparison.objective
    title = (
        f"{counted(problem.graph.rank_count, 'rank')} on "
        f"{format_allocated_share(problem.allocation)} of "
        f"{machine_name(problem.machine, problem.node)}"
    )
    if objective.measure != "hop_bytes":
        title += f"; objective: {objective.title}"
    return title


def _set_efforts(mappers: list[str], effort: str | None) -> list[str]:
    """Set the effort of the mapper auto in a list."""
    if effort is not None and "auto" not in mappers:
        set_effort(", ".join(mappers), effort)
    return [set_effort(one, effort) if one == "auto" else one for one in mappers]


def _draw(figure: Path, problem: Problem, comparison: Comparison) -> None:
    """Draw a bar chart of the mappers' objectives and other costs."""
    from topoloom.figure.comparison import MeasureBars, draw_comparison
    from topoloom.placements.measures import measure_title

    measures = [comparison.objective.measure, *_DRAWN]
    bars = [
        MeasureBars(
            measure_title(name, problem.machine),
            [
                result["search_seconds" if name == "search" else name]
                for result in comparison.results
            ],
            [
                _format_cell(name, result, problem, comparison)
                for result in comparison.results
            ],
        )
        for name in dict.fromkeys(measures)
    ]
    mappers = [result["mapper"] for result in comparison.results]
    draw_comparison(
        figure, mappers, comparison.best, bars, _make_title(problem, comparison)
    )


def _advise(
    graph: str,
    problem: Problem,
    comparison: Comparison,
    share: Sharing,
    was_limited: bool,
) -> Advice:
    """Advise what to do with the best mapper's placement."""
    from topoloom.cli.command_line import command_line
    from topoloom.cli.suggested_command import suggest_map
    from topoloom.graphs.mpi_time import load_mpi_time
    from topoloom.tasks.advice.evidence import Judged, advise_on, suggest_search

    results = {result["mapper"]: result for result in comparison.results}
    block, best = comparison.results[0], results[comparison.best]
    time = load_mpi_time(graph)
    return advise_on(
        Judged(
            problem.graph,
            problem.allocation,
            comparison.objective,
            block,
            best,
            comparison.shared,
            tuple(share.capacities),
            gaps=block["gap"],
            mpi_share=time and time.share_at_most,
            use=f"use it with: {suggest_map(command_line.get(), comparison.best)}",
            fixed=bool(comparison.fixed),
            remedy=suggest_search(results, was_limited, "add auto to --mappers"),
        )
    )


def _describe_fixed(comparison: Comparison) -> str:
    from topoloom.support.units import counted

    ranks = counted(comparison.fixed, "rank")
    if not comparison.unfixed:
        return ranks
    return f"{ranks}; not kept by {', '.join(comparison.unfixed)}"


def _print_result(
    problem: Problem, comparison: Comparison, figure: Path | None, advice: str
) -> None:
    from topoloom.cli.console import print_facts, print_table

    machine, objective = problem.machine, comparison.objective
    columns = _choose_columns(problem, comparison)
    rows = [
        [_format_cell(name, result, problem, comparison) for name in columns]
        for result in comparison.results
    ]
    best = [result["mapper"] for result in comparison.results].index(comparison.best)
    kept = ("mapper", "objective", objective.measure, "gap")
    print_table(
        list(columns.values()),
        rows,
        title=_make_title(problem, comparison),
        best=best,
        keep=[columns[name] for name in kept if name in columns],
        drop_first=[columns[name] for name in _DROPPED_FIRST if name in columns],
    )
    facts = []
    if objective.reason:
        facts.append(("objective", f"{objective.title}: {objective.reason}"))
    if comparison.fixed:
        facts.append(("fixed", _describe_fixed(comparison)))
    facts += [("machine", remark) for remark in machine.remarks]
    facts += [("allocation", remark) for remark in problem.allocation_remarks]
    print_facts(facts, written=[figure], advice=advice)
