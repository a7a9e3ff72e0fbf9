# SPDX-License-Identifier: BSD-3-Clause
"""The workers that simulate cells: of this machine, or of an MPI job.

With ``mpiexec -n N python -m mpi4py.futures -m topoloom study``, the ranks of the job
are the workers. A simulation is a child process of its worker, so that one that crashes
costs only its cell.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ThreadPoolExecutor


def open_pool(jobs: int) -> Executor:
    """Open the pool of an MPI job, or one of this machine with `jobs` workers."""
    if "mpi4py.futures" in sys.modules:  # Only its runner has imported it.
        from mpi4py.futures import MPIPoolExecutor

        pool: Executor = MPIPoolExecutor()
        return pool
    return ThreadPoolExecutor(jobs)
