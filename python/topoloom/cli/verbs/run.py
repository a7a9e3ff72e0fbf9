# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place, and launch an MPI program where it belongs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import (
    AllocationText,
    LimitOptions,
    MaybeMachineText,
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
    from topoloom._core import CommGraph
    from topoloom.launch.launcher import Launch


@with_groups
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
            help="What 'topoloom record' wrote. Without it the command runs twice: "
            "once to record it, once as placed.",
        ),
    ] = None,
    mapper: MapperName = "auto",
    objective: ObjectiveName = "auto",
    collectives: Collectives = "expand",
    seed: Seed = 1,
    time: Seconds = None,
    binding: BindingOptions,
    limits: LimitOptions,
    world: Annotated[
        bool,
        Option(
            "--world",
            help="Start the command as it is, and renumber MPI_COMM_WORLD inside the "
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
        output_option(
            "Write a page as 'topoloom report' does, with where the ranks were seen.",
            "--report",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    Standard input, output and the exit status are the program's; reports go to
    stderr. The placement is tried with an empty program first: if the launcher cannot
    apply it, your program is not started as placed and the exit status is 2. A command
    that places its ranks by itself is refused, before anything runs if it says how many
    they are. (--world starts it as it is.)

    As the program starts, each rank reports where it is, and one line says whether all
    are where the placement puts them, or names those that are not.

    If an allocation has more slots than ranks, those that the command's launcher uses
    by default are taken: srun deals ranks to the nodes in turn, others fill them.

    The hosts of the nodes are those of --hosts, else of the allocation (a host list
    keeps its names) or the machine, else those that the command names.

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
    from topoloom._core import Error
    from topoloom.cli import run_output
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import note
    from topoloom.cli.exit_status import Failure
    from topoloom.graphs.graph_file import load_graph
    from topoloom.graphs.phases import load_phases
    from topoloom.graphs.profile import check_collectives
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.launch.launchers.unplaced_command import read_unplaced_command
    from topoloom.machines.machine_file import load_described
    from topoloom.placements.placement_file import save_placement
    from topoloom.preload.collectives import read_setting
    from topoloom.preload.record import NothingRecorded
    from topoloom.tasks.launch_slots import (
        LaunchSlots,
        check_ranks,
        launcher_name,
        named_hosts,
        refuse_early,
    )
    from topoloom.tasks.objective import Objective, check_objective
    from topoloom.tasks.placed_run import Job, place_job, record_job, start, write_page
    from topoloom.tasks.problem import Where, check_fit, choose_allocation

    check_objective(objective)
    if machine is None:
        raise Error("say with --machine where the ranks are to be placed")
    check_collectives(collectives)
    if page is not None and page == output:
        raise Error(f"{page} cannot be both the page and the placement")
    if page is not None:
        # Before anything runs: it needs jinja2.
        import topoloom.report.page  # noqa: F401
        from topoloom.report.data import check_size
    replacing = None
    if replace_collectives is not None:
        replacing = read_setting(replace_collectives)
    search = read_search(seed, time)
    read = read_unplaced_command(program) if world else read_command(program)
    the_machine, described = load_described(machine)
    check_objective(objective, the_machine)
    wanted = Where(allocation, order=limits.order(launcher_name(read)))
    allocated = named_hosts(
        choose_allocation(the_machine, described, wanted), hosts, read
    )
    given = LaunchSlots(
        allocated,
        described.node,
        *binding,
        cores_per_rank=limits.cores_per_rank,
        switches=described.switches,
    )
    job = Job(program, read, mpicc, replacing)
    nodes = len(allocated.allocation.nodes)
    if page is not None:
        check_size(read.rank_count() or 0, nodes)
    if profile is not None:
        graph, name = load_graph(str(profile)), str(profile)
        phases: Sequence[CommGraph] = load_phases(profile)
        check_ranks(read, graph.rank_count, name)
    else:
        refuse_early(read, given, described, wanted)
        try:
            recorded = record_job(job, collectives)
        except NothingRecorded as error:
            raise Failure(str(error), error.exit_status or 1) from None
        if recorded.graph is None:
            note(
                "topoloom: the recorded run ended with status "
                f"{recorded.exit_status}, so there is no second one"
            )
            return recorded.exit_status
        graph, phases, name = recorded.graph, recorded.phases, "the program"
    check_fit(graph, allocated.allocation, name)
    given = given.used(described, wanted, graph.rank_count, as_started=world)
    if page is not None:
        check_size(graph.rank_count, nodes)
    placed = place_job(
        graph,
        given,
        Objective(objective, phases),
        mapper,
        search,
        str(profile or ""),
        command_line.get(),
    )
    if output is not None:
        save_placement(output, placed.file)

    def announce(launch: Launch) -> None:
        if not as_json:
            run_output.note_placement(placed, launch)

    launch, account = start(
        job, given, placed, announce, run_output.proof_note(quiet=as_json)
    )
    written = None
    if not as_json:
        run_output.note_unverified(account)
    if page is not None:
        written = write_page(page, placed, graph, name, str(output or ""), account)
    if as_json:
        run_output.note_json(job, placed, launch, account, written)
    else:
        run_output.note_times(job, written)
    return account.status
