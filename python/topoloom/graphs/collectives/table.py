# SPDX-License-Identifier: BSD-3-Clause
"""Which algorithm a collective uses, by size and count, as MPICH documents it.

The thresholds are MPICH's defaults (comments in ``src/mpi/coll/<operation>`` and the
variables ``MPIR_CVAR_*``; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
collective communication operations in MPICH", IJHPCA 2005). Other libraries choose
similarly, not equally; what crosses a torus depends little on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from topoloom.graphs.collectives.exchanges import (
    allgather_bruck,
    allgather_doubling,
    allgather_ring,
    allreduce_doubling,
    alltoall_bruck,
    alltoall_pairs,
    barrier_dissemination,
    bcast_pieces_doubled,
    bcast_pieces_ring,
    reduce_scatter_halving,
    reduce_scatter_pairs,
    scan_doubling,
)
from topoloom.graphs.collectives.messages import Messages
from topoloom.graphs.collectives.rabenseifner import (
    allreduce_rabenseifner,
    reduce_rabenseifner,
)
from topoloom.graphs.collectives.trees import (
    bcast_binomial,
    gather_binomial,
    reduce_binomial,
    scatter_binomial,
    scatter_pieces,
)

Algorithm = Callable[[int, int, int], Messages]  # ranks, bytes, root
Condition = Callable[[int, int], bool]  # ranks, bytes

#: in the order of the recorder's ``enum operation``
OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "reduce_scatter",
    "scan",
    "exscan",
)


class Rule(NamedTuple):
    """Use `algorithms`, one after the other, where `holds`."""

    operation: str
    holds: Condition
    name: str
    algorithms: tuple[Algorithm, ...]


def is_power_of_two(size: int) -> bool:
    """Tell whether `size` is a power of two."""
    return size & (size - 1) == 0


def _always(size: int, bytes: int) -> bool:
    return True


def _below(limit: int) -> Condition:
    return lambda size, bytes: bytes < limit


def _up_to(limit: int) -> Condition:
    return lambda size, bytes: bytes <= limit


def _power_of_two_below(limit: int) -> Condition:
    return lambda size, bytes: is_power_of_two(size) and bytes < limit


# The first rule that holds is used. `bytes` is the message (bcast, reduce, allreduce,
# scan), one rank's block (gather, scatter, alltoall), all blocks together (allgather,
# allgatherv, reduce_scatter).
TABLE = (
    Rule("barrier", _always, "dissemination", (barrier_dissemination,)),
    Rule("bcast", lambda p, b: b < 12288 or p < 8, "binomial", (bcast_binomial,)),
    Rule(
        "bcast",
        _power_of_two_below(524288),
        "scatter + recursive doubling",
        (scatter_pieces, bcast_pieces_doubled),
    ),
    Rule("bcast", _always, "scatter + ring", (scatter_pieces, bcast_pieces_ring)),
    Rule("reduce", _up_to(2048), "binomial", (reduce_binomial,)),
    Rule("reduce", _always, "Rabenseifner", (reduce_rabenseifner,)),
    Rule("allreduce", _up_to(2048), "recursive doubling", (allreduce_doubling,)),
    Rule("allreduce", _always, "Rabenseifner", (allreduce_rabenseifner,)),
    Rule("gather", _always, "binomial", (gather_binomial,)),
    Rule("scatter", _always, "binomial", (scatter_binomial,)),
    *(
        rule
        for operation in ("allgather", "allgatherv")
        for rule in (
            Rule(
                operation,
                _power_of_two_below(524288),
                "recursive doubling",
                (allgather_doubling,),
            ),
            Rule(
                operation,
                lambda p, b: b < 81920 and not is_power_of_two(p),
                "Bruck",
                (allgather_bruck,),
            ),
            Rule(operation, _always, "ring", (allgather_ring,)),
        )
    ),
    Rule("alltoall", lambda p, b: b <= 256 and p >= 8, "Bruck", (alltoall_bruck,)),
    # MPICH sends all at once up to 32 KiB, then pair by pair: the same messages.
    Rule("alltoall", _always, "pairwise", (alltoall_pairs,)),
    Rule(
        "reduce_scatter", _below(524288), "recursive halving", (reduce_scatter_halving,)
    ),
    Rule("reduce_scatter", _always, "pairwise", (reduce_scatter_pairs,)),
    Rule("scan", _always, "recursive doubling", (scan_doubling,)),
    Rule("exscan", _always, "recursive doubling", (scan_doubling,)),
)
