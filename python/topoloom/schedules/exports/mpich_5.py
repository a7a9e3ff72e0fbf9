# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's selection of collectives since version 4.3: some algorithms have a radix.

It refuses a file with a name that it lacks, as those of MPICH 4.0 are for barriers.
Source: MPICH 4.3 and 5.0, ``src/mpi/coll/src/csel_container.c``.
"""

from __future__ import annotations

from topoloom.schedules.exports import mpich
from topoloom.schedules.exports.asked import Asked
from topoloom.schedules.exports.counterparts import (
    Counterpart,
    Function,
    Span,
    choose_for,
)

NAME = "mpich-5"
SUMMARY = "MPICH 4.3 and later: selection of collectives, JSON, with radices"
USE = mpich.USE

#: Those that are tried wherever a schedule is chosen.
_RADIXES = (3, 4, 8)
_BARRIER = "Barrier_intra_k_dissemination"
_RENAMED = {"Barrier_intra_dissemination": f"{_BARRIER}(k=2)"}


def _with_radix(
    algorithm: str, schedule: str, options: str = ""
) -> tuple[Counterpart, ...]:
    return tuple(
        Counterpart(f"{algorithm}(k={k}{options})", f"{schedule}(radix={k})")
        for k in _RADIXES
    )


def _of_powers(algorithm: str, schedule: str) -> tuple[Counterpart, ...]:
    """Of other numbers of ranks MPICH sends more; powers of 3 have no rules."""
    return tuple(
        Counterpart(f"{algorithm}(k={k})", f"{schedule}(radix={k})", True, k)
        for k in _RADIXES
        if k % 2 == 0
    )


def _more(operation: str, more: tuple[Counterpart, ...]) -> tuple[Function, ...]:
    first, *others = mpich.TABLE[operation]
    return (first._replace(algorithms=(*first.algorithms, *more)), *others)


TABLE = {
    **mpich.TABLE,
    "all-gather": _more("all-gather", _with_radix("Allgather_intra_k_brucks", "bruck")),
    "all-reduce": _more(
        "all-reduce",
        _of_powers("Allreduce_intra_recursive_multiplying", "recursive-doubling"),
    ),
    "all-to-all": _more("all-to-all", _with_radix("Alltoall_intra_k_brucks", "bruck")),
    "barrier": (
        Function(
            "barrier",
            False,
            (
                Counterpart(f"{_BARRIER}(k=2)", "dissemination"),
                *_of_powers(_BARRIER, "dissemination"),
            ),
        ),
    ),
    "broadcast": _more(
        "broadcast",
        _with_radix(
            "Bcast_intra_tree", "binomial", ",tree_type=knomial_2,is_non_blocking=1"
        ),
    ),
}


def write(*asked: Asked) -> str:
    """Write the rules of all collectives, with our choice in what is asked."""
    return write_choices(choose_for(asked, TABLE, NAME))


def write_choices(functions: list[tuple[Function, list[Span]]]) -> str:
    """Write rules as these versions read them; MPICH's own for all other functions."""
    return mpich.write_choices(functions, _RENAMED)
