# SPDX-License-Identifier: BSD-3-Clause
"""Writes the selection file of MPICH 4.3 and later, with radices of algorithms.

MPICH rejects files with unknown names, such as MPICH 4.0's names for barriers.
Source: MPICH 4.3 and 5.0, ``src/mpi/coll/src/csel_container.c``.
"""

from __future__ import annotations

from topoloom.schedules.exports import mpich
from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest

NAME = "mpich-5"
USE = mpich.USE

#: Candidate radices for every schedule that has a radix.
_RADICES = (3, 4, 8)
_BARRIER = "Barrier_intra_k_dissemination"
_NEW_NAMES = {"Barrier_intra_dissemination": f"{_BARRIER}(k=2)"}


def _list_radix_variants(
    algorithm: str, schedule: str, options: str = ""
) -> tuple[MatchingAlgorithm, ...]:
    return tuple(
        MatchingAlgorithm(f"{algorithm}(k={k}{options})", f"{schedule}(radix={k})")
        for k in _RADICES
    )


def _list_power_variants(
    algorithm: str, schedule: str
) -> tuple[MatchingAlgorithm, ...]:
    """Match only powers of the radix; otherwise, MPICH sends more messages."""
    return tuple(
        MatchingAlgorithm(f"{algorithm}(k={k})", f"{schedule}(radix={k})", True, k)
        for k in _RADICES
        if k % 2 == 0
    )


def _extend_algorithms(
    operation: str, additional: tuple[MatchingAlgorithm, ...]
) -> tuple[MpiFunction, ...]:
    first, *others = mpich.TABLE[operation]
    return (first._replace(algorithms=(*first.algorithms, *additional)), *others)


TABLE = {
    **mpich.TABLE,
    "allgather": _extend_algorithms(
        "allgather", _list_radix_variants("Allgather_intra_k_brucks", "bruck")
    ),
    "allreduce": _extend_algorithms(
        "allreduce",
        _list_power_variants(
            "Allreduce_intra_recursive_multiplying", "recursive-doubling"
        ),
    ),
    "alltoall": _extend_algorithms(
        "alltoall", _list_radix_variants("Alltoall_intra_k_brucks", "bruck")
    ),
    "barrier": (
        MpiFunction(
            "barrier",
            False,
            (
                MatchingAlgorithm(f"{_BARRIER}(k=2)", "dissemination"),
                *_list_power_variants(_BARRIER, "dissemination"),
            ),
        ),
    ),
    "bcast": _extend_algorithms(
        "bcast",
        _list_radix_variants(
            "Bcast_intra_tree", "binomial", ",tree_type=knomial_2,is_non_blocking=1"
        ),
    ),
}


def write(*requests: ExportRequest) -> str:
    """Write rules for all collectives, with the fastest algorithms for the requests."""
    return write_rules(choose_algorithms(requests, TABLE, NAME))


def write_rules(functions: list[tuple[MpiFunction, list[RankRange]]]) -> str:
    """Write rules for these functions, and MPICH's default rules for all others."""
    return mpich.write_rules(functions, _NEW_NAMES)
