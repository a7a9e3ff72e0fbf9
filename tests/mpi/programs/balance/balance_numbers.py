# SPDX-License-Identifier: BSD-3-Clause
"""Compares moved tasks with expected ones; run under mpirun with mpi4py."""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import topoloom
from topoloom.mpi import Plan, balance, plan

MPICC = sys.argv[1]
comm = MPI.COMM_WORLD
before = [7 * rank + 1 for rank in range(comm.size)]
COUNT = before[comm.rank]


def make_tasks(rank: int) -> np.ndarray:
    """Return the tasks that a rank creates: creator and index."""
    tasks = np.zeros(before[rank], [("rank", "i4"), ("index", "i8"), ("at", "f8", 3)])
    tasks["rank"], tasks["index"] = rank, np.arange(before[rank])
    tasks["at"] = np.random.default_rng(rank).random((before[rank], 3))
    return tasks


def list_expected_tasks(plan: Plan) -> np.ndarray:
    """Return the expected final tasks of this rank, from the plans of all ranks."""
    plans = comm.allgather((plan.kept, plan.to.tolist(), plan.tasks_to.tolist()))
    pieces = [make_tasks(comm.rank)[: plan.kept]]
    for rank, (kept, to, tasks) in enumerate(plans):
        ends = kept + np.cumsum(tasks)
        for target, count, end in zip(to, tasks, ends, strict=True):
            if target == comm.rank:
                pieces.append(make_tasks(rank)[end - count : end])
    return np.concatenate(pieces)


def check_ring_shift() -> None:
    """Send half of the tasks to the next rank, around the ring."""
    to = [(comm.rank + 1) % comm.size]
    check_moves(plan(comm, COUNT, to, [(COUNT + 1) // 2], mpicc=MPICC), balanced=False)


def check_moves(plan: Plan, balanced: bool = True) -> None:
    """Move tasks by a blocking call, during a computation, and with unequal sizes."""
    right = list_expected_tasks(plan)
    assert len(right) == plan.after
    assert not balanced or plan.after <= -(-sum(before) // comm.size)
    assert plan.tasks_from.sum() == plan.after - plan.kept
    assert np.array_equal(plan.exchange(make_tasks(comm.rank)), right)
    moving = plan.start(make_tasks(comm.rank))
    moving.kept["at"] += 1
    while not moving.test():
        pass
    right["at"][: plan.kept] += 1
    assert np.array_equal(moving.finish(), right)
    matrix = plan.exchange(np.outer(1000 * comm.rank + np.arange(COUNT), [1, -1]))
    numbers = 1000 * right["rank"] + right["index"]
    assert np.array_equal(matrix, np.outer(numbers, [1, -1]))

    own = 1000 * comm.rank + np.arange(COUNT)
    values, sizes = plan.exchange_sized(np.repeat(own, own % 5), own % 5)
    assert np.array_equal(sizes, numbers % 5)
    assert np.array_equal(values, np.repeat(numbers, numbers % 5))


def collect_error_messages(plan: Plan) -> list[str]:
    """Expect that invalid tasks are rejected before any communication."""
    sizes = np.ones(COUNT, np.int64)
    tries = (
        lambda: plan.start(np.zeros(COUNT + 1)),
        lambda: plan.start(np.zeros(COUNT, object)),
        lambda: plan.exchange_sized(np.zeros(COUNT + 1), sizes),
        lambda: balance(comm, COUNT, decide="quickly", mpicc=MPICC),
    )
    found = []
    for attempt in tries:
        try:
            attempt()
        except topoloom.Error as error:
            found.append(str(error))
    collective = (
        lambda: topoloom.mpi.plan(comm, 3, [comm.rank], [1], mpicc=MPICC),
        lambda: balance(comm, -1, mpicc=MPICC),
        lambda: balance(comm, 1, method="alais", mpicc=MPICC),
        lambda: balance(comm, 1, machine="torus:2x2", mpicc=MPICC),
    )
    for attempt in collective:
        try:
            attempt()
        except MPI.Exception as error:
            found.append(str(error).partition(" (MPI_ERR")[0])
    return found


def check_empty_moves() -> None:
    """Plan 0 tasks for a receiver, and move tasks of 0 bytes."""
    to, given = [(comm.rank + 1) % comm.size], plan(comm, COUNT, [], [], mpicc=MPICC)
    assert np.array_equal(given.exchange(make_tasks(comm.rank)), make_tasks(comm.rank))
    given = plan(comm, COUNT, to, [0], mpicc=MPICC)
    assert (given.to.size, given.sources.size, given.kept) == (0, 0, COUNT)
    assert np.array_equal(given.exchange(make_tasks(comm.rank)), make_tasks(comm.rank))
    given = plan(comm, COUNT, to, [1], mpicc=MPICC)
    assert given.exchange(np.zeros((COUNT, 0, 2))).shape == (given.after, 0, 2)


def check_unresponsive_rank() -> None:
    """Get the tasks from the exception if the last rank does not take part."""
    last = comm.size - 1
    to = [last] if comm.rank == 0 else []
    given = plan(comm, 3, to, [2] if to else [], stall_timeout=0.2, mpicc=MPICC)
    if comm.rank == last:
        comm.Barrier()
        return
    failed = None
    try:
        assert np.array_equal(given.exchange(np.arange(3)), np.arange(3))
    except MPI.Exception as error:
        failed = error
    assert (failed is not None) == (comm.rank == 0)
    if failed is not None:
        assert f"rank 0 has waited for 0.2 s for rank {last}" in str(failed)
        assert failed.Get_error_class() == MPI.ERR_OTHER
        assert np.array_equal(failed.tasks, np.arange(3))
    comm.Barrier()


check_moves(balance(comm, COUNT, mpicc=MPICC))
check_moves(balance(comm, COUNT, decide="by-messages", mpicc=MPICC))
with_slots = balance(
    comm, COUNT, machine="ring:8", slot=7 - comm.rank, stall_timeout=60, mpicc=MPICC
)
check_moves(with_slots)
check_ring_shift()
check_empty_moves()
if comm.rank == 0:
    sys.stdout.write("; ".join(collect_error_messages(with_slots)) + "\n")
else:
    collect_error_messages(with_slots)
check_unresponsive_rank()
