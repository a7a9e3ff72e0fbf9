# SPDX-License-Identifier: BSD-3-Clause
"""Expands NCCL's collectives into messages between ranks.

Data is split evenly over channels; a channel's share travels around its ring, or up and
down its tree. Operations that NCCL lacks raise `topoloom.Error`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.nccl.channels import make_double_binary_tree, make_ring, make_tree
from topoloom.nccl.communicator import Communicator
from topoloom.nccl.exchange import find_relays, plan_rounds
from topoloom.support.name_lookup import describe_unknown_name

Ints = NDArray[np.int64]

#: Algorithms of allreduce; other collectives have one algorithm.
ALGORITHMS = ("ring", "tree", "nvls")

#: Bytes of PyTorch's barrier, an allreduce of one element.
_BARRIER_BYTES = 4
#: Maximum number of rank pairs in an alltoall; relays nearly double the messages.
MAX_PAIRS = 2 * 10**7


class Messages(NamedTuple):
    """A table of messages, in which a pair of ranks can occur several times."""

    source: Ints
    target: Ints
    bytes: Ints
    messages: Ints


class _MessageTable:
    """Collects messages between different ranks."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []

    def add(self, source: int, target: int, bytes: int, messages: int = 1) -> None:
        if source != target:
            self._rows.append((source, target, bytes, messages))

    def messages(self) -> Messages:
        table = np.array(self._rows, np.int64).reshape(-1, 4)
        return Messages(*(np.ascontiguousarray(column) for column in table.T))


def expand_collective(
    group: Communicator,
    operation: str,
    bytes: int,
    root: int = 0,
    algorithm: str = "ring",
) -> Messages:
    """Expand a collective of NCCL into messages.

    Parameters
    ----------
    group
        Communicator with ranks 0 to ``group.ranks - 1``.
    operation
        Name as in profiles: ``allreduce``, ``bcast``, ...
    bytes
        Bytes of the message (bcast, reduce, allreduce), of one rank's block (gather,
        scatter, allgather, alltoall), or of all blocks (allgatherv, reduce_scatter).
    root
        Root rank of bcast, reduce, gather and scatter.
    algorithm
        Algorithm of allreduce, from `ALGORITHMS`. With ``nvls``, the NVSwitch reduces:
        every rank sends a share of its data to each head rank of its node. Heads
        combine the sums along trees and send the results back. Each share crosses the
        switch once, however many ranks send or receive it.

    Raises
    ------
    topoloom.Error
        If NCCL lacks the operation or the algorithm, a number is invalid, or an
        alltoall has too many ranks.
    """
    if bytes < 0 or not 0 <= root < group.ranks:
        raise Error(
            f"no {operation} with {group.ranks} ranks, {bytes} bytes and root {root}"
        )
    if algorithm not in ALGORITHMS:
        raise Error(describe_unknown_name("algorithm of NCCL", algorithm, ALGORITHMS))
    rows = _MessageTable()
    if group.ranks == 1:
        return rows.messages()
    if operation == "barrier":
        operation, bytes = "allreduce", _BARRIER_BYTES
    if operation == "allreduce":
        _ALLREDUCE[algorithm](rows, group, bytes)
    elif operation in ("allgather", "allgatherv", "reduce_scatter"):
        in_all = bytes * (group.ranks if operation == "allgather" else 1)
        _add_ring_blocks(rows, group, in_all, gather=operation != "reduce_scatter")
    elif operation in ("bcast", "reduce"):
        _add_ring_rooted(rows, group, bytes, root, away=operation == "bcast")
    elif operation in ("alltoall", "gather", "scatter"):
        return _expand_direct_messages(group, operation, bytes, root)
    else:
        raise Error(
            f"NCCL has no {operation}; messages of MPI programs follow the schedules "
            "of MPI libraries"
        )
    return rows.messages()


