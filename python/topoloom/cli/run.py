# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place, and launch an MPI program where it belongs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topoloom.cli.export import Bind, CoresPerSlot, Hosts
from topoloom.cli.options import (
    AllocationText,
    MachineText,
    ObjectiveName,
    Seconds,
    Seed,
    output_option,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from topoloom import AllocatedHosts, CommGraph, PlacementFile
    from topoloom.cli.objective import Objective
    from topoloom.cli.search import Search
    from topoloom.launch.launch import Launch
    from topoloom.launch.launchers import ReadCommand
    from topoloom.launch.repeated_input import RepeatedInput
    from topoloom.node_parts import NodeParts
    from topoloom.record import Profile


def command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="mpirun, mpiexec or srun and so on."),
    ],
    machine: MachineText,
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
    objective: ObjectiveName = "hop-bytes",
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
    output: Annotated[
        Path | None,
        output_option("Write the placement, too."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report as one line of JSON on stderr.")
    ] = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    Standard input, output and the exit status are the program's; reports go to
    stderr. The placement is tried with an empty program first: if the launcher cannot
    apply it, your program is not started as placed and the exit status is 2. A command
    that places its ranks by itself is refused before anything runs.

    The hosts of the nodes are those of --hosts, else of the allocation (a host list
    keeps its names) or the machine, else those that the command names.

    \b
    Examples:
      topoloom run --machine torus:4x4x4 --allocation 'n[00-63]' -- mpirun -n 64 ./app
      topoloom run --machine torus:8x8x8 --allocation "$SLURM_JOB_NODELIST" \\
          --profile app.npz -- srun -n 512 ./app
      topoloom run -m tree:4:8+node:12:2,distance=1:10 --hosts 'cn[1-32]' \\
          --profile app.npz -- mpirun -n 768 ./app
    """
    import tempfile

    from topoloom import load_graph, load_phases, save_placement
    from topoloom.cli.objective import HOP_BYTES, Objective, check_objective
    from topoloom.cli.problem import Where, check_fit, choose_allocation
    from topoloom.cli.search import read_search
    from topoloom.launch.launchers import read_command
    from topoloom.launch.program import EMPTY_PROGRAM, check_launch
    from topoloom.launch.repeated_input import RepeatedInput
    from topoloom.machine_file import load_described
    from topoloom.phases import recorded_phases
    from topoloom.record.profile import check_collectives

    check_collectives(collectives)
    check_objective(objective)
    by_phase = objective != HOP_BYTES
    search = read_search(seed, time)
    read = read_command(program)
    the_machine, described = load_described(machine)
    given = choose_allocation(the_machine, described, Where(allocation))
    where = _named_hosts(given, hosts, read)
    seats = _Seats(where, described.node, cores_per_slot, bind)
    spent: dict[str, float] = {}
    standard_input = RepeatedInput()
    if profile is not None:
        graph, name = load_graph(str(profile)), str(profile)
        phases = load_phases(profile) if by_phase else []
        _check_ranks(read, graph.rank_count, name)
    else:
        _refuse_early(read, seats)
        recorded = _recorded(program, standard_input, spent)
        if isinstance(recorded, int):
            return recorded
        graph, name = recorded.graph(collectives), "the program"
        phases = recorded_phases(recorded, graph) if by_phase else []
    check_fit(graph, where.allocation, name)
    aim = Objective(objective, phases, None)
    result, block = _place(graph, seats, mapper, aim, search)
    if output is not None:
        save_placement(output, result)
    with tempfile.TemporaryDirectory(prefix="topoloom-run-") as directory:
        slots = result.placement.slots
        check_launch(seats.launch(read.starting(EMPTY_PROGRAM), slots, directory))
        launch = seats.launch(read, slots, directory)
        if not as_json:
            _announce(result, aim, block, launch)
        status = _run(launch, standard_input, spent)
    _report(result, block, launch, spent, as_json)
    return status


class _Seats(NamedTuple):
    """Where ranks may go, and what they are bound to there."""

    where: AllocatedHosts
    node: NodeParts
    cores_per_slot: int
    bind: str | None

    def launch(
        self, read: ReadCommand, slots: NDArray[np.uint32], directory: str
    ) -> Launch:
        """Build the command that puts rank i on ``slots[i]``."""
        from topoloom.launch.host_placement import host_placement

        allocation = self.where.allocation
        placed = host_placement(
            allocation.machine,
            allocation.nodes,
            slots,
            self.where.hosts,
            self.cores_per_slot,
            self.node,
            self.bind,
        )
        return read.placed(placed, Path(directory))


def _named_hosts(
    given: AllocatedHosts, hosts: str | None, read: ReadCommand
) -> AllocatedHosts:
    """Find the name of each host of the allocation."""
    from topoloom import AllocatedHosts, Error
    from topoloom.hostlist import expand_hostlist

    names = expand_hostlist(hosts) if hosts is not None else given.hosts
    if names is None:
        names = read.hosts()
    nodes = len(given.allocation.nodes)
    if names is None:
        raise Error(
            f"the names of the {nodes} hosts are not known; give them with --hosts, or "
            "an --allocation that names hosts"
        )
    if len(names) != nodes:
        raise Error(
            f"{len(names)} hosts for an allocation of {nodes} nodes; "
            "name one host for each node with --hosts, or the nodes with --allocation"
        )
    return AllocatedHosts(given.allocation, tuple(names))


def _check_ranks(read: ReadCommand, ranks: int, name: str) -> None:
    from topoloom import Error

    asked = read.line.rank_count()
    if asked is not None and asked != ranks:
        raise Error(f"the command starts {asked} ranks, but {name} has {ranks}")


def _refuse_early(read: ReadCommand, seats: _Seats) -> None:
    """Refuse what no placement could be applied to, before the program runs."""
    import tempfile

    from topoloom import Error

    ranks = read.line.rank_count()
    if ranks is None:
        return
    slots = seats.where.allocation.slots
    if ranks > len(slots):
        raise Error(f"{ranks} ranks do not fit on {len(slots)} slots")
    with tempfile.TemporaryDirectory(prefix="topoloom-run-") as directory:
        seats.launch(read, slots[:ranks], directory)


def _recorded(
    program: list[str], standard_input: RepeatedInput, spent: dict[str, float]
) -> Profile | int:
    """Record the program; where it fails, answer its exit status."""
    from time import perf_counter

    from topoloom.cli.console import note
    from topoloom.record import record

    start = perf_counter()
    with standard_input.rewound():
        profile = record(program)
    spent["recorded"] = perf_counter() - start
    if profile.exit_status != 0:
        note(
            f"topoloom: the recorded run ended with status {profile.exit_status}, "
            "so there is no second one"
        )
        return profile.exit_status
    return profile


def _place(
    graph: CommGraph, seats: _Seats, mapper: str, aim: Objective, search: Search
) -> tuple[PlacementFile, dict[str, float]]:
    """Place the ranks; also measure the launcher's own order, `block`."""
    from topoloom import Placement, PlacementFile, judge, place
    from topoloom.cli.problem import measures
    from topoloom.cli.typed import typed

    at = seats.where.allocation

    def values(placement: Placement) -> dict[str, float]:
        judged = measures(judge(graph, at, placement))
        return {**judged, **aim.values(graph, at, placement)}

    placement, work = place(
        graph, at, mapper=mapper, **aim._asdict(), **search._asdict()
    )
    default, _ = place(graph, at, mapper="block")
    result = PlacementFile(
        machine=at.machine,
        allocation=at,
        placement=placement,
        hosts=seats.where.hosts,
        node=seats.node,
        objective=aim.objective,
        values=values(placement),
        mapper=mapper,
        seed=search.seed,
        work=work,
        command=typed.get(),
    )
    return result, values(default)


def _run(launch: Launch, standard_input: RepeatedInput, spent: dict[str, float]) -> int:
    from time import perf_counter

    from topoloom.launch.program import run_program

    start = perf_counter()
    with standard_input.rewound():
        status = run_program(launch)
    spent["placed"] = perf_counter() - start
    return status


def _announce(
    result: PlacementFile, aim: Objective, block: dict[str, float], launch: Launch
) -> None:
    from topoloom.cli.console import note
    from topoloom.cli.problem import gain, percent
    from topoloom.units import format_count

    before, after = block[aim.measure], result.values[aim.measure]
    note(
        f"topoloom: {len(result.placement.slots):,} ranks placed with {result.mapper}: "
        f"{aim.title} {format_count(before)} -> {format_count(after)} "
        f"({percent(gain(before, after))} gain)"
        + (f"; {launch.loss}" if launch.loss else "")
    )


def _report(
    result: PlacementFile,
    block: dict[str, float],
    launch: Launch,
    spent: dict[str, float],
    as_json: bool,
) -> None:
    import json

    from topoloom.cli.console import note

    if as_json:
        document: dict[str, Any] = {
            "command": launch.command,
            "mapper": result.mapper,
            "block": block,
            "values": dict(result.values),
            "note": launch.loss,
            "seconds": {name: round(value, 3) for name, value in spent.items()},
        }
        note(json.dumps(document))
        return
    times = f"placed run {spent['placed']:.2f} s"
    if "recorded" in spent:
        times = f"recorded run {spent['recorded']:.2f} s, {times}"
    note(f"topoloom: {times}")
