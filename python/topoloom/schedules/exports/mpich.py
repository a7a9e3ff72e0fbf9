# SPDX-License-Identifier: BSD-3-Clause
"""Writes MPICH's collective selection file: JSON conditions that lead to algorithms.

The file replaces all of MPICH's rules, so it repeats MPICH's default rules for the
collectives that are not requested. MPICH does not backtrack: if a condition holds, but
none of the conditions below it, MPICH aborts. This module writes options in
parentheses: ``Alltoall_intra_k_brucks(k=3)``.

Source: MPICH 4.0, ``src/mpi/coll/src/csel.c``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    SizeRule,
    choose_algorithms,
)
from topoloom.schedules.exports.mpich_rules import Rules, make_rules, make_size_rules
from topoloom.schedules.exports.request import ExportRequest

NAME = "mpich"
USE = (
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE MPIR_CVAR_DEVICE_COLLECTIVES=none "
    "mpirun ./app"
)


def _describe_allgather(function: str) -> MpiFunction:
    return MpiFunction(
        function.lower(),
        True,
        (
            MatchingAlgorithm(f"{function}_intra_brucks", "bruck"),
            MatchingAlgorithm(
                f"{function}_intra_recursive_doubling", "recursive-doubling", True
            ),
            MatchingAlgorithm(f"{function}_intra_ring", "ring"),
        ),
    )


def _describe_reduce_scatter(function: str) -> MpiFunction:
    return MpiFunction(
        function.lower(),
        True,
        (
            MatchingAlgorithm(
                f"{function}_intra_recursive_halving", "halving(fold=even)"
            ),
            MatchingAlgorithm(f"{function}_intra_pairwise", "cyclic"),
        ),
    )


def _describe_single_algorithm(
    function: str, algorithm: str, schedule: str
) -> tuple[MpiFunction, ...]:
    only = MatchingAlgorithm(f"{function}_intra_{algorithm}", schedule)
    return (MpiFunction(function.lower(), False, (only,)),)


TABLE = {
    "allgather": (
        _describe_allgather("Allgather"),
        _describe_allgather("Allgatherv"),
    ),
    "allreduce": (
        MpiFunction(
            "allreduce",
            False,
            (
                MatchingAlgorithm(
                    "Allreduce_intra_recursive_doubling",
                    "recursive-doubling(fold=even)",
                ),
                MatchingAlgorithm(
                    "Allreduce_intra_reduce_scatter_allgather",
                    "halving(fold=even,order=near,cut=last)",
                ),
            ),
        ),
    ),
    "alltoall": (
        MpiFunction(
            "alltoall",
            False,
            (
                MatchingAlgorithm("Alltoall_intra_brucks", "bruck"),
                MatchingAlgorithm("Alltoall_intra_scattered", "at-once"),
                MatchingAlgorithm("Alltoall_intra_pairwise", "pairwise", True),
                MatchingAlgorithm("Alltoall_intra_pairwise", "cyclic", False),
            ),
        ),
    ),
    "barrier": _describe_single_algorithm("Barrier", "dissemination", "dissemination"),
    "bcast": (
        MpiFunction(
            "bcast",
            False,
            (
                MatchingAlgorithm("Bcast_intra_binomial", "binomial"),
                MatchingAlgorithm(
                    "Bcast_intra_scatter_recursive_doubling_allgather",
                    "scatter-allgather(gather=doubling,cut=rounded-up)",
                    True,
                ),
                MatchingAlgorithm(
                    "Bcast_intra_scatter_ring_allgather",
                    "scatter-allgather(gather=ring,cut=rounded-up)",
                ),
            ),
        ),
    ),
    "exscan": _describe_single_algorithm(
        "Exscan", "recursive_doubling", "recursive-doubling"
    ),
    "gather": _describe_single_algorithm("Gather", "binomial", "binomial"),
    "reduce": (
        MpiFunction(
            "reduce",
            False,
            (
                MatchingAlgorithm("Reduce_intra_binomial", "binomial"),
                MatchingAlgorithm(
                    "Reduce_intra_reduce_scatter_gather",
                    "halving(fold=odd,order=near,cut=last)",
                ),
            ),
        ),
    ),
    "reduce_scatter": (
        _describe_reduce_scatter("Reduce_scatter"),
        _describe_reduce_scatter("Reduce_scatter_block"),
    ),
    "scan": _describe_single_algorithm(
        "Scan", "recursive_doubling", "recursive-doubling"
    ),
    "scatter": _describe_single_algorithm("Scatter", "binomial", "binomial"),
}

#: Algorithms that split the vector -> algorithms that MPICH uses if the operator is not
#: predefined, because splitting requires a predefined operator.
_SUBSTITUTES = {
    "Allreduce_intra_reduce_scatter_allgather": "Allreduce_intra_recursive_doubling",
    "Reduce_intra_reduce_scatter_gather": "Reduce_intra_binomial",
}

#: MPICH stores sizes in an `int`.
_MAX_BYTES = 2**31 - 1


def write(*requests: ExportRequest) -> str:
    """Write rules for all collectives, with the fastest algorithms for the requests."""
    return write_rules(choose_algorithms(requests, TABLE, NAME))


def write_rules(
    functions: list[tuple[MpiFunction, list[RankRange]]],
    new_names: Mapping[str, str] | None = None,
) -> str:
    """Write rules for these functions, and MPICH's default rules for all others.

    Algorithms are named as in MPICH 4.0; `new_names` maps these names to others.
    """
    rules = {}
    for function, spans in functions:
        rules[function.name] = [
            (span.first, span.last, _make_size_rules(function, span)) for span in spans
        ]
    tree = {
        f"collective={name}": _rename_algorithms(node, new_names or {})
        for name, node in make_rules(rules).items()
    }
    return json.dumps(tree, indent=1) + "\n"


def _make_size_rules(function: MpiFunction, span: RankRange) -> Rules:
    counted = "total_msg_size" if function.counts_all_ranks else "avg_msg_size"
    choices = [choice for choice in span.choices if choice.bytes <= _MAX_BYTES]
    ends = [choice.bytes for choice in choices[1:]]
    return make_size_rules(counted, list(map(_add_conditions, choices)), ends)


def _add_conditions(choice: SizeRule) -> Rules:
    """Add conditions on operator and count if the algorithm requires them."""
    uncut = _SUBSTITUTES.get(choice.algorithm)
    if uncut is None:
        return choice.algorithm
    return {
        "is_op_built_in=yes": {"count<pow2": uncut, "count=any": choice.algorithm},
        "is_op_built_in=no": uncut,
    }


def _rename_algorithms(node: Rules, new_names: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(node, str):
        return {
            key: _rename_algorithms(below, new_names) for key, below in node.items()
        }
    name, _, options = new_names.get(node, node).removesuffix(")").partition("(")
    given = options.split(",") if options else []
    return {f"algorithm=MPIR_{name}": {option: {} for option in given}}
