# SPDX-License-Identifier: BSD-3-Clause
"""Fujitsu's PJM: ``pjm --mpi rank-map-bynode=YXZ``, from its manual.

``rank-map-bychip`` fills a node before the next one, ``rank-map-bynode`` deals ranks to
nodes in turn. The letters are the axes of the job's shape, the first one fastest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from topoloom.launch.orders.launch_options import LaunchOrderRules, read_count
from topoloom.launch.orders.node_cores import (
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
)
from topoloom.launch.rank_blocks import count_ranks_in_turn, deal_blocks

_BY_CHIP, _BY_NODE = "rank-map-bychip", "rank-map-bynode"
_ITEM = re.compile(r"([a-z-]+)(?:[=:](.*))?")
AXES = "XYZ"


class PjmOrder(NamedTuple):
    """The options of a PJM job that place ranks."""

    by_node: bool
    ranks_per_node: int | None

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        each = self.ranks_per_node or -(-ranks // len(nodes))
        room = [min(each, len(node.cores)) for node in nodes]
        check_room(ranks, room)
        if self.by_node:
            rows = deal_blocks(count_ranks_in_turn(room, ranks), 1)
        else:
            counts: list[int] = []
            for most in room:
                counts.append(min(most, ranks - sum(counts)))
            rows = deal_blocks(counts, ranks)
        placed = {
            rank: RankCores(number, (nodes[number].cores[i],))
            for number, row in enumerate(rows)
            for i, rank in enumerate(row)
        }
        return [placed[rank] for rank in range(ranks)]


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read ``--mpi`` options, or their items alone, and ``-n``."""
    items: list[str] = []
    ranks: int | None = None
    rest = iter(words[1:])
    for word in rest:
        if word in ("-n", "-np"):
            ranks = read_count(next(rest, ""), word)
        elif word.startswith("-") and not word.startswith("--mpi"):
            raise LaunchError(f"'{word}' of {words[0]} is not supported")
        else:
            items += word.removeprefix("--mpi").lstrip("=").split(",")
    by_node, axes, most = False, AXES, None
    for item in filter(None, items):
        match = _ITEM.fullmatch(item)
        name, value = match.groups() if match else ("", None)
        if name in (_BY_CHIP, _BY_NODE):
            by_node, axes = name == _BY_NODE, _read_axes(value, item)
        elif name == "max-proc-per-node":
            most = read_count(value or "", item)
        elif name == "proc":
            ranks = read_count(value or "", item)
        elif name == "rank-map-hostfile":
            raise LaunchError(
                f"'{item}' reads the placement from a file; judge it with 'topoloom "
                "judge GRAPH FILE', or pass it to --placement"
            )
        else:
            raise LaunchError(
                f"'{item}': expected {_BY_CHIP}, {_BY_NODE}, max-proc-per-node=N or "
                "proc=N"
            )
    order = PjmOrder(by_node, most)
    return LaunchOrderRules(ranks, 1, order.place, axes)


def _read_axes(value: str | None, item: str) -> str:
    axes = (value or AXES).upper()
    if sorted(axes) not in (sorted("X"), sorted("XY"), sorted(AXES)):
        raise LaunchError(f"'{item}': expected the axes of the job, such as XY or ZYX")
    return axes
