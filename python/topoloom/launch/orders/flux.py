# SPDX-License-Identifier: BSD-3-Clause
"""Flux: ``flux run -N 4 -n 16 -c 2 --taskmap=cyclic -o cpu-affinity=per-task``.

Ranks are dealt to nodes one at a time, or ``--tasks-per-node`` each, so that counts are
even. ``--taskmap`` numbers them. Ranks use the cores of their node in order.

Source: rcalc.c of the shell of flux-core, and RFC 34.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topoloom.launch.launchers.flux import SYNTAX
from topoloom.launch.orders.launch_options import (
    LaunchOptions,
    LaunchOrderRules,
    read_count,
    read_options,
)
from topoloom.launch.orders.node_cores import (
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
)
from topoloom.launch.rank_blocks import count_ranks_in_turn, deal_blocks
from topoloom.support.units import counted

_REFUSED = frozenset({"requires", "tasks-per-core", "cores", "nslots"})


class FluxOrder(NamedTuple):
    """The options of flux run that place ranks; `block` is of ``--taskmap``."""

    node_count: int
    most_per_node: int | None
    cores_per_rank: int
    block: int | None

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        if self.node_count > len(nodes):
            raise LaunchError(
                f"needs {counted(self.node_count, 'node')} for -N, but the job has "
                f"{counted(len(nodes), 'node')}"
            )
        each = self.cores_per_rank
        nodes = nodes[: self.node_count]
        room = [len(node.cores) // each for node in nodes]
        if self.most_per_node is not None:
            room = [min(most, self.most_per_node) for most in room]
        check_room(ranks, room)
        rows = deal_blocks(count_ranks_in_turn(room, ranks), self.block or ranks)
        placed: dict[int, RankCores] = {}
        for number, row in enumerate(rows):
            cores = nodes[number].cores
            for i, rank in enumerate(row):
                placed[rank] = RankCores(number, cores[i * each : (i + 1) * each])
        return [placed[rank] for rank in range(ranks)]


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of a flux run command."""
    read = read_options(words, SYNTAX, _REFUSED)
    nodes = read.find_count("N", "nodes")
    if nodes is None:
        raise LaunchError(
            "needs -N, the number of nodes: without it, Flux's scheduler decides how "
            "many ranks a node gets"
        )
    each = read.find_count("tasks-per-node")
    cores = read.find_count("c", "cores-per-task") or 1
    order = FluxOrder(nodes, each, cores, _read_block(read))
    ranks = read.ranks or (nodes * each if each else None)
    return LaunchOrderRules(ranks, cores, order.place)


def _read_block(read: LaunchOptions) -> int | None:
    """Return the block of ranks that a node gets at a time; None for all."""
    option = read.find("taskmap")
    if option is None or option.values[0] == "block":
        return None
    name, _, size = option.values[0].partition(":")
    if name != "cyclic":
        raise LaunchError(
            f"'{option.text}': expected block, cyclic or cyclic:N; judge the hosts of "
            "a file with 'topoloom judge GRAPH FILE'"
        )
    return read_count(size, option.text) if size else 1
