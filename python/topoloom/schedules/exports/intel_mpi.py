# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's variables: numbers of algorithms, by bytes, for a shell.

Conditions may also name numbers of ranks, but where one does, Intel MPI forgets the
sizes: of all rules for the same ranks it keeps the last (2021.12 and 2021.18, by their
messages). So the rules are those of the ranks that are asked for, whoever calls.

Source: Intel MPI Library 2021 Developer Reference for Linux, "I_MPI_ADJUST Family
Environment Variables".
"""

from __future__ import annotations

from collections.abc import Iterator

from topoloom.schedules.exports.asked import Asked
from topoloom.schedules.exports.counterparts import (
    Counterpart,
    Function,
    Span,
    choose_for,
)

NAME = "intel-mpi"
SUMMARY = "Intel MPI: variables I_MPI_ADJUST_..., for a shell"
USE = ". FILE && mpirun ./app"

#: Intel MPI wants an end of every range.
_MOST = 2**31 - 1

_ALL_GATHER = (
    Counterpart("2", "bruck"),
    Counterpart("1", "recursive-doubling", True),
    Counterpart("3", "ring"),
)
TABLE = {
    "all-gather": (
        Function("ALLGATHER", False, _ALL_GATHER),
        Function("ALLGATHERV", False, _ALL_GATHER),
    ),
    "all-reduce": (
        Function(
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
        Function(
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
    "barrier": (Function("BARRIER", False, (Counterpart("1", "dissemination"),)),),
    "broadcast": (
        Function(
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
    "gather": (Function("GATHER", False, (Counterpart("1", "binomial"),)),),
    "reduce": (
        Function(
            "REDUCE",
            False,
            (
                Counterpart("2", "binomial"),
                Counterpart("5", "halving(order=near,cut=last)", True),
            ),
        ),
    ),
    "reduce-scatter": (
        Function(
            "REDUCE_SCATTER",
            True,
            (Counterpart("1", "halving(fold=even)"), Counterpart("2", "cyclic")),
        ),
    ),
    "scatter": (Function("SCATTER", False, (Counterpart("1", "binomial"),)),),
}


def write(*asked: Asked) -> str:
    """Write a variable for every function that does what is asked."""
    return write_choices(choose_for(asked, TABLE, NAME))


def write_choices(functions: list[tuple[Function, list[Span]]]) -> str:
    """Write the variable of every function, by its last span."""
    lines = []
    for function, spans in functions:
        rules = ";".join(_rules(spans[-1]))
        lines.append(f'export I_MPI_ADJUST_{function.name}="{rules}"')
    return "\n".join(lines) + "\n"


def _rules(span: Span) -> Iterator[str]:
    choices = [choice for choice in span.choices if choice.bytes <= _MOST]
    ends = [choice.bytes - 1 for choice in choices[1:]] + [_MOST]
    for choice, end in zip(choices, ends, strict=True):
        yield f"{choice.algorithm}:{choice.bytes}-{end}"
