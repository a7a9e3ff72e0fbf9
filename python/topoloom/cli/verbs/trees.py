# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom trees`: multicast and reduction trees in switches, and their loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom._core import Machine, SpanningTree


@with_groups
def command(
    machine: MachineText,
    roots: Annotated[
        str,
        typer.Option(
            "--roots",
            metavar="N|A-B,C",
            help="How many of the nodes have a tree, equally spaced, or which ones.",
        ),
    ] = "1",
    members: Annotated[
        int | None,
        typer.Option(
            "--members",
            metavar="N",
            help="Number of nodes drawn for every tree. Default: all.",
        ),
    ] = None,
    *,
    allowed: AllocationOptions,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Build trees for multicasts and reductions in switches, and report their loads.

    A tree leads from a root to the members; a reduction runs in the opposite direction.
    Roots and members are nodes by their position in the allocation.

    \b
    routes          the routes from the root: on a torus the dimension-ordered tree
    last            fat trees: up by the last parent, as simple switches do
    least-loaded    fat trees: up by the parent with the fewest trees through it
    disjoint        tori: two trees for every axis, without a common link; each
                    carries its share of the message
    max per link    messages through the busiest link between switches or routers,
                    where each root sends one
    max per switch  trees through the busiest switch, or router

    \b
    Examples:
      topoloom trees --machine fattree:4:4:4:4 --roots 16 --members 16
      topoloom trees --machine torus:8x8x8
    """
    from topoloom._core import Error, tree_kinds
    from topoloom.cli.console import print_json
    from topoloom.machines.machine_file import load_described
    from topoloom.support.checks import at_least
    from topoloom.tasks.problem import Where, choose_allocation

    the_machine, described = load_described(machine)
    where = choose_allocation(the_machine, described, Where(*allowed, seed))
    nodes = where.allocation.nodes.tolist()
    if members is not None:
        at_least("--members", members, 1)
        if members > len(nodes):
            raise Error(f"--members {members} of {len(nodes)} nodes; ask for no more")
    chosen = _roots(roots, nodes)
    multicasts = [
        (root, _drawn(nodes, members, seed + number))
        for number, root in enumerate(chosen)
    ]
    found = {
        kind: _facts(the_machine, kind, multicasts) for kind in tree_kinds(the_machine)
    }
    document = {
        "machine": the_machine.text,
        "roots": chosen,
        "members": members or len(nodes),
        "trees": found,
    }
    if as_json:
        print_json(document)
    else:
        _print(the_machine, document)


def _roots(text: str, nodes: list[int]) -> list[int]:
    from topoloom._core import Error
    from topoloom.support.number_ranges import expand_ranges

    if not text.isdigit():
        return [nodes[position] for position in expand_ranges(text, len(nodes))]
    count = int(text)
    if not 1 <= count <= len(nodes):
        raise Error(f"--roots {text}: there are 1 to {len(nodes)}")
    return [nodes[i * len(nodes) // count] for i in range(count)]


def _drawn(nodes: list[int], members: int | None, seed: int) -> list[int]:
    import random

    return nodes if members is None else random.Random(seed).sample(nodes, members)


def _facts(machine: Machine, kind: str, multicasts: Any) -> dict[str, Any]:
    from topoloom._core import Error, spanning_trees, tree_kinds, tree_loads

    trees = spanning_trees(machine, kind, multicasts)
    if not trees:
        raise Error(f"{machine.text} has no links to make trees of")
    share = len(multicasts) / len(trees)
    on_link, on_vertex = tree_loads(machine, trees)
    # The links of a fat tree's nodes carry what is sent to them, whatever the tree.
    first = machine.node_count if "least-loaded" in tree_kinds(machine) else 0
    between = [
        load
        for link, load in enumerate(on_link)
        if min(machine.link_ends(link)) >= first
    ]
    switches = on_vertex[first:]
    return {
        "trees": len(trees),
        "links_a_tree": sum(len(tree.links) for tree in trees) / len(trees),
        "depth": max(_depth(machine, tree) for tree in trees),
        "most_a_link": max(between, default=0) * share,
        "most_a_switch": max(switches, default=0),
        "loads_of_links": on_link,
        "loads_of_switches": switches,
    }


def _depth(machine: Machine, tree: SpanningTree) -> int:
    depth: dict[int, int] = {}
    for link in tree.links.tolist():
        start, end = machine.link_ends(link)
        depth[end] = depth.get(start, 0) + 1
    return max(depth.values(), default=0)


def _print(machine: Machine, document: dict[str, Any]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted, format_count

    rows = [
        [
            kind,
            str(facts["trees"]),
            format_count(facts["links_a_tree"]),
            str(facts["depth"]),
            format_count(facts["most_a_link"]),
            str(facts["most_a_switch"]),
        ]
        for kind, facts in document["trees"].items()
    ]
    roots = len(document["roots"])
    title = (
        f"{counted(roots, 'root')}, {document['members']} members each, "
        f"on {machine.name}"
    )
    columns = ["", "trees", "links", "depth", "max per link", "max per switch"]
    print_facts([], title)
    print_table(columns, rows)
