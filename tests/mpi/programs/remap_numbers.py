# SPDX-License-Identifier: BSD-3-Clause
"""Communicators in a given and in the fastest order; run under mpirun with mpi4py."""

import sys

from mpi4py import MPI

from topoloom import Error
from topoloom.mpi import order, remap

comm, mpicc = MPI.COMM_WORLD, sys.argv[1]
vector = [*range(1, comm.size), 0]
turned = remap(comm, vector if comm.rank == 0 else None, mpicc=mpicc)
assert turned.allgather(comm.rank) == vector
for wrong in (vector[1:], [0] * comm.size, [0.5] * comm.size, None):
    message = ""
    try:
        remap(comm, wrong, mpicc=mpicc)
    except Error as error:
        message = str(error)
    assert message.startswith("rank 0: ranks must"), (wrong, message)
error_class = MPI.SUCCESS
try:
    order(comm, "order=sideways", mpicc=mpicc)
except MPI.Exception as error:
    error_class = error.Get_error_class()
assert error_class == MPI.ERR_ARG
best = order(
    comm,
    "order=standard|fastest-edge-first|channel-aware,operation=scatter,bytes=1024,report=1",
    mpicc=mpicc,
)
olds = best.gather(comm.rank)
if best.rank == 0:
    print(sorted(olds))
