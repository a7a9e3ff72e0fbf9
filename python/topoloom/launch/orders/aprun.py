# SPDX-License-Identifier: BSD-3-Clause
"""Cray's aprun: ``aprun -n 64 -N 16 -d 2 -S 8 -cc depth``, from its documentation.

Nodes get ``-N`` consecutive ranks each, or as many as fit; NUMA domains get ``-S``.
A CPU of ``-d`` is a core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom.launch.command_line import LauncherSyntax, split_names
from topoloom.launch.orders.launch_options import LaunchOrderRules, read_options
from topoloom.launch.orders.node_cores import (
    NUMA,
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
)

SYNTAX = LauncherSyntax(
    values=dict.fromkeys(
        split_names(
            "n pes N pes-per-node d cpus-per-pe S pes-per-numa-node cc cpu-binding "
            "sn numa-nodes-per-node j CPUs m memory-per-pe L node-list l "
            "node-list-file a architecture D debug e environment-override F "
            "access-mode p protection-domain P pipes r specialized-cpus t "
            "cpu-time-limit cp cpu-binding-file sl numa-node-list"
        ),
        1,
    ),
    flags=frozenset(
        split_names("B batch-args b bypass-app-transfer q quiet ss T sync")
    ),
    ranks=frozenset({"n", "pes"}),
)
_REFUSED = frozenset(
    {"B", "L", "batch-args", "cp", "cpu-binding-file", "l", "node-list", "r"}
    | {"node-list-file", "numa-node-list", "numa-nodes-per-node", "sl", "sn"}
    | {"specialized-cpus"}
)
_IN_ORDER = ("cpu", "depth", "none", "numa_node")


class AprunOrder(NamedTuple):
    """The options of aprun that place ranks; limits are None if not given."""

    most_per_node: int | None
    most_per_numa: int | None
    depth: int

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        found = [self._list_rank_cores(node) for node in nodes]
        check_room(ranks, [len(of_node) for of_node in found])
        placed = [
            RankCores(number, cores)
            for number, of_node in enumerate(found)
            for cores in of_node
        ]
        return placed[:ranks]

    def _list_rank_cores(self, node: NodeCores) -> list[tuple[int, ...]]:
        """List the cores of each rank for which a node has room."""
        parts, most = [node.cores], self.most_per_numa
        if most is not None:
            parts = node.split(NUMA)
        ranks = [
            part[first : first + self.depth]
            for part in parts
            for first in range(0, len(part) - self.depth + 1, self.depth)[:most]
        ]
        return ranks[: self.most_per_node]


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of an aprun command."""
    read = read_options(words, SYNTAX, _REFUSED)
    bind = read.find("cc", "cpu-binding")
    if bind and bind.values[0] not in _IN_ORDER:
        raise LaunchError(f"'{bind.text}': expected {', '.join(_IN_ORDER)}")
    threads = read.find_count("j", "CPUs") or 1
    if threads != 1:
        raise LaunchError(f"'-j {threads}': slots are cores; only -j 1 is supported")
    depth = read.find_count("d", "cpus-per-pe") or 1
    order = AprunOrder(
        read.find_count("N", "pes-per-node"),
        read.find_count("S", "pes-per-numa-node"),
        depth,
    )
    return LaunchOrderRules(read.ranks, depth, order.place)
