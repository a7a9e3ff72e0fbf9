# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom trees`: multicast and reduction trees in switches, and their loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom.tasks.collectives.trees import Multicasts


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
    from topoloom.cli.console import print_json
    from topoloom.tasks.collectives.trees import build_trees
    from topoloom.tasks.problem import Where, load_nodes

    given, _ = load_nodes(machine, Where(*allowed, seed))
    found = build_trees(given.allocation, roots, members, seed)
    if as_json:
        print_json(found.document())
    else:
        _print(found)


def _print(found: Multicasts) -> None:
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
        for kind, loads in found.trees.items()
    ]
    title = (
        f"{counted(len(found.roots), 'root')}, {found.members} members each, "
        f"on {found.machine.name}"
    )
    columns = ["", "trees", "links", "depth", "max per link", "max per switch"]
    print_facts([], title)
    print_table(columns, rows)
