# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's rules: numbers of algorithms of the component coll/tuned, by size.

A function has rules for the largest number of ranks that its communicator has, and of
those the one of the largest size that its message has. Algorithm 0 means Open MPI's own
decision. Numbers of functions and algorithms are those of Open MPI 4.1 and 5.0
(``ompi_info --param coll tuned --level 9``).
"""

from __future__ import annotations

from topoloom.schedules.exports.asked import Asked
from topoloom.schedules.exports.counterparts import (
    Choice,
    Counterpart,
    Function,
    Span,
    choose_for,
)

NAME = "open-mpi"
SUMMARY = "Open MPI: rules of its component coll/tuned"
USE = (
    "mpirun --mca coll_tuned_use_dynamic_rules 1 "
    "--mca coll_tuned_dynamic_rules_filename FILE ./app"
)

_ALL_GATHER_V = (
    Counterpart("2", "bruck"),
    Counterpart("3", "ring"),
    Counterpart("4", "neighbor-exchange"),
)
_TREE_OR_STRAIGHT = (Counterpart("2", "binomial"), Counterpart("1", "linear"))
TABLE = {
    "all-gather": (
        Function(
            "0",
            True,
            (
                Counterpart("2", "bruck"),
                Counterpart("3", "recursive-doubling", True),
                Counterpart("4", "ring"),
                Counterpart("5", "neighbor-exchange"),
            ),
        ),
        Function("1", True, _ALL_GATHER_V),
    ),
    "all-reduce": (
        Function(
            "2",
            False,
            (
                Counterpart("3", "recursive-doubling(fold=even)"),
                Counterpart("4", "ring"),
                Counterpart("6", "halving(order=near)", True),
            ),
        ),
    ),
    "all-to-all": (
        Function(
            "3",
            True,
            (
                Counterpart("1", "at-once"),
                Counterpart("2", "cyclic"),
                Counterpart("3", "bruck"),
            ),
        ),
        Function(
            "4",
            True,
            (Counterpart("1", "at-once"), Counterpart("2", "cyclic")),
            sized=False,
        ),
    ),
    "barrier": (Function("6", False, (Counterpart("4", "dissemination"),)),),
    "broadcast": (
        Function(
            "7",
            False,
            (
                Counterpart("6", "binomial"),
                Counterpart("1", "linear"),
                Counterpart("3", "chain"),
                Counterpart(
                    "8", "scatter-all-gather(gather=doubling,cut=rounded-up)", True
                ),
                Counterpart("9", "scatter-all-gather(gather=ring,cut=rounded-up)"),
            ),
        ),
    ),
    "exscan": (Function("8", False, (Counterpart("2", "recursive-doubling"),)),),
    "gather": (Function("9", True, _TREE_OR_STRAIGHT),),
    "reduce": (
        Function(
            "11",
            False,
            (
                Counterpart("5", "binomial"),
                Counterpart("1", "linear"),
                Counterpart("3", "chain"),
                Counterpart("7", "halving(order=near)", True),
            ),
        ),
    ),
    "reduce-scatter": (
        Function(
            "12",
            True,
            (Counterpart("2", "halving(fold=even)"), Counterpart("3", "ring")),
        ),
        Function("13", True, (Counterpart("3", "halving(fold=even)"),)),
    ),
    "scan": (Function("14", False, (Counterpart("2", "recursive-doubling"),)),),
    "scatter": (Function("15", True, _TREE_OR_STRAIGHT),),
}

#: Open MPI's names, for comments
FUNCTIONS = {
    "0": "allgather",
    "1": "allgatherv",
    "2": "allreduce",
    "3": "alltoall",
    "4": "alltoallv",
    "6": "barrier",
    "7": "bcast",
    "8": "exscan",
    "9": "gather",
    "11": "reduce",
    "12": "reduce_scatter",
    "13": "reduce_scatter_block",
    "14": "scan",
    "15": "scatter",
}

_OWN = [Choice(0, "0", 0)]


def write(*asked: Asked) -> str:
    """Write the rules of all functions that do what is asked."""
    return write_choices(choose_for(asked, TABLE, NAME))


def write_choices(functions: list[tuple[Function, list[Span]]]) -> str:
    """Write rules as Open MPI reads them."""
    lines = [f"{len(functions)} # functions with rules"]
    for function, spans in functions:
        rules = list(_rules(spans))
        lines += [f"{function.name} # {FUNCTIONS[function.name]}", f"{len(rules)}"]
        for ranks, choices in rules:
            lines += [f"{ranks} # ranks and more", f"{len(choices)}"]
            lines += [f"{c.bytes} {c.algorithm} 0 {c.segment}" for c in choices]
    return "\n".join(lines) + "\n"


def _rules(spans: list[Span]) -> list[tuple[int, list[Choice]]]:
    """Give the choices from a number of ranks on; between spans Open MPI decides."""
    rules: list[tuple[int, list[Choice]]] = []
    for span in spans:
        if rules and rules[-1][0] == span.first:
            rules.pop()
        rules += [(span.first, span.choices), (span.last + 1, _OWN)]
    return rules
