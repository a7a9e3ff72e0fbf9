# SPDX-License-Identifier: BSD-3-Clause
"""Schedules deliver the result of each MPI collective, byte by byte.

This is an independent implementation of `Schedule.check`. For each block, a rank stores
the set of ranks that contributed to it. A message carries the data that its sender had
before the round. In reductions, no contribution may arrive twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from random import Random

import pytest

from topoloom import CommGraph, Error
from topoloom.schedules import Schedule, schedules

RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 23, 24, 31, 33)
ROOTED = {"bcast", "reduce", "scatter", "gather"}
#: Operations on a vector that the schedule splits into pieces.
CUT = {"bcast", "reduce", "allreduce"}
REDUCING = {"reduce", "allreduce", "reduce_scatter", "scan", "exscan", "barrier"}
#: Non-default values of options.
OPTIONS = {
    "binomial": ["radix=3", "radix=4", "radix=7"],
    "chain": ["segment=1", "segment=7", "segment=64"],
    "two-trees": ["segment=1", "segment=7", "segment=64"],
    "disjoint-trees": ["segment=1", "lines=open,segment=7", "grid=4x2x3", "grid=3x11"],
    "cyclic": ["seats=0-2:4-6:9:12/16", "seats=5:0-3:8-10/12"],
    "pairwise": ["seats=0-2:4-6:9:12", "seats=5:0-3:8-10"],
    "scatter-allgather": ["gather=doubling", "cut=rounded-up"],
    "recursive-doubling": ["fold=even", "fold=odd", "radix=3", "radix=5,fold=odd"],
    "halving": ["fold=even", "fold=odd", "order=near", "cut=last"],
    "bruck": ["radix=3", "radix=4", "radix=7"],
    "dissemination": ["radix=3", "radix=4", "radix=7"],
    "k-prefix": ["k=1", "k=2", "k=4", "k=8,barrier=stop"],
    "k-shift": ["k=1", "k=3", "k=5", "k=4,barrier=stop"],
    "hypercube-direct": ["direct=0", "direct=1", "direct=2"],
}
ENTRIES = [
    (str(one["name"]), str(operation))
    for one in schedules()
    for operation in one["operations"]  # type: ignore[attr-defined]
]

Held = list[dict[int, frozenset[int]]]  # by rank and block: contributors


def list_schedule_texts(name: str) -> list[str]:
    """List a schedule with each combination of its options."""
    return [name, *(f"{name}({options})" for options in OPTIONS.get(name, []))]


def make_initial_data(operation: str, ranks: int, blocks: set[int], root: int) -> Held:
    """Return the initial data of each rank."""
    held: Held = []
    for rank in range(ranks):
        own = frozenset([rank])
        if operation in REDUCING:
            held.append(dict.fromkeys(blocks, own))
        elif operation == "bcast":
            held.append(
                dict.fromkeys(blocks if rank == root else (), frozenset([root]))
            )
        elif operation == "scatter":
            held.append({block: frozenset([root]) for block in blocks if rank == root})
        elif operation in ("alltoall", "many-to-many"):
            held.append({block: own for block in blocks if block // ranks == rank})
        else:
            held.append({rank: own})
    return held


def make_final_data(
    operation: str,
    ranks: int,
    blocks: set[int],
    root: int,
    wanted: set[tuple[int, int]],
) -> Held:
    """Return the final data that MPI specifies for each rank."""
    every = frozenset(range(ranks))
    ends: Held = [{} for _ in range(ranks)]
    for rank in range(ranks):
        if operation in ("allreduce", "barrier"):
            ends[rank] = dict.fromkeys(blocks, every)
        elif operation == "reduce":
            ends[rank] = dict.fromkeys(blocks if rank == root else (), every)
        elif operation == "reduce_scatter":
            ends[rank] = {rank: every}
        elif operation in ("scan", "exscan"):
            below = frozenset(range(rank + (operation == "scan")))
            ends[rank] = dict.fromkeys(blocks, below) if below else {}
        elif operation == "bcast":
            ends[rank] = dict.fromkeys(blocks, frozenset([root]))
        elif operation == "scatter":
            ends[rank] = {rank: frozenset([root])}
        elif operation in ("gather", "allgather"):
            all_own = {block: frozenset([block]) for block in range(ranks)}
            ends[rank] = all_own if operation == "allgather" or rank == root else {}
        elif operation in ("alltoall", "many-to-many"):
            ends[rank] = {a * ranks + b: frozenset([a]) for a, b in wanted if b == rank}
        else:
            ends[rank] = {a: frozenset([a]) for a, b in wanted if b == rank}
    return ends


def run_schedule(
    schedule: Schedule,
    size: int,
    root: int,
    wanted: dict[tuple[int, int], int],
    in_all: bool = False,
) -> None:
    """Move data round by round, and check the final data of each rank."""
    operation, ranks = schedule.operation, schedule.ranks
    rounds = []
    for number in range(schedule.rounds):
        columns = [column.tolist() for column in schedule.messages(number)]
        rounds.append(
            [
                (a, b, bytes_, schedule.blocks(number, a, b))
                for a, b, bytes_ in zip(*columns, strict=True)
            ]
        )
    sizes = get_block_sizes(operation, ranks, size, wanted)
    if in_all:  # blocks differ by at most one byte, longer blocks first
        sizes = {block: (size + ranks - 1 - block) // ranks for block in range(ranks)}
    if operation in CUT:
        sizes = find_piece_sizes(rounds)
        assert sum(sizes.values()) == (size if rounds else 0)
    blocks = set(sizes)
    held = make_initial_data(operation, ranks, blocks, root)
    for sent in rounds:
        pairs = [(a, b) for a, b, *_ in sent]
        assert len(set(pairs)) == len(pairs)
        arriving = []
        for a, b, bytes_, carried in sent:
            assert a != b
            assert len(set(carried)) == len(carried)
            assert bytes_ == sum(sizes[block] for block in carried)
            arriving += [(b, block, held[a][block]) for block in carried]
        merge_received(operation, held, arriving)
    ends = make_final_data(operation, ranks, blocks, root, set(wanted))
    for rank, (have, want) in enumerate(zip(held, ends, strict=True)):
        for block, parts in want.items():
            if operation in ("scan", "exscan"):
                assert parts <= have.get(block, frozenset()), (rank, block)
            elif sizes[block] or operation not in CUT:  # empty pieces are not sent
                assert have.get(block) == parts, (rank, block)


def get_block_sizes(
    operation: str, ranks: int, size: int, wanted: dict[tuple[int, int], int]
) -> dict[int, int]:
    """Return the bytes of each block, if they follow from the call."""
    if operation == "many-to-many":
        return {a * ranks + b: bytes_ for (a, b), bytes_ in wanted.items()}
    if operation == "many-to-many-multicast":
        return {a: bytes_ for (a, _), bytes_ in wanted.items()}
    if operation == "alltoall":
        return dict.fromkeys(range(ranks * ranks), size)
    if operation in ("scan", "exscan", "barrier"):
        return {0: size}
    return dict.fromkeys(range(ranks), size)


def find_piece_sizes(
    rounds: list[list[tuple[int, int, int, list[int]]]],
) -> dict[int, int]:
    """Compute the bytes of a vector's pieces from the messages that carry them."""
    known: dict[int, int] = {}
    messages = [(bytes_, carried) for sent in rounds for *_, bytes_, carried in sent]
    pieces = {block for _, carried in messages for block in carried}
    while len(known) < len(pieces):
        before = len(known)
        for bytes_, carried in messages:
            rest = [block for block in carried if block not in known]
            left = bytes_ - sum(known[block] for block in carried if block in known)
            if len(rest) == 1:
                known[rest[0]] = left
            elif left == 0:
                known |= dict.fromkeys(rest, 0)
        assert len(known) > before, "no message has exactly one unknown piece"
    return known


