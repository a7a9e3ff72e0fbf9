# SPDX-License-Identifier: BSD-3-Clause
"""Builds trees for multicasts and reductions in switches, and computes loads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from topoloom._core import (
    Allocation,
    Error,
    Machine,
    SpanningTree,
    spanning_trees,
    tree_kinds,
    tree_loads,
)
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.plain_text import is_number

if TYPE_CHECKING:
    from topoloom.documents.collectives import TreeLoadFields, TreesDocument


@dataclass(frozen=True)
class TreeLoads:
    """Link and switch loads of all trees of one kind."""

    trees: int
    links_a_tree: float  # average number of links per tree
    depth: int
    most_a_link: float  # messages on the busiest link if each root sends one
    most_a_switch: int  # trees through the busiest switch or router
    loads_of_links: list[int]
    loads_of_switches: list[int]


@dataclass(frozen=True)
class MulticastTrees:
    """Trees from the same roots to the same members, by kind of tree."""

    machine: Machine
    roots: list[int]
    members: int
    trees: dict[str, TreeLoads]
    groups: list[tuple[int, list[int]]]  # root and members of each tree

    def document(self) -> TreesDocument:
        """Return the fields of the ``--json`` output."""
        trees = {
            kind: cast("TreeLoadFields", vars(loads))
            for kind, loads in self.trees.items()
        }
        return {
            "machine": self.machine.text,
            "roots": self.roots,
            "members": self.members,
            "trees": trees,
        }


def build_trees(
    allocation: Allocation,
    roots: str = "1",
    members: int | None = None,
    seed: int = 1,
) -> MulticastTrees:
    """Build the trees of every kind that the machine supports.

    `roots` are positions in the allocation, such as ``0-3,8``, or the number of equally
    spaced roots. Each tree has `members` randomly drawn nodes, by default all nodes.
    """
    machine, nodes = allocation.machine, allocation.nodes.tolist()
    if members is not None:
        check_int64("members", members, 1)
        if members > len(nodes):
            raise ParameterError(
                "members",
                f"must be at most the {len(nodes)} nodes of the allocation, not "
                f"{members}",
            )
    chosen = [nodes[position] for position in _parse_roots(roots, len(nodes))]
    multicasts = [
        (root, nodes if members is None else random.Random(draw).sample(nodes, members))
        for draw, root in enumerate(chosen, seed)
    ]
    return MulticastTrees(
        machine,
        chosen,
        members or len(nodes),
        {
            kind: _compute_tree_loads(machine, kind, multicasts)
            for kind in tree_kinds(machine)
        },
        multicasts,
    )


def _parse_roots(roots: str, nodes: int) -> Sequence[int]:
    if not is_number(roots):
        return expand_ranges(roots, nodes)
    count = int(roots)
    if not 1 <= count <= nodes:
        raise ParameterError("roots", f"must be 1 to {nodes}, not {roots}")
    return [i * nodes // count for i in range(count)]


def _compute_tree_loads(
    machine: Machine, kind: str, multicasts: Sequence[tuple[int, list[int]]]
) -> TreeLoads:
    trees = spanning_trees(machine, kind, multicasts)
    if not trees:
        raise Error(f"{machine.text} has no links, which trees require")
    share = len(multicasts) / len(trees)
    on_link, on_vertex = tree_loads(machine, trees)
    # Skip host links of fat trees: they carry the same messages in every tree.
    first = machine.node_count if "least-loaded" in tree_kinds(machine) else 0
    between = [
        load
        for link, load in enumerate(on_link)
        if min(machine.link_ends(link)) >= first
    ]
    switches = on_vertex[first:]
    return TreeLoads(
        trees=len(trees),
        links_a_tree=sum(len(tree.links) for tree in trees) / len(trees),
        depth=max(_compute_depth(machine, tree) for tree in trees),
        most_a_link=max(between, default=0) * share,
        most_a_switch=max(switches, default=0),
        loads_of_links=on_link,
        loads_of_switches=switches,
    )


def _compute_depth(machine: Machine, tree: SpanningTree) -> int:
    depth: dict[int, int] = {}
    for link in tree.links.tolist():
        start, end = machine.link_ends(link)
        depth[end] = depth.get(start, 0) + 1
    return max(depth.values(), default=0)
