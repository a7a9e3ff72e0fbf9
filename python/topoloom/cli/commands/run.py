# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place and launch an MPI program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from topoloom.cli.options.files import AsJson, GraphOption, output_option, page_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationText,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.programs import (
    BindingOptions,
    Collectives,
    Hosts,
    Mpicc,
    Program,
    ReplacedCollectives,
)
from topoloom.cli.options.searches import (
    Effort,
    FixedRanks,
    MapperName,
    ObjectiveName,
    SearchOptions,
    set_effort,
)
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import CommGraph
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.documents.programs import ReorderDocument
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job, PlacedJob, RecordedJob
    from topoloom.tasks.reordered_run import ReorderOptions
    from topoloom.tasks.search import Search

#: Options that apply if the program's MPI topologies are reordered.
_OF_TOPOLOGIES = {
    "machine",
    "allocation",
    "hosts",
    "apply",
    "mapper",
    "effort",
    "objective",
    "seed",
    "time",
    "mpicc",
    "as_json",
}


@flatten_option_groups
def command(
    context: click.Context,
    program: Program,
    *,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    hosts: Hosts = None,
    apply: Annotated[
        str,
        Option(
            "--apply",
            metavar="launcher|world|topologies",
            help="How to apply the placement: to the launcher, to MPI_COMM_WORLD, or "
            "to MPI's process topologies.",
        ),
    ] = "launcher",
    graph: GraphOption = None,
    mapper: MapperName = "auto",
    effort: Effort = None,
    objective: ObjectiveName = "auto",
    fix: FixedRanks = None,
    collectives: Collectives = "expand",
    searching: SearchOptions,
    binding: BindingOptions,
    limits: RankLimitOptions,
    replace_collectives: ReplacedCollectives = None,
    mpicc: Mpicc = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement, for 'topoloom report' and others."),
    ] = None,
    page: Annotated[
        Path | None,
        page_option(
            "Write the page of 'topoloom report', with the reported locations of ranks",
            "--report",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    Without --graph, the command runs twice: once recorded, once with the placement.
    Standard input, output and the exit status are the program's; reports go to stderr.
    --machine is required, except with --apply topologies; 'detect' is the machine of
    the batch job. Host names come from --hosts, the allocation, the machine or else the
    command.

    \b
    launcher    passes the placement to the launcher; if the launcher cannot apply
                it, the program is not started, and the exit status is 2
    world       starts the command unchanged, for launchers without placements
    topologies  starts the command unchanged, once; MPI_Cart_create,
                MPI_Graph_create and MPI_Dist_graph_create[_adjacent] with
                reorder=1 reorder ranks; --machine is detected if missing

    \b
    Examples:
      topoloom run -m detect -- srun -n 512 ./app
      topoloom run -m torus:4x4x4 -a 'n[00-63]' --fix 0=n00 -- mpirun -n 64 ./app
      topoloom run --apply world -m torus:4x4x4 --allocation 'n[00-63]' \\
          --graph app.npz --mpicc mpicc -- ./my-launcher -n 64 ./app
      topoloom run --apply topologies -- mpirun -n 768 ./app
    """
    from topoloom._core import Error
    from topoloom.cli.options.given import check_options_apply
    from topoloom.support.ending_signals import raise_on_signals
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.tasks.objective import check_objective
    from topoloom.tasks.placed_run import APPLY, TOPOLOGIES, WORLD
    from topoloom.tasks.reordered_run import ReorderOptions

    if apply not in APPLY:
        raise Error(describe_unknown_name("choice of --apply", apply, APPLY))
    check_objective(objective)
    mapper, search = set_effort(mapper, effort), searching.make_search()
    if apply == TOPOLOGIES:
        check_options_apply(context, _OF_TOPOLOGIES, f"--apply {apply}")
        where = _load_hosts(machine, allocation, hosts)
        options = ReorderOptions(mapper, objective, search)
        with raise_on_signals():
            return _run_reordered(program, where, options, mpicc, as_json)
    if machine is None:
        raise Error("no machine is given; add --machine")
    request = _PlacedRunRequest(
        program,
        machine,
        allocation,
        hosts,
        apply == WORLD,
        graph,
        mapper,
        objective,
        fix,
        collectives,
        search,
        binding,
        limits,
        replace_collectives,
        mpicc,
        output,
        page,
        as_json,
    )
    with raise_on_signals():
        return _run_placed(request)


class _PlacedRunRequest(NamedTuple):
    """The options of a run whose placement is computed before it starts."""

    program: list[str]
    machine: str
    allocation: str | None
    hosts: str | None
    renumber: bool
    graph: str | None
    mapper: str
    objective: str
    fix: str | None
    collectives: str
    search: Search
    binding: BindingOptions
    limits: RankLimitOptions
    replaced_collectives: str | None
    mpicc: str | None
    output: Path | None
    page: Path | None
    as_json: bool


def _run_placed(request: _PlacedRunRequest) -> int:
    """Record the program if required, place its ranks, and run it."""
    from functools import partial

    from topoloom.cli.console import note
    from topoloom.cli.run_output import (
        advise_on_job,
        make_location_printer,
        note_outcome,
        note_placement,
    )
    from topoloom.graphs.profile import check_collectives
    from topoloom.preload.collectives import parse_settings
    from topoloom.tasks.placed_run import (
        Job,
        check_fixed_ranks,
        run_placed,
        write_run_report,
    )

    check_collectives(request.collectives)
    page, output, setting = request.page, request.output, request.replaced_collectives
    check_page = _make_page_check(page)
    replaced = None if setting is None else parse_settings(setting)
    read, slots = _find_slots(request)
    nodes = len(slots.allocation.nodes)
    check_page(read.rank_count() or 0, nodes)
    if (ranks := read.rank_count()) and request.fix is not None:
        used = slots.select_used(ranks, as_started=request.renumber)
        check_fixed_ranks(request.fix, used, ranks)
    job = Job(request.program, read, request.mpicc, replaced)
    recorded = _load_or_record(job, slots, request.graph, request.collectives)
    graph = recorded.graph
    if graph is None:
        note(
            f"topoloom: the recorded run ended with status {recorded.exit_status}, so "
            "there is no second one"
        )
        return recorded.exit_status
    name = request.graph or "the program"
    placed, slots = _place(request, recorded, graph, slots, name)
    check_page(graph.rank_count, nodes)
    quiet = request.as_json
    announce = (lambda _: None) if quiet else partial(note_placement, placed)
    launch, run_report = run_placed(
        job, slots, placed, announce, make_location_printer(quiet=quiet)
    )
    written = None
    if page is not None:
        written = write_run_report(
            page, placed, graph, name, str(output or ""), run_report
        )
    advice = advise_on_job(recorded, placed, output)
    note_outcome(job, placed, launch, run_report, written, advice, quiet)
    return run_report.status


def _find_slots(
    request: _PlacedRunRequest,
) -> tuple[LauncherCommand | UnplacedCommand, LaunchSlots]:
    """Parse the command, and find the slots that its ranks may use."""
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.launch.launchers.unplaced_command import read_unplaced_command
    from topoloom.tasks.launch_slots import find_launch_slots, find_launcher_order_name
    from topoloom.tasks.objective import check_objective
    from topoloom.tasks.problem import AllocationSpec

    limits, program = request.limits, request.program
    read = read_unplaced_command(program) if request.renumber else read_command(program)
    order = limits.make_launch_order(find_launcher_order_name(read))
    where = AllocationSpec(request.allocation, order=order)
    cores = limits.cores_per_rank
    slots = find_launch_slots(
        read, request.machine, where, request.hosts, *request.binding, cores
    )
    check_objective(request.objective, slots.allocation.machine)
    return read, slots


def _place(
    request: _PlacedRunRequest,
    recorded: RecordedJob,
    graph: CommGraph,
    slots: LaunchSlots,
    name: str,
) -> tuple[PlacedJob, LaunchSlots]:
    """Place the ranks on the slots that the launcher uses; write the placement."""
    from topoloom.cli.command_line import command_line
    from topoloom.placements.placement_file import save_placement
    from topoloom.tasks.placed_run import place_job
    from topoloom.tasks.problem import check_fit

    check_fit(graph, slots.allocation, name)
    slots = slots.select_used(graph.rank_count, as_started=request.renumber)
    placed = place_job(
        recorded,
        slots,
        request.objective,
        request.mapper,
        request.search,
        request.fix,
        request.graph or "",
        command_line.get(),
    )
    if request.output is not None:
        save_placement(request.output, placed.file)
    return placed, slots


def _make_page_check(page: Path | None) -> Callable[[int, int], None]:
    """Check that the page can be written; return a function that checks its size."""
    if page is None:
        return lambda ranks, nodes: None
    # Import before the program runs, to detect a missing jinja2 early.
    import topoloom.report.page  # noqa: F401
    from topoloom.report.page_data import check_size

    return check_size


def _load_or_record(
    job: Job, slots: LaunchSlots, graph: str | None, collectives: str
) -> RecordedJob:
    """Read the graph; without a graph, record the program."""
    from topoloom.cli.exit_status import Failure
    from topoloom.cli.run_output import note_leftovers
    from topoloom.preload.record import NothingRecorded
    from topoloom.tasks.launch_slots import check_applicable
    from topoloom.tasks.placed_run import load_recording, record_job

    if graph is not None:
        return load_recording(job, graph)
    check_applicable(job.read, slots)
    note_leftovers(Path())
    try:
        return record_job(job, collectives)
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None


def _run_reordered(
    program: list[str],
    where: AllocatedHosts | None,
    options: ReorderOptions,
    mpicc: str | None,
    as_json: bool,
) -> int:
    """Run a program whose MPI topologies are reordered."""
    from topoloom.cli.console import note, note_json
    from topoloom.tasks.reordered_run import run_reordered

    done = run_reordered(program, where, options, mpicc)
    if as_json:
        document: ReorderDocument = {"command": done.command, "lines": done.lines}
        note_json(document)
    else:
        for line in done.lines:
            note(f"topoloom: {line}")
    return done.status


def _load_hosts(
    machine: str | None, allocation: str | None, hosts: str | None
) -> AllocatedHosts | None:
    """Load the hosts of a job; None without a machine."""
    from topoloom._core import Error
    from topoloom.support.hostlist import expand_hostlist
    from topoloom.tasks.launch_slots import set_host_names
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if machine is None:
        if allocation is not None or hosts is not None:
            raise Error("--allocation and --hosts require a machine; add --machine")
        return None
    given, _ = load_nodes(machine, AllocationSpec(allocation))
    return set_host_names(given, expand_hostlist(hosts)) if hosts is not None else given
