# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom balance`: who hands how many tasks to whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli import complete
from topoloom.cli.options.files import AsJson, Figure, PlacementOption
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MaybeMachineText
from topoloom.cli.options.messages import MaybeBytes, MaybeRanks
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom.tasks.balancing.balance import Balanced, Crossing
    from topoloom.tasks.balancing.weighted import Resettled

#: How many moves are listed one by one.
MAX_LISTED = 20


@with_groups
def command(
    loads: Annotated[
        Path,
        typer.Argument(
            metavar="LOADS",
            help="How many tasks each rank holds: one integer per line. Or a table of "
            "tasks, with the columns task,owner,load,bytes.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="One of those below.",
            autocompletion=complete.balancers,
        ),
    ] = "auto",
    machine: MaybeMachineText = None,
    placement: PlacementOption = None,
    *,
    allowed: AllocationOptions,
    amount: MaybeBytes = None,
    ranks_asked: MaybeRanks = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", metavar="SIZE", help="What a rank holds of a table's bytes."
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance",
            metavar="SHARE",
            help="By which a rank's load may exceed the mean, in a table of tasks.",
        ),
    ] = 0.02,
    figure: Figure = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Even out equal tasks: who hands how many to whom.

    \b
    auto               the cheapest of curve and transport; without a machine, alias.
                       By hop-bytes, or auto(cost=busiest-link) or (cost=messages)
    alias              every rank that lacks tasks is given all of them by one other;
                       ends within k-2..k, k the ceiling of the mean, or with
                       alias(remainder=exact) at k-1 or k
    sweep              as alias(remainder=exact), in an order that ranks can find
                       without knowing all loads
    qwalk              the first rank with too many gives to the first with too few:
                       the fewest tasks move, and a rank may receive from many
    curve              on a machine: alias along a curve through the nodes, or with
                       curve(partners=nearest) by the nearest along it
    transport          on a machine: over the fewest hops, from at most 2 ranks to one;
                       transport(receives=1) from one, (receives=0) from any number
    diffusion          neighbors level out their difference, step by step;
                       diffusion(order=2) takes fewer steps
    integer-diffusion  the same in entire tasks, until neighbors hardly differ
    laplacian          the flow between neighbors with the least sum of squares

    Tasks of a table go where no rank has more than the mean and --tolerance, nor more
    bytes than --memory; few bytes move, beside a bound that none can be below.

    Measures stand beside what no plan can be below that ends with the same loads. With
    a machine, tasks of --bytes (1 byte unless given) also cost hop-bytes and load its
    links. Without --placement, ranks are on its slots in order.

    \b
    Examples:
      topoloom balance loads.csv
      topoloom balance loads.csv --method qwalk --json
      topoloom balance loads.csv --machine torus:8x8x8 --bytes 2KiB
      topoloom balance loads.csv --machine torus:4x4 --figure plan.svg
      topoloom balance tasks.csv --memory 16GiB --json
      topoloom balance loads.csv --placement x.json --method 'transport(receives=1)'
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json
    from topoloom.figure.plan import draw_plan
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.balancing.balance import balance_loads
    from topoloom.tasks.balancing.load_list import read_loads
    from topoloom.tasks.balancing.rank_slots import placed_ranks
    from topoloom.tasks.balancing.task_list import is_task_list, read_tasks
    from topoloom.tasks.balancing.weighted import balance_tasks
    from topoloom.tasks.problem import Where

    if is_task_list(loads):
        plain = method == "auto" and machine is None and placement is None
        if not plain or amount is not None or figure is not None:
            raise Error(
                f"{loads} is a table of tasks, for --ranks, --memory and --tolerance; "
                "leave out other options"
            )
        size = parse_bytes(memory) if memory is not None else None
        resettled = balance_tasks(read_tasks(loads), ranks_asked, size, tolerance)
        if as_json:
            print_json(resettled.document())
        else:
            _print_resettled(resettled)
        return
    if ranks_asked is not None or memory is not None:
        raise Error("--ranks and --memory are for a table of tasks")
    given = read_loads(loads)
    where = Where(*allowed, seed)
    ranks = placed_ranks(len(given), machine, placement, where)
    if amount is not None and ranks is None:
        raise Error("--bytes is the size of tasks that cross a --machine; name one")
    size = parse_bytes(amount) if amount is not None else 1
    balanced = balance_loads(given, method, ranks, size)
    if figure is not None:
        draw_plan(figure, given, {method: balanced.balance}, ranks)
    if as_json:
        print_json(balanced.document())
    else:
        _print(balanced)
        print_facts([], written=[figure])


def _print(balanced: Balanced) -> None:
    from topoloom.cli.console import print_facts, print_table

    found = balanced.balance
    measures, least = found.measures, found.least
    ranks, tasks = len(balanced.loads), int(balanced.loads.sum())
    print_facts([], f"{tasks:,} tasks on {ranks:,} ranks, by {balanced.method}")
    moves = found.plan[:MAX_LISTED].tolist()
    if moves:
        rows = [[f"{from_}", f"{to}", f"{count:,}"] for from_, to, count in moves]
        print_table(["from", "to", "tasks"], rows, left=0)
    rest = len(found.plan) - len(moves)
    facts = [("not listed", f"{rest:,} more; --json has all")] if rest else []
    before, after = balanced.loads, found.ends
    facts += [
        ("loads before", f"{before.min():,} to {before.max():,}"),
        ("loads after", f"{after.min():,} to {after.max():,}"),
        ("rounds", f"{found.rounds:,}"),
    ]
    if balanced.crossing is not None:
        facts += _costs(balanced.crossing)
    print_facts(facts)
    print_table(
        ["", "plan", "at least"],
        [
            [title, f"{measures[key]:,}", f"{least[key]:,}"]
            for key, title in TITLES.items()
        ],
    )


def _print_resettled(resettled: Resettled) -> None:
    from topoloom.cli.console import print_facts, print_table

    found, moves = resettled.balance, resettled.moves
    count = len(resettled.tasks.names)
    print_facts([], f"{count:,} tasks on {resettled.ranks:,} ranks")
    if moves:
        rows = [[name, f"{old}", f"{new}"] for name, old, new in moves[:MAX_LISTED]]
        print_table(["task", "from", "to"], rows)
    facts = [("tasks that move", f"{len(moves):,}")]
    if len(moves) > MAX_LISTED:
        facts.append(("not listed", f"{len(moves) - MAX_LISTED:,}; --json has all"))
    facts += [
        ("busiest rank", f"{resettled.over_mean:.4f} of the mean"),
        ("bytes that move", f"{found.moved_bytes:,}"),
        ("at least", f"{found.least_bytes:,}"),
    ]
    print_facts(facts)


#: The measures of a plan, as they are shown.
TITLES = {
    "messages": "messages",
    "tasks": "tasks that move",
    "max_receives": "messages to a rank, at most",
    "max_tasks_received": "tasks to a rank, at most",
    "max_sends": "messages from a rank, at most",
    "max_tasks_sent": "tasks from a rank, at most",
}


def _costs(crossing: Crossing) -> list[tuple[str, str]]:
    from topoloom.placements.measures import measure_text, measure_values

    machine = crossing.ranks.allocation.machine
    values = measure_values(crossing.judgement)
    shown = {
        "hop_bytes": "hop-bytes",
        "hops_per_byte": "hops per byte",
        "congestion_max": "busiest link",
    }
    return [
        ("machine", machine.name),
        *(
            (text, measure_text(key, values[key], machine))
            for key, text in shown.items()
        ),
    ]
