# SPDX-License-Identifier: BSD-3-Clause
"""The workers that simulate cells: local threads, or the ranks of an MPI job.

``mpiexec -n N python -m mpi4py.futures -m topoloom study`` uses the ranks of the job.
Each simulation is a child process of its worker, so a crash affects only its cell.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ThreadPoolExecutor


def open_pool(jobs: int) -> Executor:
    """Open the pool of the MPI job, or a local one with `jobs` workers."""
    if "mpi4py.futures" in sys.modules:  # imported only by its own runner
        from mpi4py.futures import MPIPoolExecutor

        pool: Executor = MPIPoolExecutor()
        return pool
    return ThreadPoolExecutor(jobs)
