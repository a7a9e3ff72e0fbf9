# SPDX-License-Identifier: BSD-3-Clause
"""Compares streams of topoloom.mpi with expected items; run under mpirun."""

from __future__ import annotations

import sys
from typing import Literal

import numpy as np
from mpi4py import MPI

import topoloom
from topoloom.mpi import Stream

MPICC = sys.argv[1]
comm = MPI.COMM_WORLD
SLOTS, UPDATES = 100, 20_000


def draw_slots(rank: int) -> np.ndarray:
    """Return random entries for a rank to update."""
    return np.random.default_rng(rank).integers(0, SLOTS * comm.size, UPDATES)


def check_histogram(dimensions: int | Literal["auto"]) -> None:
    """Count the random entries of all ranks, with small buckets."""
    table = np.zeros(SLOTS, np.int64)

    def count_slots(slots: np.ndarray) -> None:
        np.add.at(table, slots, 1)

    with Stream(
        comm, "int64", count_slots, bucket_bytes=512, dimensions=dimensions, mpicc=MPICC
    ) as stream:
        places = draw_slots(comm.rank)
        for some in np.split(places, 10):
            stream.push(some // comm.size, some % comm.size)
        assert stream.wait().size == 0
    every = np.concatenate([draw_slots(rank) for rank in range(comm.size)])
    own = every[every % comm.size == comm.rank] // comm.size
    assert np.array_equal(table, np.bincount(own, minlength=SLOTS))


def check_gather() -> None:
    """Request entries from the ranks that store them, and whose handlers answer."""
    request = np.dtype([("asker", "i4"), ("number", "i4"), ("entry", "i8")])
    answers = Stream(comm, request, mpicc=MPICC)

    def answer_queries(queries: np.ndarray) -> None:
        given = queries.copy()
        given["entry"] = 10 * queries["entry"] + comm.rank
        answers.push(given, queries["asker"])

    requests = Stream(comm, request, answer_queries, mpicc=MPICC)
    for _ in range(2):  # phases
        places = draw_slots(comm.rank)
        asking = np.zeros(UPDATES, request)
        asking["asker"] = comm.rank
        asking["number"] = np.arange(UPDATES)
        asking["entry"] = places // comm.size
        requests.push(asking, places % comm.size)
        requests.wait()
        got = answers.wait()
        assert np.array_equal(np.sort(got["number"]), np.arange(UPDATES))
        queries = places[got["number"]]
        assert np.array_equal(
            got["entry"], 10 * (queries // comm.size) + queries % comm.size
        )
    requests.close()
    answers.close()


def check_item_order() -> None:
    """Pull the items of the previous rank, in the order of its pushes."""
    with Stream(comm, np.int32, mpicc=MPICC) as stream:
        target = (comm.rank + 1) % comm.size
        stream.push(np.arange(5000), target)
        pieces = [stream.pull()]
        stream.push(5000, target)
        pieces.append(stream.wait())
        assert np.array_equal(np.concatenate(pieces), np.arange(5001))


def collect_input_errors() -> list[str]:
    """Expect that invalid items are rejected, and continue after a failing handler."""
    found, seen = [], 0

    def raise_at_first_call(items: np.ndarray) -> None:
        nonlocal seen
        seen += items.size
        if seen == items.size:
            raise ValueError("the first")

    with Stream(
        comm, float, raise_at_first_call, bucket_bytes=64, mpicc=MPICC
    ) as stream:
        for items, ranks in ((1.0, comm.size), (1j, 0), ([1.0, 2.0], [0, 0, 0])):
            try:
                stream.push(items, ranks)
            except topoloom.Error as error:
                found.append(str(error))
        failures = 0
        try:
            stream.push(np.zeros(100), (comm.rank + 1) % comm.size)
        except ValueError:
            failures += 1
        try:
            stream.wait()
        except ValueError:
            failures += 1
            stream.wait()
        assert (failures, seen) == (1, 100)
    try:
        Stream(comm, object, mpicc=MPICC)
    except topoloom.Error as error:
        found.append(str(error))
    return found


def collect_refusals() -> list[str]:
    """Get explanations of inexact items, of failed calls, and of closed streams."""
    found = []
    for dtype, item in ((np.int32, 2**40), (np.float32, 1e300)):
        with Stream(comm, dtype, mpicc=MPICC) as stream:
            stream.push(3, comm.rank)
            try:
                stream.push(item, 0)
            except topoloom.Error as error:
                found.append(str(error))
            assert stream.wait().tolist() == [3]
    stream = Stream(comm, int, mpicc=MPICC)
    stream.done()
    try:
        stream.push(1, 0)
    except MPI.Exception as error:
        found.append(error.reason if error.reason in str(error) else str(error))
    stream.wait()
    stream.close()
    for call in (lambda: stream.push(1, 0), stream.wait, stream.settings):
        try:
            call()
        except ValueError as error:
            found.append(str(error))
    return found


def check_abandoned_stream() -> None:
    """Abandon a stream whose handler fails: none of its items reach the next stream."""

    def raise_error(items: np.ndarray) -> None:
        raise ValueError("a bad item")

    target = (comm.rank + 1) % comm.size
    caught = False
    try:
        with Stream(comm, int, raise_error, mpicc=MPICC) as stream:
            stream.push(np.full(10_000, -1), target)
            stream.wait()
    except ValueError:
        caught = True
    with Stream(comm, int, mpicc=MPICC) as following:
        following.push(np.arange(10_000), target)
        assert np.array_equal(following.wait(), np.arange(10_000))
    assert caught


def check_exception_of_other_stream() -> None:
    """Expect the exception of one stream's handler from another stream's call."""

    def raise_error(items: np.ndarray) -> None:
        raise ValueError("a bad item")

    failing = Stream(comm, int, raise_error, mpicc=MPICC)
    other = Stream(comm, int, mpicc=MPICC)
    failing.push(1, comm.rank)
    failing.flush()
    caught = False
    try:
        other.progress()
    except ValueError:
        caught = True
    assert caught
    failing.wait()
    other.wait()
    failing.close()
    other.close()


for dimensions in (1, 2, "auto"):
    check_histogram(dimensions)
check_gather()
check_item_order()
check_exception_of_other_stream()
lines = [*collect_input_errors(), *collect_refusals()]
check_abandoned_stream()
sys.stdout.write("; ".join(lines) + "\n")
