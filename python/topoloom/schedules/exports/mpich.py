# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's selection of collectives, as JSON: conditions inside each other, a name last.

The file takes the place of all that MPICH would choose, so it has MPICH's own rules for
what is not decided. A condition that holds is never left again: where none of those
below it holds, MPICH aborts. Source: MPICH 4.0, ``src/mpi/coll/src/csel.c``. Options of
an algorithm are written in parentheses here: ``Alltoall_intra_k_brucks(k=3)``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from topoloom.schedules.exports.asked import Asked
from topoloom.schedules.exports.counterparts import (
    Choice,
    Counterpart,
    Function,
    Span,
    choose_for,
)
from topoloom.schedules.exports.mpich_rules import Rules, by_size, own_rules

NAME = "mpich"
SUMMARY = "MPICH up to 4.0: selection of collectives, JSON"
USE = (
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=FILE MPIR_CVAR_DEVICE_COLLECTIVES=none "
    "mpirun ./app"
)


def _all_gather(function: str) -> Function:
    return Function(
        function.lower(),
        True,
        (
            Counterpart(f"{function}_intra_brucks", "bruck"),
            Counterpart(
                f"{function}_intra_recursive_doubling", "recursive-doubling", True
            ),
            Counterpart(f"{function}_intra_ring", "ring"),
        ),
    )


def _reduce_scatter(function: str) -> Function:
    return Function(
        function.lower(),
        True,
        (
            Counterpart(f"{function}_intra_recursive_halving", "halving(fold=even)"),
            Counterpart(f"{function}_intra_pairwise", "cyclic"),
        ),
    )


def _only(function: str, algorithm: str, schedule: str) -> tuple[Function, ...]:
    only = Counterpart(f"{function}_intra_{algorithm}", schedule)
    return (Function(function.lower(), False, (only,)),)


TABLE = {
    "all-gather": (_all_gather("Allgather"), _all_gather("Allgatherv")),
    "all-reduce": (
        Function(
            "allreduce",
            False,
            (
                Counterpart(
                    "Allreduce_intra_recursive_doubling",
                    "recursive-doubling(fold=even)",
                ),
                Counterpart(
                    "Allreduce_intra_reduce_scatter_allgather",
                    "halving(fold=even,order=near,cut=last)",
                ),
            ),
        ),
    ),
    "all-to-all": (
        Function(
            "alltoall",
            False,
            (
                Counterpart("Alltoall_intra_brucks", "bruck"),
                Counterpart("Alltoall_intra_scattered", "at-once"),
                Counterpart("Alltoall_intra_pairwise", "pairwise", True),
                Counterpart("Alltoall_intra_pairwise", "cyclic", False),
            ),
        ),
    ),
    "barrier": _only("Barrier", "dissemination", "dissemination"),
    "broadcast": (
        Function(
            "bcast",
            False,
            (
                Counterpart("Bcast_intra_binomial", "binomial"),
                Counterpart(
                    "Bcast_intra_scatter_recursive_doubling_allgather",
                    "scatter-all-gather(gather=doubling,cut=rounded-up)",
                    True,
                ),
                Counterpart(
                    "Bcast_intra_scatter_ring_allgather",
                    "scatter-all-gather(gather=ring,cut=rounded-up)",
                ),
            ),
        ),
    ),
    "exscan": _only("Exscan", "recursive_doubling", "recursive-doubling"),
    "gather": _only("Gather", "binomial", "binomial"),
    "reduce": (
        Function(
            "reduce",
            False,
            (
                Counterpart("Reduce_intra_binomial", "binomial"),
                Counterpart(
                    "Reduce_intra_reduce_scatter_gather",
                    "halving(fold=odd,order=near,cut=last)",
                ),
            ),
        ),
    ),
    "reduce-scatter": (
        _reduce_scatter("Reduce_scatter"),
        _reduce_scatter("Reduce_scatter_block"),
    ),
    "scan": _only("Scan", "recursive_doubling", "recursive-doubling"),
    "scatter": _only("Scatter", "binomial", "binomial"),
}

#: What MPICH does instead of algorithms that cut the vector of an operator of MPI.
_UNCUT = {
    "Allreduce_intra_reduce_scatter_allgather": "Allreduce_intra_recursive_doubling",
    "Reduce_intra_reduce_scatter_gather": "Reduce_intra_binomial",
}

#: MPICH keeps sizes in an int.
_MOST = 2**31 - 1


def write(*asked: Asked) -> str:
    """Write the rules of all collectives, with our choice in what is asked."""
    return write_choices(choose_for(asked, TABLE, NAME))


def write_choices(
    functions: list[tuple[Function, list[Span]]],
    renamed: Mapping[str, str] | None = None,
) -> str:
    """Write rules as MPICH reads them; MPICH's own for all other functions.

    Its own names are those of MPICH 4.0, unless they are `renamed`.
    """
    rules = {}
    for function, spans in functions:
        rules[function.name] = [
            (span.first, span.last, _by_size(function, span)) for span in spans
        ]
    tree = {
        f"collective={name}": _named(node, renamed or {})
        for name, node in own_rules(rules).items()
    }
    return json.dumps(tree, indent=1) + "\n"


def _by_size(function: Function, span: Span) -> Rules:
    counted = "total_msg_size" if function.whole else "avg_msg_size"
    choices = [choice for choice in span.choices if choice.bytes <= _MOST]
    ends = [choice.bytes for choice in choices[1:]]
    return by_size(counted, list(map(_guarded, choices)), ends)


def _guarded(choice: Choice) -> Rules:
    """Keep an algorithm from operators and counts that it cannot take."""
    uncut = _UNCUT.get(choice.algorithm)
    if uncut is None:
        return choice.algorithm
    return {
        "is_op_built_in=yes": {"count<pow2": uncut, "count=any": choice.algorithm},
        "is_op_built_in=no": uncut,
    }


def _named(node: Rules, renamed: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(node, str):
        return {key: _named(below, renamed) for key, below in node.items()}
    name, _, options = renamed.get(node, node).removesuffix(")").partition("(")
    given = options.split(",") if options else []
    return {f"algorithm=MPIR_{name}": {option: {} for option in given}}
