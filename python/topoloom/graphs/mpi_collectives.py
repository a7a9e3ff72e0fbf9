# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as the messages that an MPI library would send for them.

A table of schedules: which one a collective uses, by size and count, as MPICH documents
it. The thresholds are MPICH's defaults (comments in ``src/mpi/coll/<operation>`` and
the variables ``MPIR_CVAR_*``; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
collective communication operations in MPICH", IJHPCA 2005). Other libraries choose
similarly, not identically; what crosses a torus depends little on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from topoloom._core import Error, Schedule
from topoloom.graphs.messages import Messages, messages

Condition = Callable[[int, int], bool]  # ranks, bytes

#: what the core calls each, in the order of the recorder's ``enum operation``
_OPERATION = {
    "barrier": "barrier",
    "bcast": "broadcast",
    "reduce": "reduce",
    "allreduce": "all-reduce",
    "gather": "gather",
    "scatter": "scatter",
    "allgather": "all-gather",
    "allgatherv": "all-gather",
    "alltoall": "all-to-all",
    "reduce_scatter": "reduce-scatter",
    "scan": "scan",
    "exscan": "exscan",
}

OPERATIONS = tuple(_OPERATION)

#: all-to-all exchanges make size * (size - 1) messages of 52 bytes of memory each
MAX_PAIRS = 5 * 10**7


class Rule(NamedTuple):
    """Use `schedule`, a name with options, where `holds`."""

    operation: str
    holds: Condition
    schedule: str


def _always(size: int, bytes: int) -> bool:
    return True


def _below(limit: int) -> Condition:
    return lambda size, bytes: bytes < limit


def _up_to(limit: int) -> Condition:
    return lambda size, bytes: bytes <= limit


def _is_power_of_two(size: int) -> bool:
    return size & (size - 1) == 0


def _power_of_two_below(limit: int) -> Condition:
    return lambda size, bytes: _is_power_of_two(size) and bytes < limit


_RABENSEIFNER = "halving(fold={},order=near,cut=last)"
_SCATTERED = "scatter-all-gather(gather={},cut=rounded-up)"

# The first rule that holds is used. `bytes` is the message (bcast, reduce, allreduce,
# scan), one rank's block (gather, scatter, alltoall), all blocks together (allgather,
# allgatherv, reduce_scatter).
TABLE = (
    Rule("barrier", _always, "dissemination"),
    Rule("bcast", lambda p, b: b < 12288 or p < 8, "binomial"),
    Rule("bcast", _power_of_two_below(524288), _SCATTERED.format("doubling")),
    Rule("bcast", _always, _SCATTERED.format("ring")),
    Rule("reduce", _up_to(2048), "binomial"),
    Rule("reduce", _always, _RABENSEIFNER.format("odd")),
    Rule("allreduce", _up_to(2048), "recursive-doubling(fold=even)"),
    Rule("allreduce", _always, _RABENSEIFNER.format("even")),
    Rule("gather", _always, "binomial"),
    Rule("scatter", _always, "binomial"),
    *(
        rule
        for operation in ("allgather", "allgatherv")
        for rule in (
            Rule(operation, _power_of_two_below(524288), "recursive-doubling"),
            Rule(
                operation, lambda p, b: b < 81920 and not _is_power_of_two(p), "bruck"
            ),
            Rule(operation, _always, "ring"),
        )
    ),
    Rule("alltoall", lambda p, b: b <= 256 and p >= 8, "bruck"),
    Rule("alltoall", _up_to(32768), "at-once"),
    Rule("alltoall", _always, "pairwise"),
    Rule("reduce_scatter", _below(524288), "halving(fold=even)"),
    Rule("reduce_scatter", _always, "pairwise"),
    Rule("scan", _always, "recursive-doubling"),
    Rule("exscan", _always, "recursive-doubling"),
)


def rule_for(operation: str, size: int, bytes: int) -> Rule:
    """Find the row of the table that an operation on `size` ranks uses.

    Raises
    ------
    topoloom.Error
        If there is no such operation.
    """
    total = bytes * size if operation == "allgather" else bytes
    for rule in TABLE:
        if rule.operation == operation and rule.holds(size, total):
            return rule
    raise Error(f"no collective '{operation}'; there are: {', '.join(OPERATIONS)}")


def expand(operation: str, size: int, bytes: int, root: int = 0) -> Messages:
    """Give the messages of one collective among ranks 0 to ``size - 1``.

    Parameters
    ----------
    operation
        A name from `OPERATIONS`.
    size
        Ranks of the communicator.
    bytes
        The message (bcast, reduce, allreduce, scan, exscan), one rank's block (gather,
        scatter, allgather, alltoall), or all ranks' blocks (allgatherv,
        reduce_scatter).
    root
        For bcast, reduce, gather and scatter.

    Raises
    ------
    topoloom.Error
        For an unknown operation or impossible numbers, and where all ranks would
        send to all and there are too many of them.
    """
    if size < 1 or bytes < 0 or not 0 <= root < size:
        raise Error(f"no {operation} with {size} ranks, {bytes} bytes and root {root}")
    return messages_by(rule_for(operation, size, bytes), size, bytes, root)


def messages_by(rule: Rule, size: int, bytes: int, root: int = 0) -> Messages:
    """Give the messages of what `expand` is asked for, but by the schedule of a rule.

    Raises
    ------
    topoloom.Error
        Where all ranks would send to all and there are too many of them.
    """
    pairs = size * (size - 1)
    if rule.schedule in ("at-once", "pairwise") and pairs > MAX_PAIRS:
        raise Error(
            f"an exchange between all of {size} ranks is {pairs} messages, "
            "too many to expand; keep or drop the collectives instead"
        )
    schedule = Schedule(
        rule.schedule,
        _OPERATION[rule.operation],
        size,
        0 if rule.operation == "barrier" else bytes,
        root,
        in_all=rule.operation in ("allgatherv", "reduce_scatter"),
    )
    graph = schedule.graph()
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(size), first[1:] - first[:-1])
    return messages(source, graph.peer, graph.bytes, graph.messages)
