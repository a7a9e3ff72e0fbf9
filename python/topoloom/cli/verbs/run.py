# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place and launch an MPI program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, output_option, page_option
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
    MapperName,
    ObjectiveName,
    Seconds,
    Seed,
    read_search,
)
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job, RecordedJob


@flatten_option_groups
def command(
    program: Program,
    *,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    hosts: Hosts = None,
    profile: Annotated[
        Path | None,
        Option(
            "--profile",
            metavar="FILE",
            help="A file of 'topoloom record'. Without it, the command runs twice: "
            "once recorded, once with the placement.",
        ),
    ] = None,
    mapper: MapperName = "auto",
    objective: ObjectiveName = "auto",
    collectives: Collectives = "expand",
    seed: Seed = 1,
    time: Seconds = None,
    binding: BindingOptions,
    limits: RankLimitOptions,
    world: Annotated[
        bool,
        Option(
            "--world",
            help="Start the command unchanged, and renumber MPI_COMM_WORLD inside the "
            "program: for launchers that accept no placement.",
        ),
    ] = False,
    replace_collectives: ReplacedCollectives = None,
    mpicc: Mpicc = None,
    output: Annotated[
        Path | None,
        output_option(
            "Write the placement, too; to report it later, record the program first "
            "and name the --profile."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        page_option(
            "Write a page as 'topoloom report' does, with where the ranks were seen",
            "--report",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    Standard input, output and the exit status are the program's; reports go to
    stderr. The placement is first tried with an empty program: if the launcher cannot
    apply it, your program is not started and the exit status is 2. A command that
    places its own ranks is rejected, unless --world starts it unchanged.

    At startup each rank reports its location. One line says that all ranks are at their
    planned locations, or lists those that are not.

    If an allocation has more slots than ranks, the launcher's default slots are used:
    srun distributes ranks over nodes cyclically, other launchers fill node after node.

    Host names come from --hosts, else from the allocation (a host list) or the machine,
    else from the command.

    \b
    Examples:
      topoloom run --machine torus:4x4x4 --allocation 'n[00-63]' \\
          --report report.html -- mpirun -n 64 ./app
      topoloom run --machine torus:8x8x8 --allocation "$SLURM_JOB_NODELIST" \\
          --profile app.npz -- srun -n 512 ./app
      topoloom run -m tree:4:8+node:12:2,distance=1:10 --hosts 'cn[1-32]' \\
          --profile app.npz -- mpirun -n 768 ./app
      topoloom run --world --machine torus:4x4x4 --allocation 'n[00-63]' \\
          --profile app.npz --mpicc mpicc -- ./my-launcher -n 64 ./app
    """
    from functools import partial

    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import note
    from topoloom.cli.run_output import (
        make_location_printer,
        note_outcome,
        note_placement,
    )
    from topoloom.graphs.profile import check_collectives
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.launch.launchers.unplaced_command import read_unplaced_command
    from topoloom.placements.placement_file import save_placement
    from topoloom.preload.collectives import parse_settings
    from topoloom.tasks.launch_slots import find_launch_slots, find_launcher_order_name
    from topoloom.tasks.objective import check_objective
    from topoloom.tasks.placed_run import Job, place_job, run_placed, write_run_report
    from topoloom.tasks.problem import AllocationSpec, check_fit

    check_objective(objective)
    if machine is None:
        raise Error("no machine is given; add --machine")
    check_collectives(collectives)
    check_page = _make_page_check(page, output)
    setting = replace_collectives
    replaced = None if setting is None else parse_settings(setting)
    search = read_search(seed, time)
    read = read_unplaced_command(program) if world else read_command(program)
    where = AllocationSpec(
        allocation, order=limits.make_launch_order(find_launcher_order_name(read))
    )
    slots = find_launch_slots(
        read, machine, where, hosts, *binding, limits.cores_per_rank
    )
    check_objective(objective, slots.allocation.machine)
    nodes = len(slots.allocation.nodes)
    check_page(read.rank_count() or 0, nodes)
    job = Job(program, read, mpicc, replaced)
    recorded = _load_or_record(job, slots, profile, collectives)
    graph = recorded.graph
    if graph is None:
        note(
            f"topoloom: the recorded run ended with status {recorded.exit_status}, so "
            "there is no second one"
        )
        return recorded.exit_status
    graph_file = str(profile or "")
    name = graph_file or "the program"
    check_fit(graph, slots.allocation, name)
    slots = slots.select_used(graph.rank_count, as_started=world)
    check_page(graph.rank_count, nodes)
    placed = place_job(
        recorded, slots, objective, mapper, search, graph_file, command_line.get()
    )
    if output is not None:
        save_placement(output, placed.file)
    announce = (lambda _: None) if as_json else partial(note_placement, placed)
    launch, run_report = run_placed(
        job, slots, placed, announce, make_location_printer(quiet=as_json)
    )
    written = None
    if page is not None:
        written = write_run_report(
            page, placed, graph, name, str(output or ""), run_report
        )
    note_outcome(job, placed, launch, run_report, written, as_json)
    return run_report.status


def _make_page_check(
    page: Path | None, output: Path | None
) -> Callable[[int, int], None]:
    """Check that the page can be written; return a function that checks its size."""
    from topoloom._core import Error

    if page is None:
        return lambda ranks, nodes: None
    if page == output:
        raise Error(f"{page} cannot be both the page and the placement")
    # Import before the program runs, to detect a missing jinja2 early.
    import topoloom.report.page  # noqa: F401
    from topoloom.report.page_data import check_size

    return check_size


def _load_or_record(
    job: Job, slots: LaunchSlots, profile: Path | None, collectives: str
) -> RecordedJob:
    """Read the profile; without a profile, record the program."""
    from topoloom.cli.exit_status import Failure
    from topoloom.preload.record import NothingRecorded
    from topoloom.tasks.launch_slots import check_applicable
    from topoloom.tasks.placed_run import load_recording, record_job

    if profile is not None:
        return load_recording(job, profile)
    check_applicable(job.read, slots)
    try:
        return record_job(job, collectives)
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None
