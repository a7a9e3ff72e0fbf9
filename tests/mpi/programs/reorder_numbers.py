# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of ranks far apart ask for a better order; run under mpirun with mpi4py."""

import sys

from mpi4py import MPI

from topoloom.mpi import reorder

comm = MPI.COMM_WORLD
half = comm.size // 2
better = reorder(
    comm,
    [(comm.rank + half) % comm.size],
    [1000],
    options="report=1",
    mpicc=sys.argv[1],
)
partner = (better.rank + half) % better.size
assert better.sendrecv(better.rank, partner, source=partner) == partner
olds = better.gather(comm.rank)
if better.rank == 0:
    print(olds)
