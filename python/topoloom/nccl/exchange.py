# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of pairs: all-to-all, gather and scatter, which NCCL splits into messages.

Ranks meet in rounds. Groups of up to eight GPUs of a node meet group by group, by
steps 0, 1, 3, 6, 10, ...: quadratic ones, so that no two groups send to the same one
at a time and one slow node does not hold up the next rounds. Within a pair of groups
GPU i sends to i, i + 1, i + 2, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.nccl.communicator import Communicator

Ints = NDArray[np.int64]

#: GPUs of a node that meet others together, at most.
GROUP = 8


class Meeting(NamedTuple):
    """Whom a rank sends to and receives from in a round."""

    to: int
    source: int


def rounds(group: Communicator) -> list[list[Meeting]]:
    """Give each round's meeting of every rank; in the first, ranks meet themselves."""
    size = _group_size(group)
    groups = [
        ranks[first : first + size]
        for ranks in group.nodes
        for first in range(0, len(ranks), size)
    ]
    count = len(groups)
    found = []
    for step in _steps(count):
        for delta in range(size):
            meetings = [Meeting(0, 0)] * group.ranks
            for number, ranks in enumerate(groups):
                ahead = groups[(number + step) % count]
                behind = groups[(number - step) % count]
                for place, rank in enumerate(ranks):
                    meetings[rank] = Meeting(
                        ahead[(place + delta) % size], behind[(place - delta) % size]
                    )
            found.append(meetings)
    return found


def relays(group: Communicator, source: Ints, target: Ints) -> Ints:
    """Give the rank that each message passes on its way; its source if none.

    From node to node, a message leaves by the NIC of the GPU that has the target's
    place in its node, so that messages to one target travel together and on one rail
    (PXN); that GPU gets it over NVLink. Nodes without such a place send directly.
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


def _group_size(group: Communicator) -> int:
    sizes = [len(ranks) for ranks in group.nodes]
    return max(sizes) if len(sizes) == 1 else gcd(GROUP, *sizes)


def _steps(count: int) -> Iterator[int]:
    """Visit each number below `count` once, by triangular numbers modulo 2^k."""
    power = 1 << (count - 1).bit_length()
    step = 0
    for number in range(power):
        step = (step + number) % power
        if step < count:
            yield step
