# SPDX-License-Identifier: BSD-3-Clause
"""Who sends how much to whom: collectives as messages between ranks.

Data is spread evenly over the channels; a channel's piece goes around its ring, or up
and down its tree. Operations that NCCL does not have are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.nccl.channels import double_binary_tree, ring, tree
from topoloom.nccl.communicator import Communicator
from topoloom.nccl.exchange import relays, rounds
from topoloom.support.nearest import unknown_name

Ints = NDArray[np.int64]

#: How an all-reduce may be done; other collectives have one way.
ALGORITHMS = ("ring", "tree", "nvls")

#: PyTorch's barrier is an all-reduce of one element.
_BARRIER_BYTES = 4
#: An exchange makes size * (size - 1) messages, nearly twice as many with relays.
MAX_PAIRS = 2 * 10**7


class Sent(NamedTuple):
    """Messages, as int64 arrays; a pair of ranks may occur several times."""

    source: Ints
    target: Ints
    bytes: Ints
    messages: Ints


class _Rows:
    """Rows of messages that are put together."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []

    def add(self, source: int, target: int, bytes: int, messages: int = 1) -> None:
        if source != target:
            self._rows.append((source, target, bytes, messages))

    def sent(self) -> Sent:
        table = np.array(self._rows, np.int64).reshape(-1, 4)
        return Sent(*(np.ascontiguousarray(column) for column in table.T))


def expand(
    group: Communicator,
    operation: str,
    bytes: int,
    root: int = 0,
    algorithm: str = "ring",
) -> Sent:
    """Give the messages of one collective.

    Parameters
    ----------
    group
        Ranks 0 to ``group.ranks - 1`` by node.
    operation
        As a profile names them: ``allreduce``, ``bcast``, ...
    bytes
        The message (bcast, reduce, allreduce), one rank's block (gather, scatter,
        allgather, alltoall), or all ranks' blocks (allgatherv, reduce_scatter).
    root
        For bcast, reduce, gather and scatter.
    algorithm
        For allreduce, from `ALGORITHMS`. ``nvls`` sums in the NVSwitch: every rank
        hands a share of its data to each head of its node, heads exchange sums along
        trees, and each hands its share back. The switch carries a share once, however
        many ranks it comes from or goes to.

    Raises
    ------
    topoloom.Error
        For an operation that NCCL does not have, an unknown algorithm, impossible
        numbers, and exchanges of too many ranks.
    """
    if bytes < 0 or not 0 <= root < group.ranks:
        raise Error(
            f"no {operation} with {group.ranks} ranks, {bytes} bytes and root {root}"
        )
    if algorithm not in ALGORITHMS:
        raise Error(unknown_name("algorithm of NCCL", algorithm, ALGORITHMS))
    rows = _Rows()
    if group.ranks == 1:
        return rows.sent()
    if operation == "barrier":
        operation, bytes = "allreduce", _BARRIER_BYTES
    if operation == "allreduce":
        _ALL_REDUCE[algorithm](rows, group, bytes)
    elif operation in ("allgather", "allgatherv", "reduce_scatter"):
        in_all = bytes * (group.ranks if operation == "allgather" else 1)
        _blocks_around(rows, group, in_all, gather=operation != "reduce_scatter")
    elif operation in ("bcast", "reduce"):
        _along_rings(rows, group, bytes, root, away=operation == "bcast")
    elif operation in ("alltoall", "gather", "scatter"):
        return _pairs(group, operation, bytes, root)
    else:
        raise Error(
            f"NCCL has no {operation}; messages of MPI programs follow the schedules "
            "of MPI libraries"
        )
    return rows.sent()


def _pieces(bytes: int, count: int) -> list[int]:
    """Split bytes evenly: pieces differ by 1 at most, the longest first."""
    return [bytes // count + (number < bytes % count) for number in range(count)]


def _blocks_around(
    rows: _Rows, group: Communicator, bytes: int, *, gather: bool
) -> None:
    """All blocks but one pass every step of the ring.

    A gather leaves out the next rank's block, which comes from there; a reduction
    the own one, whose sum ends here.
    """
    for channel, share in enumerate(_pieces(bytes, group.channels)):
        ranks, pieces = ring(group, channel), _pieces(share, group.ranks)
        for place, rank in enumerate(ranks):
            following = ranks[(place + 1) % len(ranks)]
            kept = pieces[following if gather else rank]
            rows.add(rank, following, share - kept, len(ranks) - 1)


def _ring_all_reduce(rows: _Rows, group: Communicator, bytes: int) -> None:
    _blocks_around(rows, group, bytes, gather=False)
    _blocks_around(rows, group, bytes, gather=True)


def _tree_all_reduce(rows: _Rows, group: Communicator, bytes: int) -> None:
    for channel, share in enumerate(_pieces(bytes, group.channels)):
        for rank, above in enumerate(tree(group, channel).up):
            if above >= 0:
                rows.add(rank, above, share)
                rows.add(above, rank, share)


def _switch_all_reduce(rows: _Rows, group: Communicator, bytes: int) -> None:
    heads = min(len(ranks) for ranks in group.nodes)
    twins = double_binary_tree(len(group.nodes))
    for head, share in enumerate(_pieces(bytes, heads)):
        for ranks in group.nodes:
            for rank in ranks:
                rows.add(rank, ranks[head], share)
                rows.add(ranks[head], rank, share)
        for twin, half in zip(twins, _pieces(share, 2), strict=True):
            for node, place in enumerate(twin):
                if place.parent is not None:
                    own = group.nodes[node][head]
                    above = group.nodes[place.parent][head]
                    rows.add(own, above, half)
                    rows.add(above, own, half)


def _along_rings(
    rows: _Rows, group: Communicator, bytes: int, root: int, *, away: bool
) -> None:
    """Send data around once: from the root, or to it."""
    for channel, share in enumerate(_pieces(bytes, group.channels)):
        ranks = ring(group, channel)
        start = ranks.index(root) + (not away)
        order = ranks[start:] + ranks[:start]
        for source, target in pairwise(order):
            rows.add(source, target, share)


def _pairs(group: Communicator, operation: str, bytes: int, root: int) -> Sent:
    everyone = np.arange(group.ranks)
    if operation == "alltoall" and group.ranks * (group.ranks - 1) > MAX_PAIRS:
        raise Error(
            f"an exchange between all of {group.ranks} ranks is too many messages to "
            "expand; take fewer ranks, or keep or drop the collectives of a trace"
        )
    source = np.array([root]) if operation == "scatter" else everyone
    target = np.array([root]) if operation == "gather" else everyone
    source, target = (part.ravel() for part in np.meshgrid(source, target))
    return _relayed(group, source, target, bytes)


def exchange_rounds(group: Communicator, bytes: int) -> list[Sent]:
    """Give the messages of each round of an all-to-all of blocks of these bytes."""
    ranks = np.arange(group.ranks)
    return [
        _relayed(group, ranks, np.array([meeting.to for meeting in meetings]), bytes)
        for meetings in rounds(group)[1:]
    ]


def _relayed(group: Communicator, source: Ints, target: Ints, bytes: int) -> Sent:
    via = relays(group, source, target)
    first, last = source != via, via != target
    senders = np.concatenate([source[first], via[last]])
    receivers = np.concatenate([via[first], target[last]])
    ones = np.ones(len(senders), np.int64)
    return Sent(senders, receivers, ones * bytes, ones)


_ALL_REDUCE: dict[str, Callable[[_Rows, Communicator, int], None]] = {
    "ring": _ring_all_reduce,
    "tree": _tree_all_reduce,
    "nvls": _switch_all_reduce,
}
