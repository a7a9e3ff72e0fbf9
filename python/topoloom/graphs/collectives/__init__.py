# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as the messages that an MPI library would send for them."""

from __future__ import annotations

from topoloom._core import Error
from topoloom.graphs.collectives.messages import Messages, joined
from topoloom.graphs.collectives.table import OPERATIONS, TABLE, Rule

__all__ = ["OPERATIONS", "TABLE", "Messages", "Rule", "expand", "rule_for"]


def rule_for(operation: str, size: int, bytes: int) -> Rule:
    """Find the line of the table that an operation on `size` ranks uses.

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
    rule = rule_for(operation, size, bytes)
    if size == 1:
        return joined([])
    total = bytes * size if operation == "allgather" else bytes
    parts = (algorithm(size, total, root) for algorithm in rule.algorithms)
    return joined(parts).summed()