def merge_received(
    operation: str, held: Held, arriving: list[tuple[int, int, frozenset[int]]]
) -> None:
    """Merge received parts; no contribution may be added twice."""
    for rank, block, parts in arriving:
        there = held[rank].get(block, frozenset())
        doubled = there & parts
        # A complete sum may replace a partial one, and barriers add nothing. In a ring,
        # pieces of a bcast return to the root.
        fine = there < parts or operation in ("barrier", "bcast")
        assert not doubled or fine, (rank, block)
        held[rank][block] = there | parts


def list_all_pairs(ranks: int) -> dict[tuple[int, int], int]:
    return {(a, b): 1 for a in range(ranks) for b in range(ranks) if a != b}


@pytest.mark.parametrize(("name", "operation"), ENTRIES, ids=str)
def test_schedules_deliver_the_data_that_mpi_requires(
    name: str, operation: str
) -> None:
    rng = Random(10)
    played = 0
    for ranks in RANKS:
        root = rng.randrange(ranks) if operation in ROOTED else 0
        size = 0 if operation == "barrier" else rng.choice((1, 40, 101))
        degree = rng.randint(0, ranks - 1) if operation.startswith("many") else None
        wanted = list_all_pairs(ranks)
        if degree is not None:
            wanted = {
                (a, (a + by) % ranks): size
                for a in range(ranks)
                for by in range(1, degree + 1)
            }
        for full in list_schedule_texts(name):
            try:
                schedule = Schedule(full, operation, ranks, size, root, degree)
            except Error:  # does not support this operation or number of ranks
                continue
            run_schedule(schedule, size, root, wanted)
            played += 1
    assert played >= len(RANKS) // 2


