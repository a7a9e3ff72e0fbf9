# SPDX-License-Identifier: BSD-3-Clause
"""Reordering, redistribution, collectives and streams for mpi4py programs."""

from __future__ import annotations

from topoloom.mpi.collectives import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    exscan,
    gather,
    reduce,
    reduce_scatter_block,
    scan,
    scatter,
)
from topoloom.mpi.communicators import order, remap, reorder
from topoloom.mpi.redistribution import ExchangeRequest, Plan, balance, plan
from topoloom.mpi.streams import Stream

__all__ = [
    "ExchangeRequest",
    "Plan",
    "Stream",
    "allgather",
    "allreduce",
    "alltoall",
    "balance",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "order",
    "plan",
    "reduce",
    "reduce_scatter_block",
    "remap",
    "reorder",
    "scan",
    "scatter",
]