def _split_evenly(bytes: int, count: int) -> list[int]:
    """Split bytes into pieces that differ by at most 1 byte, larger pieces first."""
    return [bytes // count + (number < bytes % count) for number in range(count)]


def _add_ring_blocks(
    rows: _MessageTable, group: Communicator, bytes: int, *, gather: bool
) -> None:
    """Add the messages of a ring, in which every link carries all blocks except one.

    A gather omits the next rank's block, because this block starts there; a reduction
    omits the sender's own block, because its sum ends at the sender.
    """
    for channel, share in enumerate(_split_evenly(bytes, group.channels)):
        ranks, pieces = make_ring(group, channel), _split_evenly(share, group.ranks)
        for place, rank in enumerate(ranks):
            following = ranks[(place + 1) % len(ranks)]
            kept = pieces[following if gather else rank]
            rows.add(rank, following, share - kept, len(ranks) - 1)


def _add_ring_allreduce(rows: _MessageTable, group: Communicator, bytes: int) -> None:
    _add_ring_blocks(rows, group, bytes, gather=False)
    _add_ring_blocks(rows, group, bytes, gather=True)


def _add_tree_allreduce(rows: _MessageTable, group: Communicator, bytes: int) -> None:
    for channel, share in enumerate(_split_evenly(bytes, group.channels)):
        for rank, above in enumerate(make_tree(group, channel).up):
            if above >= 0:
                rows.add(rank, above, share)
                rows.add(above, rank, share)


def _add_switch_allreduce(rows: _MessageTable, group: Communicator, bytes: int) -> None:
    heads = min(len(ranks) for ranks in group.nodes)
    trees = make_double_binary_tree(len(group.nodes))
    for head, share in enumerate(_split_evenly(bytes, heads)):
        for ranks in group.nodes:
            for rank in ranks:
                rows.add(rank, ranks[head], share)
                rows.add(ranks[head], rank, share)
        for tree, half in zip(trees, _split_evenly(share, 2), strict=True):
            for node, place in enumerate(tree):
                if place.parent is not None:
                    own = group.nodes[node][head]
                    above = group.nodes[place.parent][head]
                    rows.add(own, above, half)
                    rows.add(above, own, half)


def _add_ring_rooted(
    rows: _MessageTable, group: Communicator, bytes: int, root: int, *, away: bool
) -> None:
    """Add the messages of a chain around the ring, from the root or to the root."""
    for channel, share in enumerate(_split_evenly(bytes, group.channels)):
        ranks = make_ring(group, channel)
        start = ranks.index(root) + (not away)
        order = ranks[start:] + ranks[:start]
        for source, target in pairwise(order):
            rows.add(source, target, share)


def _expand_direct_messages(
    group: Communicator, operation: str, bytes: int, root: int
) -> Messages:
    everyone = np.arange(group.ranks)
    if operation == "alltoall" and group.ranks * (group.ranks - 1) > MAX_PAIRS:
        raise Error(
            f"an alltoall of {group.ranks} ranks has too many messages to expand; "
            "choose fewer ranks, or keep or drop the collectives of a trace"
        )
    source = np.array([root]) if operation == "scatter" else everyone
    target = np.array([root]) if operation == "gather" else everyone
    source, target = (part.ravel() for part in np.meshgrid(source, target))
    return _route_by_relays(group, source, target, bytes)


def exchange_rounds(group: Communicator, bytes: int) -> list[Messages]:
    """For each round of an alltoall with blocks of `bytes`, list the messages."""
    ranks = np.arange(group.ranks)
    return [
        _route_by_relays(
            group, ranks, np.array([partner.target for partner in partners]), bytes
        )
        for partners in plan_rounds(group)[1:]
    ]


def _route_by_relays(
    group: Communicator, source: Ints, target: Ints, bytes: int
) -> Messages:
    via = find_relays(group, source, target)
    first, last = source != via, via != target
    senders = np.concatenate([source[first], via[last]])
    receivers = np.concatenate([via[first], target[last]])
    ones = np.ones(len(senders), np.int64)
    return Messages(senders, receivers, ones * bytes, ones)


_ALLREDUCE: dict[str, Callable[[_MessageTable, Communicator, int], None]] = {
    "ring": _add_ring_allreduce,
    "tree": _add_tree_allreduce,
    "nvls": _add_switch_allreduce,
}
