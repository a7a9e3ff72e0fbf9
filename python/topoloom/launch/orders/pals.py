# SPDX-License-Identifier: BSD-3-Clause
"""HPE's PALS: ``mpiexec --ppn 8 --depth 4 --cpu-bind depth``, from its documentation.

Nodes get ``--ppn`` consecutive ranks each. A CPU of ``--depth`` is a core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom.launch.command_line import LauncherSyntax, split_names
from topoloom.launch.orders.launch_options import LaunchOrderRules, read_options
from topoloom.launch.orders.node_cores import (
    NUMA,
    PACKAGE,
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
    take_cores,
)

SYNTAX = LauncherSyntax(
    values=dict.fromkeys(
        split_names(
            "n np ntasks ppn d depth cpu-bind mem-bind hosts hostlist hostfile env "
            "wdir rlimits label-format exclusive-file"
        ),
        1,
    ),
    flags=frozenset(split_names("l label envall envnone line-buffer exclusive shared")),
    ranks=frozenset({"n", "np", "ntasks"}),
)
_REFUSED = frozenset({"hosts", "hostlist", "hostfile"})
#: Bindings to resources, to which the ranks of a node are dealt in turn.
_DEALT = {"numa": NUMA, "socket": PACKAGE}
_IN_ORDER = ("depth", "core", "none")


class PalsOrder(NamedTuple):
    """The options of mpiexec that place ranks."""

    ranks_per_node: int
    depth: int
    resource: str | None

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        room = [self.ranks_per_node] * len(nodes)
        check_room(ranks, room)
        placed: list[RankCores] = []
        for number, node in enumerate(nodes):
            free = list(node.cores)
            parts = node.split(self.resource) if self.resource else [node.cores]
            for i in range(min(self.ranks_per_node, ranks - len(placed))):
                cores = take_cores(free, parts[i % len(parts)], self.depth)
                if len(cores) < self.depth:
                    raise LaunchError(
                        f"puts {self.ranks_per_node} ranks of {self.depth} cores on a "
                        f"node of {len(node.cores)}"
                    )
                placed.append(RankCores(number, cores))
        return placed


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of an mpiexec command."""
    read = read_options(words, SYNTAX, _REFUSED)
    most = read.find_count("ppn")
    if most is None:
        raise LaunchError("needs --ppn, the number of ranks on each node")
    depth = read.find_count("d", "depth") or 1
    bind = read.find("cpu-bind")
    name = bind.values[0].lower() if bind else "none"
    if bind and name not in (*_IN_ORDER, *_DEALT):
        raise LaunchError(
            f"'{bind.text}': expected {', '.join(_IN_ORDER)} or {' or '.join(_DEALT)}"
        )
    order = PalsOrder(most, depth, _DEALT.get(name))
    return LaunchOrderRules(read.ranks, depth, order.place)
