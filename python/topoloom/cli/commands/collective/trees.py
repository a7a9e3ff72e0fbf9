# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective trees`: build multicast and reduction trees in switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.collectives.multicast_trees import MulticastTrees
    from topoloom.tasks.network.tree_times import TreeTimes

_SIZES = "8,256,4KiB,64KiB,1MiB"


@flatten_option_groups
def command(
    machine: MachineText,
    roots: Annotated[
        str,
        Option(
            "--roots",
            metavar="N|A-B,C",
            help="Roots of trees: a number of equally spaced nodes, or a list of "
            "nodes.",
        ),
    ] = "1",
    members: Annotated[
        int | None,
        Option(
            "--members",
            metavar="N",
            help="Number of nodes drawn for every tree.",
            show_default="all",
        ),
    ] = None,
    *,
    operation: Annotated[
        str | None,
        Option(
            "--operation",
            metavar="OPERATION",
            help="Simulate an operation in switches, on all trees of a kind "
            "concurrently: bcast, reduce, allreduce or barrier.",
            autocompletion=completions.switch_operations,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        Option(
            "--message-sizes",
            metavar="SIZE,...",
            help="With --operation: sizes of messages, such as 8,1KiB.",
            show_default=_SIZES,
        ),
    ] = None,
    switch: SwitchName = None,
    allowed: AllocationOptions,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Build multicast trees in switches and report their loads.

    A tree leads from a root to the members; a reduction runs in the opposite direction.
    Roots and members are nodes, numbered by position in the allocation.

    \b
    routes          the union of the routes from the root; on a torus, the
                    dimension-ordered tree
    last            fat trees: up through the last parent, as simple switches do
    least-loaded    fat trees: up through the parent with the fewest trees
    disjoint        tori: two trees per axis without common links; each transfers
                    its share of the message
    max per link    messages through the busiest link between switches or routers,
                    if each root sends one
    max per switch  trees through the busiest switch or router

    With --operation, output-queued switches copy the packets of each root, or combine
    packets of its members, including the root. For comparison, the same data is sent as
    messages by NICs: with one root, by the schedule with the lowest predicted time;
    with several, directly between roots and members. The machine must have bandwidths;
    the [switch] table of the machine file sets the number of combining units. The costs
    of senders and receivers are the machine's, or the assumed ones that 'topoloom
    machine show' prints.

    \b
    Examples:
      topoloom collective trees --machine fattree:4:4:4:4 --roots 16 --members 16
      topoloom collective trees --machine torus:4x4x4
      topoloom collective trees -m fattree:8:8,bandwidth=25GB/s,latency=20ns \\
          --operation reduce
    """
    from topoloom._core import Error
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.simulate.switch_toml import load_given_or_machine_switch
    from topoloom.support.units import counted, parse_bytes
    from topoloom.tasks.collectives.multicast_trees import build_trees
    from topoloom.tasks.network.tree_times import time_trees
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if operation is None and (sizes is not None or switch is not None):
        wrong = "--message-sizes" if sizes is not None else "--switch"
        raise Error(f"{wrong} is for --operation")
    given, _ = load_nodes(machine, AllocationSpec(*allowed, seed))
    found = build_trees(given.allocation, roots, members, seed)
    times = None
    if operation is not None:
        times = time_trees(
            given.allocation,
            found,
            operation,
            [parse_bytes(size) for size in (sizes or _SIZES).split(",")],
            load_given_or_machine_switch(switch, machine),
            monitor=monitor_search,
        )
    if as_json:
        simulated = {} if times is None else {"simulated": times.document()}
        print_json({**found.document(), **simulated})
    else:
        _print_result(found)
        if times is not None:
            _print_times(times)
    if times is not None and times.interrupted:
        raise Interrupted(f"interrupted after {counted(len(times.sizes), 'size')}")


def _print_result(multicasts: MulticastTrees) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted, format_count

    rows = [
        [
            kind,
            str(loads.trees),
            format_count(loads.links_a_tree),
            str(loads.depth),
            format_count(loads.most_a_link),
            str(loads.most_a_switch),
        ]
        for kind, loads in multicasts.trees.items()
    ]
    title = (
        f"{counted(len(multicasts.roots), 'root')}, {multicasts.members} members each, "
        f"on {multicasts.machine.name}"
    )
    columns = ["", "trees", "links", "depth", "max per link", "max per switch"]
    print_facts([], title)
    print_table(columns, rows, keep=["", "max per link", "max per switch"])


def _print_times(times: TreeTimes) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.units import format_bytes, format_seconds

    kinds = list(times.sizes[0].in_switches) if times.sizes else []
    rows = [
        [
            format_bytes(size.bytes),
            *(format_seconds(size.in_switches[kind]) for kind in kinds),
            "" if size.messages is None else format_seconds(size.messages),
            size.how,
        ]
        for size in times.sizes
    ]
    title = f"{times.operation} in output-queued switches, simulated"
    print_table(["", *kinds, "messages", "by"], rows, title=title)
