# SPDX-License-Identifier: BSD-3-Clause
"""Order and routes of point-to-point messages in alltoall, gather and scatter.

NCCL exchanges messages in rounds, between groups of up to eight GPUs of a node. In the
rounds, each group sends to the group at distance 0, 1, 3, 6, 10, ... from it. Thus no
two groups send to the same group, and a slow node does not delay the next rounds.
Within a pair of groups, GPU i sends to i, i + 1, i + 2, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.nccl.communicator import Communicator

Ints = NDArray[np.int64]

#: Maximum number of GPUs in a group.
GROUP = 8


class RoundPartners(NamedTuple):
    """The ranks to which a rank sends, and from which it receives, in a round."""

    target: int
    source: int


def plan_rounds(group: Communicator) -> list[list[RoundPartners]]:
    """List each round's partners of all ranks; in round 0, ranks send to themselves."""
    size = _compute_group_size(group)
    groups = [
        ranks[first : first + size]
        for ranks in group.nodes
        for first in range(0, len(ranks), size)
    ]
    count = len(groups)
    found = []
    for step in _yield_quadratic_steps(count):
        for delta in range(size):
            partners = [RoundPartners(0, 0)] * group.ranks
            for number, ranks in enumerate(groups):
                ahead = groups[(number + step) % count]
                behind = groups[(number - step) % count]
                for place, rank in enumerate(ranks):
                    partners[rank] = RoundPartners(
                        ahead[(place + delta) % size], behind[(place - delta) % size]
                    )
            found.append(partners)
    return found


def find_relays(group: Communicator, source: Ints, target: Ints) -> Ints:
    """Find the rank that relays each message; this is the source if it sends directly.

    Between nodes, the GPU with the target's node-local index relays a message, so that
    messages to one target share one rail (PXN). The relay receives the message over
    NVLink. Nodes without a GPU of this index send directly.
    """
    most = max(map(len, group.nodes))
    at = np.full((len(group.nodes), most), -1, np.int64)
    node, place = np.zeros((2, group.ranks), np.int64)
    for number, ranks in enumerate(group.nodes):
        at[number, : len(ranks)] = ranks
        node[list(ranks)] = number
        place[list(ranks)] = np.arange(len(ranks))
    via = at[node[source], place[target]]
    return np.where((node[source] == node[target]) | (via < 0), source, via)


def _compute_group_size(group: Communicator) -> int:
    sizes = [len(ranks) for ranks in group.nodes]
    return max(sizes) if len(sizes) == 1 else gcd(GROUP, *sizes)


def _yield_quadratic_steps(count: int) -> Iterator[int]:
    """Yield the numbers below `count` in the order of triangular numbers modulo 2^k."""
    power = 1 << (count - 1).bit_length()
    step = 0
    for number in range(power):
        step = (step + number) % power
        if step < count:
            yield step
