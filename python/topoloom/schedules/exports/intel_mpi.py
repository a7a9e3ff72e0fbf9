# SPDX-License-Identifier: BSD-3-Clause
"""Writes a shell script that sets Intel MPI's algorithm variables by message size.

The rules contain no rank counts, so they apply to any communicator. With rank counts,
Intel MPI would use only the last rule of each count (debug output of 2021.12 and
2021.18).

Source: Intel MPI Library 2021 Developer Reference for Linux, "I_MPI_ADJUST Family
Environment Variables".
"""

from __future__ import annotations

from collections.abc import Iterator

from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest

NAME = "intel-mpi"
USE = ". FILE && mpirun ./app"

#: Intel MPI requires that every range has an upper end.
_MAX_BYTES = 2**31 - 1

_ALLGATHER = (
    MatchingAlgorithm("2", "bruck"),
    MatchingAlgorithm("1", "recursive-doubling", True),
    MatchingAlgorithm("3", "ring"),
)
TABLE = {
    "allgather": (
        MpiFunction("ALLGATHER", False, _ALLGATHER),
        MpiFunction("ALLGATHERV", False, _ALLGATHER),
    ),
    "allreduce": (
        MpiFunction(
            "ALLREDUCE",
            False,
            (
                MatchingAlgorithm("1", "recursive-doubling(fold=even)"),
                MatchingAlgorithm("2", "halving(fold=even,order=near,cut=last)"),
                MatchingAlgorithm("8", "ring"),
            ),
        ),
    ),
    "alltoall": (
        MpiFunction(
            "ALLTOALL",
            False,
            (
                MatchingAlgorithm("1", "bruck"),
                MatchingAlgorithm("2", "at-once"),
                MatchingAlgorithm("3", "pairwise", True),
                MatchingAlgorithm("3", "cyclic", False),
            ),
        ),
    ),
    "barrier": (
        MpiFunction("BARRIER", False, (MatchingAlgorithm("1", "dissemination"),)),
    ),
    "bcast": (
        MpiFunction(
            "BCAST",
            False,
            (
                MatchingAlgorithm("1", "binomial"),
                MatchingAlgorithm(
                    "2", "scatter-allgather(gather=doubling,cut=rounded-up)", True
                ),
                MatchingAlgorithm("3", "scatter-allgather(gather=ring,cut=rounded-up)"),
            ),
        ),
    ),
    "gather": (MpiFunction("GATHER", False, (MatchingAlgorithm("1", "binomial"),)),),
    "reduce": (
        MpiFunction(
            "REDUCE",
            False,
            (
                MatchingAlgorithm("2", "binomial"),
                MatchingAlgorithm("5", "halving(order=near,cut=last)", True),
            ),
        ),
    ),
    "reduce_scatter": (
        MpiFunction(
            "REDUCE_SCATTER",
            True,
            (
                MatchingAlgorithm("1", "halving(fold=even)"),
                MatchingAlgorithm("2", "cyclic"),
            ),
        ),
    ),
    "scatter": (MpiFunction("SCATTER", False, (MatchingAlgorithm("1", "binomial"),)),),
}


def write(*requests: ExportRequest) -> str:
    """Write one variable per MPI function of the requests."""
    return write_rules(choose_algorithms(requests, TABLE, NAME))


def write_rules(functions: list[tuple[MpiFunction, list[RankRange]]]) -> str:
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
