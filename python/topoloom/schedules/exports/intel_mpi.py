# SPDX-License-Identifier: BSD-3-Clause
"""Writes a shell script that sets Intel MPI's algorithm variables by message size.

The rules contain no rank counts and apply to any communicator: with rank counts, Intel
MPI uses only the last rule of each count (debug output of 2021.12 and 2021.18).

Source: Intel MPI Library 2021 Developer Reference for Linux, "I_MPI_ADJUST Family
Environment Variables".
"""

from __future__ import annotations

from collections.abc import Iterator

from topoloom.schedules.exports.counterparts import (
    Counterpart,
    MpiFunction,
    RankRange,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest

NAME = "intel-mpi"
USE = ". FILE && mpirun ./app"

#: Intel MPI requires an upper end of every range.
_MAX_BYTES = 2**31 - 1

_ALL_GATHER = (
    Counterpart("2", "bruck"),
    Counterpart("1", "recursive-doubling", True),
    Counterpart("3", "ring"),
)
TABLE = {
    "all-gather": (
        MpiFunction("ALLGATHER", False, _ALL_GATHER),
        MpiFunction("ALLGATHERV", False, _ALL_GATHER),
    ),
    "all-reduce": (
        MpiFunction(
            "ALLREDUCE",
            False,
            (
                Counterpart("1", "recursive-doubling(fold=even)"),
                Counterpart("2", "halving(fold=even,order=near,cut=last)"),
                Counterpart("8", "ring"),
            ),
        ),
    ),
    "all-to-all": (
        MpiFunction(
            "ALLTOALL",
            False,
            (
                Counterpart("1", "bruck"),
                Counterpart("2", "at-once"),
                Counterpart("3", "pairwise", True),
                Counterpart("3", "cyclic", False),
            ),
        ),
    ),
    "barrier": (MpiFunction("BARRIER", False, (Counterpart("1", "dissemination"),)),),
    "broadcast": (
        MpiFunction(
            "BCAST",
            False,
            (
                Counterpart("1", "binomial"),
                Counterpart(
                    "2", "scatter-all-gather(gather=doubling,cut=rounded-up)", True
                ),
                Counterpart("3", "scatter-all-gather(gather=ring,cut=rounded-up)"),
            ),
        ),
    ),
    "gather": (MpiFunction("GATHER", False, (Counterpart("1", "binomial"),)),),
    "reduce": (
        MpiFunction(
            "REDUCE",
            False,
            (
                Counterpart("2", "binomial"),
                Counterpart("5", "halving(order=near,cut=last)", True),
            ),
        ),
    ),
    "reduce-scatter": (
        MpiFunction(
            "REDUCE_SCATTER",
            True,
            (Counterpart("1", "halving(fold=even)"), Counterpart("2", "cyclic")),
        ),
    ),
    "scatter": (MpiFunction("SCATTER", False, (Counterpart("1", "binomial"),)),),
}


def write(*requests: ExportRequest) -> str:
    """Write one variable per MPI function of the requests."""
    return write_choices(choose_algorithms(requests, TABLE, NAME))


def write_choices(functions: list[tuple[MpiFunction, list[RankRange]]]) -> str:
    """Write one variable per function, from the rules of its last rank range."""
    lines = []
    for function, spans in functions:
        rules = ";".join(_format_size_rules(spans[-1]))
        lines.append(f'export I_MPI_ADJUST_{function.name}="{rules}"')
    return "\n".join(lines) + "\n"


def _format_size_rules(span: RankRange) -> Iterator[str]:
    choices = [choice for choice in span.choices if choice.bytes <= _MAX_BYTES]
    ends = [choice.bytes - 1 for choice in choices[1:]] + [_MAX_BYTES]
    for choice, end in zip(choices, ends, strict=True):
        yield f"{choice.algorithm}:{choice.bytes}-{end}"
