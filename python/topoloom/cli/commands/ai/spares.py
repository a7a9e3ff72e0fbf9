# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai spares`: find the spare host that best replaces a lost one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, GraphOption, PlacementFile
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.training.spares import SpareHosts


def command(
    placement: PlacementFile,
    *,
    graph: GraphOption = None,
    lost: Annotated[
        str | None,
        Option(
            "--lost",
            metavar="HOST",
            help="Print only the hosts in the order of the ranks after this host was "
            "replaced.",
        ),
    ] = None,
    restart: Annotated[
        str,
        Option(
            "--restart",
            metavar="in-place|sorted",
            help="How --lost numbers the ranks; the description explains both.",
            autocompletion=completions.restarts,
        ),
    ] = "in-place",
    as_json: AsJson = False,
) -> None:
    """Find the spare host that best replaces a lost one.

    The job is a placement, as 'ai axes -o' writes it, with the graph that it names.
    Spares are the hosts of its allocation that have no ranks. For every host, all
    spares are compared by the predicted time of the job after it starts again:

    \b
    in-place    the spare has the ranks of the lost host: torchrun with static
                rendezvous and an order of hosts, or Slurm with SLURM_HOSTFILE
                and srun -m arbitrary
    sorted      ranks follow the numbers of the hosts: Slurm by default, and
                torchrun with c10d, which sorts addresses

    \b
    Examples:
      topoloom ai axes --mesh tp=4,dp=8,pp=2 --traffic tp=9GB,dp=4GB,pp=1GB \\
          --machine nvl72-row --nodes 18 --write-graph p.npz -o x.json
      topoloom ai spares x.json
      topoloom ai spares x.json --lost 20 --restart sorted
    """
    from topoloom._core import Error
    from topoloom.cli.console import make_progress_bar, print_json
    from topoloom.graphs.phases import load_phases
    from topoloom.placements.placement_file import load_placement
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.tasks.placement_problem import (
        find_graph_file,
        load_placement_problem,
    )
    from topoloom.tasks.problem import AllocationSpec
    from topoloom.tasks.training.spares import RESTARTS, find_spares

    if restart not in RESTARTS:
        raise Error(describe_unknown_name("restart", restart, RESTARTS))
    if lost is not None and as_json:
        raise Error("--lost and --json are mutually exclusive; --json has all orders")
    graph = graph or find_graph_file(placement, load_placement(placement))
    where = AllocationSpec()
    given = load_placement_problem("spares", graph, str(placement), None, where)
    with make_progress_bar("comparing spares", "hosts") as bar:
        found = find_spares(given, load_phases(graph), bar)
    if lost is not None:
        print(*found.find_order(lost, restart), sep="\n")
    elif as_json:
        print_json(found.document())
    else:
        _print_result(found)


def _print_result(found: SpareHosts) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import format_count

    rows = []
    for in_place, by_number in zip(*found.best.values(), strict=True):
        row = [found.names[in_place.lost]]
        for restart, one in (("in-place", in_place), ("sorted", by_number)):
            gained = format_percent(gain(found.seconds[restart], one.seconds))
            row += [found.names[one.spare], format_count(one.seconds), gained]
        rows.append(row)
    columns = ["lost", "in place", "seconds", "gain", "sorted", "seconds", "gain"]
    print_table(columns, rows)
    now = " and ".join(
        f"{format_count(seconds)} s {restart}"
        for restart, seconds in found.seconds.items()
    )
    spares = ", ".join(found.names[host] for host in found.spares)
    print_facts([("before", now), ("spares", spares)])
