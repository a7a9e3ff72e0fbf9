# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map`: place the ranks on the allocated slots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, GraphFile, PlacementOption, output_option
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
    MapperName,
    ObjectiveOptions,
    SearchOptions,
    SharingOptions,
    set_effort,
)
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.tasks.advice.rules import Advice
    from topoloom.tasks.map import MapResult
    from topoloom.tasks.problem import Problem


@flatten_option_groups
def command(
    graph: GraphFile,
    machine: MachineText,
    *,
    allowed: AllocationOptions,
    mapper: MapperName = "auto",
    effort: Effort = None,
    minimizing: ObjectiveOptions,
    sharing: SharingOptions,
    placement: PlacementOption = None,
    fix: FixedRanks = None,
    migration_cost: Annotated[
        str,
        Option(
            "--migration-cost",
            metavar="SIZE",
            help="With --placement: bytes that move with a rank; a rank moves only if "
            "it saves more hop-bytes.",
        ),
    ] = "0",
    output: Annotated[Path | None, output_option("Write the placement.")] = None,
    searching: SearchOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    as_json: AsJson = False,
) -> None:
    """Place the ranks on the allocated slots.

    The gain is relative to block order, rank i on slot i, the launcher's default. If an
    allocation has more slots than ranks, ranks use only the slots that the launcher
    would use. Ctrl-C, --time and --work end a search early; the best placement is still
    written.

    The default objective is the predicted time if the machine's bandwidths are known,
    else hop-bytes; the choice and its reason are printed. With --background, the
    default is the predicted time if bandwidths are known, else congestion. With these
    defaults, 'auto' never has a longer predicted time than block order. Except for
    hop-bytes, messages of different phases of the graph do not share links.

    With --placement, the search starts from an earlier placement, of another graph,
    allocation or machine. With --imbalance or --capacities, ranks may share slots.

    \b
    Examples:
      topoloom map p.npz -m torus:4x4x4,bandwidth=10GB/s,latency=1us -o x.json
      topoloom map p.npz -m torus:8x8x8 -a a.txt --mapper gge+swap --fix 0=3
      topoloom map p.npz -m frontier+node:8 --nodes 8 --effort best --time 2s
      topoloom map mesh.graph -m tree:4:8:2,distance=1:10:100 --imbalance 0.03
      topoloom map p.npz -m torus:8x8x8 --placement old.json --migration-cost 1MB
      topoloom map p.npz -m torus:8x8x8 -a a.txt --background other.npz,other.json
    Then:
      topoloom judge p.npz x.json             what it is worth, link by link
      topoloom export x.json --to openmpi-rankfile
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import (
        monitor_search,
        note_assumption,
        print_facts,
        print_json,
    )
    from topoloom.cli.exit_status import Interrupted
    from topoloom.placements.placement_file import save_placement
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.map import map_ranks, measure_block_order
    from topoloom.tasks.objective import read_objective
    from topoloom.tasks.problem import AllocationSpec, load_problem
    from topoloom.tasks.sharing import has_shared_slots

    search = searching.make_search()
    moved_bytes = parse_bytes(migration_cost)
    if moved_bytes and placement is None:
        raise Error("--migration-cost requires --placement, the earlier placement")
    share = sharing.make_sharing()
    mapper = set_effort(mapper, effort)
    where = AllocationSpec(*allowed, search.seed, limits.make_launch_order(launcher))
    problem = load_problem(graph, machine, where, share)
    objective = read_objective(*minimizing, graph, problem.machine)
    shared = has_shared_slots(share, problem.graph, problem.allocation)
    fixed: dict[int, int] = {}
    if fix is not None:
        from topoloom.tasks.fixed_ranks import read_fixed_ranks

        fixed = read_fixed_ranks(fix, problem, shared)
    before = None
    if placement is not None:
        from topoloom.tasks.launched_placement import load_earlier_placement

        name = str(placement)
        before, remark = load_earlier_placement(name, problem, machine, where)
        note_assumption(remark)
    with monitor_search(f"placing with {mapper}", search) as watch:
        mapped = map_ranks(
            problem,
            objective,
            mapper,
            search=search,
            sharing=share,
            previous=before,
            migration_cost=moved_bytes,
            fixed=fixed,
            cores_per_rank=where.order.cores_per_rank,
            graph_file=graph,
            command=command_line.get(),
            progress=watch,
        )
    if output is not None:
        save_placement(output, mapped.file)
    block, filled = measure_block_order(problem, mapped)
    was_limited = watch.interrupted or search.is_limited
    advice = _advise(problem, mapped, block, output, was_limited)
    if as_json:
        print_json({**mapped.document(), "advice": advice.document()})
    else:
        _print_table(problem, mapped, block)
        facts = _list_facts(problem, mapped, minimizing.background or [])
        facts += _compare_used_hosts(problem, mapped, filled)
        print_facts(facts, written=[output], advice=advice.sentence)
        _note_remarks(problem, mapped, block, watch.interrupted)
    if watch.interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _list_facts(
    problem: Problem, mapped: MapResult, background: list[str]
) -> list[tuple[str, str]]:
    from topoloom.placements.measures import format_objective
    from topoloom.support.units import counted
    from topoloom.tasks.objective import HOP_BYTES
    from topoloom.tasks.optimality_gap import format_gap

    file, objective, machine = mapped.file, mapped.objective, problem.machine
    facts = []
    if objective.reason:
        facts.append(("objective", f"{objective.title}: {objective.reason}"))
    facts.append(("search", f"{file.work:,} candidates in {mapped.seconds:.2f} s"))
    facts += [("machine", remark) for remark in machine.remarks]
    facts += [("allocation", remark) for remark in problem.allocation_remarks]
    counts = objective.objective != HOP_BYTES or machine.has_bandwidths
    if objective.phases and counts:
        facts.append(("phases", f"{len(objective.phases)}"))
    if background:
        facts.append(("background", ", ".join(background)))
    if file.fixed:
        facts.append(("fixed", counted(len(file.fixed), "rank")))
    if mapped.moved is not None:
        facts.append(("moved", counted(mapped.moved, "rank")))
    if mapped.optimal:
        facts.append(
            (
                "result",
                f"proven optimal: no placement{' that keeps them' * bool(file.fixed)} "
                f"has {objective.improvement_text}",
            )
        )
    elif mapped.least is not None:
        limit = format_objective(mapped.least, objective.objective, machine)
        ratio = format_gap(mapped.gap)
        facts.append(("proven", f"none is below {limit}: gap {ratio}"))
    return facts


def _describe_rejection(mapped: MapResult, machine: Machine) -> str:
    """Say which better placement was rejected, with both values; empty if none was."""
    from topoloom.placements.measures import format_measure, format_objective

    found = mapped.rejected
    if found is None or found["value"] == found["kept_value"]:
        return ""

    def describe(value: float, seconds: float) -> str:
        name = mapped.objective.objective
        time = format_measure("predicted_seconds", seconds, machine)
        if name == "time":
            return time
        return f"{format_objective(value, name, machine)} {name} in {time}"

    why = "is slower than block order"
    if found["reason"] == "no gain":
        why = "gains less than the error of the model"
    rejected = describe(found["value"], found["predicted_seconds"])
    kept = describe(found["kept_value"], found["kept_predicted_seconds"])
    return (
        f"the best placement by the objective {why}: {rejected}; kept {kept}. "
        f"Name the objective to get it: --objective {mapped.objective.objective}"
    )


def _advise(
    problem: Problem,
    mapped: MapResult,
    block: dict[str, float],
    output: Path | None,
    was_limited: bool,
) -> Advice:
    from topoloom.graphs.mpi_time import load_mpi_time
    from topoloom.tasks.advice.evidence import (
        Judged,
        advise_on,
        suggest_export,
        suggest_search,
    )

    file = mapped.file
    time = load_mpi_time(file.graph)
    return advise_on(
        Judged(
            problem.graph,
            problem.allocation,
            mapped.objective,
            block,
            file.values,
            file.placement.shared,
            file.capacities,
            least=mapped.least,
            mpi_share=time and time.share_at_most,
            use=suggest_export(output),
            fixed=bool(file.fixed),
            remedy=suggest_search([file.mapper], was_limited, "leave out --mapper"),
        )
    )


def _print_table(problem: Problem, mapped: MapResult, block: dict[str, float]) -> None:
    from topoloom.cli.console import print_table
    from topoloom.placements.measures import (
        format_gain,
        format_measure,
        format_objective,
        measure_title,
    )

    file, objective, machine = mapped.file, mapped.objective, problem.machine

    def format_value(name: str, value: float) -> str:
        if name == "objective":
            return format_objective(value, objective.objective, machine)
        return format_measure(name, value, machine)

    rows = [
        (
            objective.title if name == "objective" else measure_title(name, machine),
            format_value(name, block[name]),
            format_value(name, value),
            format_gain(name, block[name], value),
        )
        for name, value in file.values.items()
    ]
    columns = ["", "block (default)", file.mapper, "gain"]
    print_table(columns, rows, keep=["", file.mapper, "gain"])


def _compare_used_hosts(
    problem: Problem, mapped: MapResult, filled: int
) -> list[tuple[str, str]]:
    """Say that the placement uses more hosts than block order; empty if it does not."""
    from topoloom.nodes.hosts import slots_per_host

    machine = problem.machine
    per_host = slots_per_host(machine)
    used = len(set((mapped.file.placement.slots // per_host).tolist()))
    if used <= filled:
        return []
    return [
        (
            "nodes" if machine.nodes_per_host == 1 else "hosts",
            f"{used:,}, where block fills {filled:,}; --allocation says which the job "
            "has",
        )
    ]


def _note_remarks(
    problem: Problem, mapped: MapResult, block: dict[str, float], interrupted: bool
) -> None:
    """Print remarks about rejected placements, and those worse than block order."""
    from topoloom.cli.console import note

    file, objective, machine = mapped.file, mapped.objective, problem.machine
    if remark := _describe_rejection(mapped, machine):
        note(f"topoloom: {remark}")
    worse = file.values[objective.measure] > block[objective.measure]
    if worse and file.mapper != "auto" and not interrupted and not file.fixed:
        note(
            f"topoloom: the launcher's order has {objective.improvement_text}; leave "
            "out --mapper to keep the best of several placements"
        )
