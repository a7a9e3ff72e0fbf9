# SPDX-License-Identifier: BSD-3-Clause
"""Prints results of `topoloom balance`: for weighted tasks, and of simulations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from topoloom._core import WeightedBalance
    from topoloom.documents.balancing import SimulatedMoves
    from topoloom.tasks.balancing.balance import Ranks
    from topoloom.tasks.balancing.weighted_tasks import TaskRedistribution
    from topoloom.tasks.problem import AllocationSpec

#: Default of --tolerance: the share by which a rank's load may exceed the mean.
DEFAULT_TOLERANCE = 0.02

#: Maximum number of moves that are listed one by one.
MAX_LISTED = 20


class TaskOptions(NamedTuple):
    """Options for weighted tasks, as typed by the user."""

    graph: str | None = None
    owners: Path | None = None
    periods: float = 1
    ranks: int | None = None
    memory: str | None = None
    tolerance: float | None = None


def balance_file(
    file: Path,
    options: TaskOptions,
    machine: str | None,
    placement: Path | None,
    where: AllocationSpec,
    simulate: bool,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Balance the tasks in a table or a graph file, and print the redistribution."""
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json
    from topoloom.figure.plan import draw_plan
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.balancing.rank_slots import find_rank_slots
    from topoloom.tasks.balancing.task_edges import with_edges
    from topoloom.tasks.balancing.task_graph import is_task_graph, read_task_graph
    from topoloom.tasks.balancing.task_list import read_tasks
    from topoloom.tasks.balancing.transfer_times import time_moves
    from topoloom.tasks.balancing.weighted_tasks import balance_tasks, rank_count

    if is_task_graph(file):
        if options.graph is not None:
            raise Error(f"{file} is a graph and contains the edges; leave out --graph")
        tasks = read_task_graph(file, options.owners)
    else:
        if options.owners is not None:
            raise Error(f"{file} contains a column of owners; leave out --owners")
        tasks = read_tasks(file)
        if options.graph is not None:
            tasks = with_edges(tasks, Path(options.graph))
    if options.periods != 1 and tasks.graph is None:
        raise Error(
            "--periods sets how often the messages of --graph are sent; add --graph"
        )
    count = rank_count(tasks, options.ranks)
    ranks = find_rank_slots(count, machine, placement, where)
    if simulate and ranks is None:
        raise Error("--simulate requires a machine; add --machine")
    size = parse_bytes(options.memory) if options.memory is not None else None
    tolerance = DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance
    found = balance_tasks(tasks, count, size, tolerance, options.periods, ranks)
    times = {}
    if simulate and ranks is not None:
        times = time_moves(ranks, [found.make_transfer_graph()], machine)
    if figure is not None:
        draw_plan(figure, found.loads(tasks.owners), {"": found}, ranks, "load")
    if as_json:
        document = found.document()
        if times:
            document["simulated_seconds"] = cast("SimulatedMoves", times)
        print_json(document)
    else:
        _print_result(found, times)
        print_facts([], written=[figure])


def list_time_facts(times: dict[str, float]) -> list[tuple[str, str]]:
    """Format simulated seconds as table rows."""
    from topoloom.support.units import format_seconds

    titles = {"switches": "in our switches", "simgrid": "in SMPI"}
    return [
        (f"simulated {titles[name]}", format_seconds(seconds))
        for name, seconds in times.items()
    ]


def list_machine_facts(ranks: Ranks) -> list[tuple[str, str]]:
    """Return table rows: machine, and ranks per node if nodes have several slots."""
    from topoloom.tasks.balancing.rank_slots import format_ranks_by_node

    machine = ranks.allocation.machine
    facts = [("machine", machine.name)]
    if machine.slots_per_node > 1:
        facts.append(("ranks", format_ranks_by_node(ranks)))
    return facts


def _print_result(result: TaskRedistribution, times: dict[str, float]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted, format_bytes, format_count

    found, moves = result.balance, result.moves
    there = counted(result.ranks, "rank")
    print_facts([], f"{counted(len(result.tasks.names), 'task')} on {there}")
    if moves:
        rows = [[name, f"{old}", f"{new}"] for name, old, new in moves[:MAX_LISTED]]
        print_table(["task", "from", "to"], rows)
    facts = [("tasks that move", f"{len(moves):,}")]
    if len(moves) > MAX_LISTED:
        facts.append(("not listed", f"{len(moves) - MAX_LISTED:,}; --json has all"))
    facts += [
        (
            "busiest rank",
            f"{result.load_over_mean:.4f} of the mean{_format_excess(found)}",
        ),
        ("bytes that move", format_bytes(found.moved_bytes)),
        ("at least", format_bytes(found.least_bytes)),
    ]
    if result.tasks.graph is not None:
        cut = map(format_bytes, result.cut_bytes)
        facts.append(("bytes between ranks", ", then ".join(cut)))
    if result.where is not None:
        facts += list_machine_facts(result.where)
        if result.tasks.graph is not None:
            hops = [format_count(n) for n in result.hop_bytes]
            facts.append(("hop-bytes", ", then ".join(hops)))
        facts.append(("hop-bytes of moves", format_count(found.moved_hop_bytes)))
    if result.tasks.graph is not None or result.where is not None:
        costs = [format_count(cost) for cost in result.costs]
        facts.append(("cut and moved, summed", ", then ".join(costs)))
    print_facts(facts + list_time_facts(times))


def _format_excess(balance: WeightedBalance) -> str:
    """Return a remark if large tasks make a rank exceed the load limit."""
    return ", above the limit" if balance.load_max > balance.load_limit else ""
