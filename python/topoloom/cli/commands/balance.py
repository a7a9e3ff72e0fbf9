# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom balance`: compute a redistribution of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure, GraphOption, PlacementOption
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MaybeMachineText
from topoloom.cli.options.messages import MaybeBytes, MaybeRanks, method_option
from topoloom.cli.options.searches import Seed
from topoloom.cli.output.balanced import (
    DEFAULT_TOLERANCE,
    MAX_LISTED,
    TaskOptions,
    balance_file,
    list_machine_facts,
    list_time_facts,
)
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.documents.balancing import SimulatedMoves
    from topoloom.tasks.balancing.balance import BalanceResult, TransferCost


@flatten_option_groups
def command(
    loads: Annotated[
        Path,
        Argument(
            metavar="LOADS",
            help="Number of tasks per rank, one integer per line. Or weighted tasks: "
            "a table with the columns task,owner,load,bytes, a METIS or Chaco graph, "
            "or a hypergraph of Zoltan or PaToH. METIS counts vertices from 1; the "
            "output counts tasks from 0.",
        ),
    ],
    method: Annotated[str, method_option(completions.balancers)] = "auto",
    machine: MaybeMachineText = None,
    placement: PlacementOption = None,
    *,
    allowed: AllocationOptions,
    amount: MaybeBytes = None,
    job_ranks: MaybeRanks = None,
    graph: GraphOption = None,
    owners: Annotated[
        Path | None,
        Option(
            "--owners",
            metavar="FILE",
            help="The owner (a rank) of each vertex of a graph of tasks, one per line.",
            show_default="GRAPH.assign",
        ),
    ] = None,
    periods: Annotated[
        float,
        Option(
            "--periods",
            metavar="N",
            help="Communication steps between two rebalances.",
        ),
    ] = 1,
    memory: Annotated[
        str | None,
        Option("--memory", metavar="SIZE", help="Memory limit per rank, for a table."),
    ] = None,
    tolerance: Annotated[
        float | None,
        Option(
            "--tolerance",
            metavar="SHARE",
            help="Allowed load imbalance, as a share of the mean, for weighted tasks.",
            show_default=f"{DEFAULT_TOLERANCE}",
        ),
    ] = None,
    simulate: Annotated[
        bool,
        Option(
            "--simulate",
            help="Simulate the transfers: in the built-in switches, and in SMPI if "
            "SimGrid is installed.",
        ),
    ] = False,
    figure: Figure = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Compute a redistribution of tasks that evens out loads.

    \b
    auto       curve or transport, whichever has fewer hop-bytes, or a lower cost
               with auto(cost=busiest-link) or auto(cost=messages); without a
               machine, alias
    alias      a rank receives all tasks that it lacks from one other rank; final
               loads are k-2..k, where k is the ceiling of the mean, or k-1..k
               with alias(remainder=exact)
    sweep      like alias(remainder=exact), in an order that ranks can compute
               without all loads
    qwalk      the first overloaded rank sends to the first underloaded rank; the
               fewest tasks move, but a rank may receive from many ranks
    curve      on a machine: the nearest rank on a curve through the nodes sends;
               curve(partners=order) is alias along the curve
    transport  on a machine: the fewest hops if a rank receives from at most 2
               ranks; transport(receives=1) sets 1, receives=0 no limit
    diffusion  neighbors reduce their load difference step by step;
               diffusion(order=2) takes fewer steps
    integer-diffusion
               diffusion of whole tasks, until neighbors differ by at most 1
    laplacian  of all flows between neighbors, the least sum of squares

    Weighted tasks have no --method: they are moved until no rank's load exceeds the
    mean by more than --tolerance, and no rank exceeds its --memory. Few bytes are
    moved; a lower bound is printed. --graph says what tasks send to each other in a
    period; bytes sent between ranks, over all --periods, then count, too. On a machine,
    bytes are weighted by distance, with little weight inside a node.

    Each measure is printed with a lower bound for all plans with the same final loads.
    With a machine, hop-bytes and link loads are computed for tasks of --bytes (default
    1). Without --placement, ranks use the machine's slots in order. If --nodes or
    --allocation has more slots than ranks, ranks are spread over all nodes as by srun.

    \b
    Examples:
      topoloom balance loads.csv
      topoloom balance loads.csv --method qwalk --json
      topoloom balance loads.csv --machine torus:8x8x8 --bytes 2KiB
      topoloom balance loads.csv --machine torus:8x8 --figure plan.svg
      topoloom balance loads.csv -m torus:8x8,bandwidth=10GB/s,latency=1us \\
          --simulate
      topoloom balance tasks.csv --memory 16GiB --json
      topoloom balance tasks.csv -g edges.csv -m torus:4x4 --periods 100
      topoloom balance mesh.graph --owners mesh.part.16 --tolerance 0.05
      topoloom balance loads.csv --placement x.json \\
          --method 'transport(receives=1)'
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json
    from topoloom.figure.plan import draw_plan
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.balancing.balance import balance_loads
    from topoloom.tasks.balancing.load_list import read_loads
    from topoloom.tasks.balancing.rank_slots import find_rank_slots
    from topoloom.tasks.balancing.task_graph import is_task_graph
    from topoloom.tasks.balancing.task_list import is_task_list
    from topoloom.tasks.balancing.transfer_times import plan_rounds, time_moves
    from topoloom.tasks.problem import AllocationSpec

    where = AllocationSpec(*allowed, seed)
    options = TaskOptions(graph, owners, periods, job_ranks, memory, tolerance)
    kind = "graph" if is_task_graph(loads) else "table" if is_task_list(loads) else ""
    if kind:
        if method != "auto":
            raise Error(
                f"{loads} is a {kind} of weighted tasks, but --method is for equal "
                "tasks; leave it out"
            )
        if amount is not None:
            raise Error(f"{loads} contains the bytes of each task; leave out --bytes")
        balance_file(
            loads, options, machine, placement, where, simulate, figure, as_json
        )
        return
    if options != TaskOptions():
        raise Error(
            "--graph, --owners, --periods, --ranks, --memory and --tolerance are for "
            f"weighted tasks; {loads} contains numbers of equal tasks"
        )
    given = read_loads(loads)
    ranks = find_rank_slots(len(given), machine, placement, where)
    if ranks is None and (amount is not None or simulate):
        what = "--simulate is for" if simulate else "--bytes is the size of"
        raise Error(f"{what} transfers on a machine; add --machine")
    size = parse_bytes(amount) if amount is not None else 1
    balanced = balance_loads(given, method, ranks, size)
    times = {}
    if simulate and ranks is not None:
        rounds = plan_rounds(given, balanced.balance, size)
        times = time_moves(ranks, rounds, machine)
    if figure is not None:
        draw_plan(figure, given, {method: balanced.balance}, ranks)
    if as_json:
        document = balanced.document()
        if times:
            document["simulated_seconds"] = cast("SimulatedMoves", times)
        print_json(document)
    else:
        _print_result(balanced, times)
        print_facts([], written=[figure])


def _print_result(balanced: BalanceResult, times: dict[str, float]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted

    found = balanced.balance
    measures, least = found.measures, found.least
    ranks, tasks = len(balanced.loads), int(balanced.loads.sum())
    there = f"{counted(tasks, 'task')} on {counted(ranks, 'rank')}"
    print_facts([], f"{there}, by {balanced.method}")
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
    if balanced.cost is not None:
        facts += _list_costs(balanced.cost)
    print_facts(facts + list_time_facts(times))
    print_table(
        ["", "plan", "at least"],
        [
            [title, f"{measures[key]:,}", f"{least[key]:,}"]
            for key, title in TITLES.items()
        ],
    )


#: Return the measures of a plan as table rows.
TITLES = {
    "messages": "messages",
    "tasks": "tasks that move",
    "max_receives": "messages to a rank, at most",
    "max_tasks_received": "tasks to a rank, at most",
    "max_sends": "messages from a rank, at most",
    "max_tasks_sent": "tasks from a rank, at most",
}


def _list_costs(cost: TransferCost) -> list[tuple[str, str]]:
    from topoloom.placements.measures import collect_measures, format_measure

    machine = cost.ranks.allocation.machine
    values = collect_measures(cost.judgement)
    shown = {
        "hop_bytes": "hop-bytes",
        "hops_per_byte": "hops per byte",
        "congestion_max": "busiest link",
    }
    return [
        *list_machine_facts(cost.ranks),
        *(
            (text, format_measure(key, values[key], machine))
            for key, text in shown.items()
        ),
    ]
