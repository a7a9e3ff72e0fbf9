# SPDX-License-Identifier: BSD-3-Clause
"""Writes a rules file of Open MPI's component coll/tuned: algorithm numbers by size.

A call uses the rules for the largest rank count that does not exceed its communicator
size. Among these, it uses the rule for the largest size that does not exceed its
message size. Algorithm 0 selects Open MPI's default. Numbers of functions and
algorithms are from Open MPI 4.1 and 5.0 (``ompi_info --param coll tuned --level 9``).
"""

from __future__ import annotations

from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    SizeRule,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest

NAME = "open-mpi"
USE = (
    "mpirun --mca coll_tuned_use_dynamic_rules 1 "
    "--mca coll_tuned_dynamic_rules_filename FILE ./app"
)

_ALLGATHER_V = (
    MatchingAlgorithm("2", "bruck"),
    MatchingAlgorithm("3", "ring"),
    MatchingAlgorithm("4", "neighbor-exchange"),
)
_TREE_OR_STRAIGHT = (
    MatchingAlgorithm("2", "binomial"),
    MatchingAlgorithm("1", "linear"),
)
TABLE = {
    "allgather": (
        MpiFunction(
            "0",
            True,
            (
                MatchingAlgorithm("2", "bruck"),
                MatchingAlgorithm("3", "recursive-doubling", True),
                MatchingAlgorithm("4", "ring"),
                MatchingAlgorithm("5", "neighbor-exchange"),
            ),
        ),
        MpiFunction("1", True, _ALLGATHER_V),
    ),
    "allreduce": (
        MpiFunction(
            "2",
            False,
            (
                MatchingAlgorithm("3", "recursive-doubling(fold=even)"),
                MatchingAlgorithm("4", "ring"),
                MatchingAlgorithm("6", "halving(order=near)", True),
            ),
        ),
    ),
    "alltoall": (
        MpiFunction(
            "3",
            True,
            (
                MatchingAlgorithm("1", "at-once"),
                MatchingAlgorithm("2", "cyclic"),
                MatchingAlgorithm("3", "bruck"),
            ),
        ),
        MpiFunction(
            "4",
            True,
            (MatchingAlgorithm("1", "at-once"), MatchingAlgorithm("2", "cyclic")),
            by_size=False,
        ),
    ),
    "barrier": (MpiFunction("6", False, (MatchingAlgorithm("4", "dissemination"),)),),
    "bcast": (
        MpiFunction(
            "7",
            False,
            (
                MatchingAlgorithm("6", "binomial"),
                MatchingAlgorithm("1", "linear"),
                MatchingAlgorithm("3", "chain"),
                MatchingAlgorithm(
                    "8", "scatter-allgather(gather=doubling,cut=rounded-up)", True
                ),
                MatchingAlgorithm("9", "scatter-allgather(gather=ring,cut=rounded-up)"),
            ),
        ),
    ),
    "exscan": (
        MpiFunction("8", False, (MatchingAlgorithm("2", "recursive-doubling"),)),
    ),
    "gather": (MpiFunction("9", True, _TREE_OR_STRAIGHT),),
    "reduce": (
        MpiFunction(
            "11",
            False,
            (
                MatchingAlgorithm("5", "binomial"),
                MatchingAlgorithm("1", "linear"),
                MatchingAlgorithm("3", "chain"),
                MatchingAlgorithm("7", "halving(order=near)", True),
            ),
        ),
    ),
    "reduce_scatter": (
        MpiFunction(
            "12",
            True,
            (
                MatchingAlgorithm("2", "halving(fold=even)"),
                MatchingAlgorithm("3", "ring"),
            ),
        ),
        MpiFunction("13", True, (MatchingAlgorithm("3", "halving(fold=even)"),)),
    ),
    "scan": (
        MpiFunction("14", False, (MatchingAlgorithm("2", "recursive-doubling"),)),
    ),
    "scatter": (MpiFunction("15", True, _TREE_OR_STRAIGHT),),
}

#: Names of the functions in the file's comments, by function number
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

_DEFAULT_RULES = [SizeRule(0, "0", 0)]


def write(*requests: ExportRequest) -> str:
    """Write rules for the MPI functions of the requests."""
    return write_rules(choose_algorithms(requests, TABLE, NAME))


def write_rules(functions: list[tuple[MpiFunction, list[RankRange]]]) -> str:
    """Write rules in Open MPI's file format."""
    lines = [f"{len(functions)} # functions with rules"]
    for function, spans in functions:
        rules = list(_list_rank_rules(spans))
        lines += [f"{function.name} # {FUNCTIONS[function.name]}", f"{len(rules)}"]
        for ranks, choices in rules:
            lines += [f"{ranks} # ranks and more", f"{len(choices)}"]
            lines += [f"{c.bytes} {c.algorithm} 0 {c.segment}" for c in choices]
    return "\n".join(lines) + "\n"


def _list_rank_rules(spans: list[RankRange]) -> list[tuple[int, list[SizeRule]]]:
    """List (lowest rank count, rules); gaps between ranges get Open MPI's defaults."""
    rules: list[tuple[int, list[SizeRule]]] = []
    for span in spans:
        if rules and rules[-1][0] == span.first:
            rules.pop()
        rules += [(span.first, span.choices), (span.last + 1, _DEFAULT_RULES)]
    return rules
