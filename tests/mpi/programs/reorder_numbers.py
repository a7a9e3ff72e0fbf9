# SPDX-License-Identifier: BSD-3-Clause
"""Requests a better order for pairs of distant ranks; run under mpirun with mpi4py."""

import sys

from mpi4py import MPI

from topoloom import Error
from topoloom.mpi import reorder

comm = MPI.COMM_WORLD
for bad in ({"neighbors": [0, 1]}, {"bytes": ["much"]}, {"mpicc": "nowhere"}):
    right = {"neighbors": [0], "bytes": [1], "mpicc": sys.argv[1]}
    message = ""
    try:
        reorder(comm, **(right | bad if comm.rank == 1 else right))
    except Error as error:
        message = str(error)
    # Only rank 0 invokes the compiler.
    assert message.startswith("rank 1: ") == ("mpicc" not in bad), message
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