@pytest.mark.parametrize(
    "name", [name for name, operation in ENTRIES if operation == "many-to-many"]
)
@pytest.mark.parametrize("multicast", [False, True], ids=["own", "multicast"])
def test_multicasts_deliver_data_to_all_receivers(name: str, multicast: bool) -> None:
    rng = Random(11)
    for ranks in RANKS[1:]:
        pairs = [(rng.randrange(ranks), rng.randrange(ranks)) for _ in range(2 * ranks)]
        wanted = {(a, b): rng.randrange(1, 99) for a, b in pairs if a != b}
        if multicast:
            wanted = {(a, b): 10 + a for a, b in wanted}
        columns = [list(column) for column in zip(*wanted, strict=True)] or [[], []]
        demand = CommGraph.from_edges(ranks, *columns, list(wanted.values()))
        run_schedule(Schedule.many_to_many(name, demand, multicast), 0, 0, wanted)


@pytest.mark.parametrize(
    ("name", "operation"),
    [one for one in ENTRIES if one[1] in ("allgather", "reduce_scatter")],
    ids=str,
)
def test_schedules_deliver_blocks_of_different_sizes(name: str, operation: str) -> None:
    rng = Random(12)
    for ranks in RANKS:
        for full in list_schedule_texts(name):
            size = rng.choice((0, 1, 40, 1001))
            try:
                schedule = Schedule(full, operation, ranks, size, in_all=True)
            except Error:
                continue
            run_schedule(schedule, size, 0, list_all_pairs(ranks), in_all=True)


@pytest.mark.parametrize(("name", "operation"), ENTRIES, ids=str)
def test_messages_of_all_rounds_add_up_to_the_graph(name: str, operation: str) -> None:
    for ranks, size in ((5, 60), (8, 64), (12, 100)):
        degree = 3 if operation.startswith("many") else None
        size = 0 if operation == "barrier" else size
        try:
            schedule = Schedule(name, operation, ranks, size, 0, degree)
        except Error:
            continue
        sums: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        for number in range(schedule.rounds):
            for a, b, bytes_ in zip(*schedule.messages(number), strict=True):
                sums[int(a), int(b)] += Counter(bytes=int(bytes_), messages=1)
        graph = schedule.graph()
        edges = {
            (rank, int(graph.peer[edge])): (
                int(graph.bytes[edge]),
                int(graph.messages[edge]),
            )
            for rank, (first, last) in enumerate(pairwise(graph.first.tolist()))
            for edge in range(first, last)
        }
        assert edges == {
            pair: (one["bytes"], one["messages"]) for pair, one in sums.items()
        }
