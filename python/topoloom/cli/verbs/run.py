# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place, and launch an MPI program where it belongs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli.options import (
    AllocationText,
    CoresPerRank,
    MaybeMachineText,
    MemoryPerRank,
    Mpicc,
    ObjectiveName,
    RanksPerNode,
    Seconds,
    Seed,
    output_option,
)
from topoloom.cli.verbs.export import Bind, CoresPerSlot, Hosts

if TYPE_CHECKING:
    from topoloom._core import CommGraph
    from topoloom.cli.objective import Objective
    from topoloom.cli.search import Search
    from topoloom.cli.seats import Seats
    from topoloom.placements.placement_file import PlacementFile


def command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="mpirun, mpiexec, srun, flux run."),
    ],
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    hosts: Hosts = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            "--profile",
            metavar="FILE",
            help="What 'topoloom record' wrote. Without it the command runs twice: "
            "once to record it, once as placed.",
        ),
    ] = None,
    mapper: Annotated[
        str,
        typer.Option("--mapper", metavar="MAPPER", help="As for 'topoloom map'."),
    ] = "auto",
    objective: ObjectiveName = "auto",
    collectives: Annotated[
        str,
        typer.Option(
            "--collectives",
            metavar="keep|expand|drop",
            help="As for 'topoloom record'.",
        ),
    ] = "expand",
    seed: Seed = 1,
    time: Seconds = None,
    cores_per_slot: CoresPerSlot = 1,
    bind: Bind = None,
    ranks_per_node: RanksPerNode = None,
    cores_per_rank: CoresPerRank = 1,
    memory_per_rank: MemoryPerRank = None,
    world: Annotated[
        bool,
        typer.Option(
            "--world",
            help="Start the command as it is, and renumber MPI_COMM_WORLD inside the "
            "program: for launchers that cannot be told a placement.",
        ),
    ] = False,
    reorder: Annotated[
        bool,
        typer.Option(
            "--reorder",
            help="Start the command as it is, but let MPI_Cart_create, "
            "MPI_Graph_create and MPI_Dist_graph_create[_adjacent] with reorder=1 "
            "really reorder. Without --machine it is learned when the job runs.",
        ),
    ] = False,
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
            "Write a page as 'topoloom report' does, with what the ranks told of where "
            "they were.",
            "--report",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report as one line of JSON on stderr.")
    ] = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    Standard input, output and the exit status are the program's; reports go to
    stderr. The placement is tried with an empty program first: if the launcher cannot
    apply it, your program is not started as placed and the exit status is 2. A command
    that places its ranks by itself is refused, before anything runs if it says how many
    they are. (--world and --reorder start it as it is.)

    As the program starts, each rank tells where it is, and one line says whether all
    are where the placement puts them, or names those that are not.

    Of an allocation with more slots than ranks, those are used that the command's
    launcher uses by default: srun deals ranks to the nodes in turn, others fill them.

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
      topoloom run --reorder -- mpirun -n 768 ./app
    """
    from dataclasses import replace

    from topoloom._core import Error
    from topoloom.cli.objective import PROVEN, Objective, check_objective, proves
    from topoloom.cli.ordered import read_order
    from topoloom.cli.placed_run import (
        Job,
        Placed,
        record_job,
        start,
        tell,
        write_page,
    )
    from topoloom.cli.problem import Where, check_fit, choose_allocation
    from topoloom.cli.search import read_search
    from topoloom.cli.seats import (
        Seats,
        check_ranks,
        launcher_name,
        named_hosts,
        refuse_early,
    )
    from topoloom.graphs.graph_file import load_graph
    from topoloom.graphs.phases import load_phases, recorded_phases
    from topoloom.graphs.profile import check_collectives
    from topoloom.launch.launchers.as_it_is import read_as_it_is
    from topoloom.launch.launchers.registry import read_command
    from topoloom.machines.machine_file import load_described
    from topoloom.placements.placement_file import save_placement

    check_objective(objective)
    limits = (ranks_per_node, cores_per_rank, memory_per_rank)
    if reorder:
        from topoloom.cli.reorder_run import Wish, run_reordered

        apart = world or profile or output or page or bind or cores_per_slot != 1
        if apart or collectives != "expand" or limits != (None, 1, None):
            raise Error(
                "--reorder starts the command as it is: --world, --profile, --output, "
                "--report, --bind, --cores-per-slot, --ranks-per-node, "
                "--cores-per-rank, --memory-per-rank and --collectives do not go with "
                "it"
            )
        wish = Wish(mapper, objective, read_search(seed, time), as_json)
        return run_reordered(program, machine, allocation, hosts, wish, mpicc)
    if machine is None:
        raise Error("say with --machine where the ranks are to be placed")
    check_collectives(collectives)
    if page is not None and page == output:
        raise Error(f"{page} cannot be both the page and the placement")
    if page is not None:
        # Before anything runs: it needs jinja2.
        import topoloom.report.page  # noqa: F401
        from topoloom.report.data import check_size
    search = read_search(seed, time)
    read = read_as_it_is(program) if world else read_command(program)
    the_machine, described = load_described(machine)
    check_objective(objective, the_machine)
    order = read_order(launcher_name(read), *limits)
    wanted = Where(allocation, order=order)
    given = choose_allocation(the_machine, described, wanted)
    where = named_hosts(given, hosts, read)
    seats = Seats(where, described.node, cores_per_slot, bind, cores_per_rank)
    job = Job(program, read, mpicc, as_json)
    nodes = len(where.allocation.nodes)
    if page is not None:
        check_size(read.rank_count() or 0, nodes)
    if profile is not None:
        graph, name = load_graph(str(profile)), str(profile)
        phases = load_phases(profile)
        check_ranks(read, graph.rank_count, name)
    else:
        refuse_early(read, seats, described, wanted)
        recorded = record_job(job)
        if isinstance(recorded, int):
            return recorded
        graph, name = recorded.graph(collectives), "the program"
        phases = recorded_phases(recorded, graph)
    check_fit(graph, where.allocation, name)
    seats = seats.used(described, wanted, graph.rank_count, as_started=world)
    if page is not None:
        check_size(graph.rank_count, nodes)
    proven = PROVEN if proves(mapper) else ""
    aim = Objective(objective, phases, None).chosen_for(
        graph, seats.where.allocation, proven
    )
    result, block = _place(graph, seats, mapper, aim, search)
    result = replace(result, graph=str(profile or ""))
    placed = Placed(result, block, aim)
    if output is not None:
        save_placement(output, result)
    launch, account = start(job, seats, placed)
    shown = None
    if page is not None:
        shown = write_page(page, placed, graph, name, str(output or ""), account)
    tell(job, placed, launch, account, shown)
    return account.status


def _place(
    graph: CommGraph, seats: Seats, mapper: str, aim: Objective, search: Search
) -> tuple[PlacementFile, dict[str, float]]:
    """Place the ranks; also measure the launcher's own order, `block`."""
    from topoloom._core import place
    from topoloom.cli.typed import typed
    from topoloom.placements.placement_file import PlacementFile

    at = seats.where.allocation
    found = place(graph, at, mapper=mapper, **aim.options, **search._asdict())
    default = place(graph, at, mapper="block").placement
    result = PlacementFile(
        machine=at.machine,
        allocation=at,
        placement=found.placement,
        hosts=seats.where.hosts,
        node=seats.node,
        objective=aim.objective,
        values=aim.values(graph, at, found.placement),
        mapper=mapper,
        seed=search.seed,
        work=found.work,
        command=typed.get(),
        cores_per_rank=seats.cores_per_rank,
    )
    return result, aim.values(graph, at, default)
