# SPDX-License-Identifier: BSD-3-Clause
"""Compares messages of collectives with a simulation of data, and known totals."""

from __future__ import annotations

import collective_rounds as rounds
import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.graphs.messages import Messages
from topoloom.graphs.mpi_collectives import (
    OPERATIONS,
    expand,
    messages_by_schedule,
    usual_schedule,
)

sizes = st.integers(2, 24)
amounts = st.integers(0, 300)
powers = st.sampled_from([2, 4, 8, 16, 32])


Pairs = dict[tuple[int, int], tuple[int, int]]


def map_messages_by_pair(
    operation: str, schedule: str, size: int, bytes: int, root: int = 0
) -> Pairs:
    """Return {(source, target): (bytes, messages)}."""
    found = messages_by_schedule(schedule, operation, size, bytes, root)
    rows = zip(*(column.tolist() for column in found), strict=True)
    return {(s, t): (sent, count) for s, t, sent, count in rows}


def assert_all_ranks_have(
    ranks: rounds.SimulatedRanks, piece: int, contributions: set[int]
) -> None:
    assert all(held[piece] == contributions for held in ranks.held)


@given(sizes, amounts, st.data())
def test_a_binomial_bcast_reaches_every_rank_once(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.bcast_binomial(size, bytes, root)
    assert_all_ranks_have(slow, 0, {root})
    assert map_messages_by_pair("bcast", "binomial", size, bytes, root) == slow.sent


@given(sizes, amounts, st.data())
def test_a_binomial_reduction_adds_every_rank(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.reduce_binomial(size, bytes, root)
    assert slow.held[root][0] == set(range(size))
    assert map_messages_by_pair("reduce", "binomial", size, bytes, root) == slow.sent


@given(sizes, amounts, st.data())
def test_a_binomial_gather_collects_every_block_and_scatter_is_its_mirror(
    size: int, block: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.gather_binomial(size, block, root)
    assert set(slow.held[root]) == set(range(size))
    assert map_messages_by_pair("gather", "binomial", size, block, root) == slow.sent
    mirror = {(t, s): sent for (s, t), sent in slow.sent.items()}
    assert map_messages_by_pair("scatter", "binomial", size, block, root) == mirror


@given(sizes, amounts, st.data())
def test_a_scattered_bcast_with_a_ring_gives_every_piece_to_all(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.bcast_scattered(size, bytes, root, ring=True)
    assert all(set(held) == set(range(size)) for held in slow.held)
    schedule = "scatter-allgather(gather=ring,cut=rounded-up)"
    assert map_messages_by_pair("bcast", schedule, size, bytes, root) == slow.sent


@given(powers, amounts, st.data())
def test_a_scattered_bcast_with_doubling_gives_every_piece_to_all(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.bcast_scattered(size, bytes, root, ring=False)
    assert all(set(held) == set(range(size)) for held in slow.held)
    schedule = "scatter-allgather(gather=doubling,cut=rounded-up)"
    assert map_messages_by_pair("bcast", schedule, size, bytes, root) == slow.sent


@given(powers, amounts)
def test_doubling_allgather_gives_every_block_to_all(size: int, total: int) -> None:
    slow = rounds.allgather(size, total, rounds.doubling_allgather)
    assert all(set(held) == set(range(size)) for held in slow.held)
    assert (
        map_messages_by_pair("allgatherv", "recursive-doubling", size, total)
        == slow.sent
    )


@pytest.mark.parametrize(
    ("schedule", "collect"),
    [("ring", rounds.ring_allgather), ("bruck", rounds.bruck_allgather)],
)
@given(size=sizes, total=amounts)
def test_allgather_gives_every_block_to_all(
    schedule: str, collect: object, size: int, total: int
) -> None:
    slow = rounds.allgather(size, total, collect)  # type: ignore[arg-type]
    assert all(set(held) == set(range(size)) for held in slow.held)
    assert map_messages_by_pair("allgatherv", schedule, size, total) == slow.sent


@given(sizes, amounts)
def test_allreduce_adds_every_rank_everywhere(size: int, bytes: int) -> None:
    slow = rounds.allreduce_doubling(size, bytes)
    assert_all_ranks_have(slow, 0, set(range(size)))
    schedule = "recursive-doubling(fold=even)"
    assert map_messages_by_pair("allreduce", schedule, size, bytes) == slow.sent


@given(sizes, amounts)
def test_rabenseifners_allreduce_adds_every_piece_everywhere(
    size: int, bytes: int
) -> None:
    slow = rounds.allreduce_rabenseifner(size, bytes)
    for piece in range(len(slow.sizes)):
        assert_all_ranks_have(slow, piece, set(range(size)))
    schedule = "halving(fold=even,order=near,cut=last)"
    assert map_messages_by_pair("allreduce", schedule, size, bytes) == slow.sent


@given(sizes, amounts, st.data())
def test_rabenseifners_reduction_adds_every_piece_at_the_root(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    slow = rounds.reduce_rabenseifner(size, bytes, root)
    everybody = set(range(size))
    assert all(slow.held[root][p] == everybody for p in range(len(slow.sizes)))
    schedule = "halving(fold=odd,order=near,cut=last)"
    assert map_messages_by_pair("reduce", schedule, size, bytes, root) == slow.sent


@given(sizes, amounts)
def test_reduce_scatter_by_halving_adds_each_ranks_block(size: int, total: int) -> None:
    slow = rounds.reduce_scatter_halving(size, total)
    assert all(slow.held[r][r] == set(range(size)) for r in range(size))
    assert (
        map_messages_by_pair("reduce_scatter", "halving(fold=even)", size, total)
        == slow.sent
    )


@given(sizes, amounts)
def test_scan_adds_the_contributions_of_lower_ranks(size: int, bytes: int) -> None:
    slow = rounds.scan_doubling(size, bytes)
    assert all(set(range(r + 1)) <= slow.held[r][0] for r in range(size))
    for operation in ("scan", "exscan"):
        assert (
            map_messages_by_pair(operation, "recursive-doubling", size, bytes)
            == slow.sent
        )


@given(st.integers(2, 17), amounts)
def test_bruck_delivers_every_block_of_an_alltoall(size: int, block: int) -> None:
    slow = rounds.alltoall_bruck(size, block)
    for target in range(size):
        assert all(s * size + target in slow.held[target] for s in range(size))
    assert map_messages_by_pair("alltoall", "bruck", size, block) == slow.sent


@given(sizes, amounts)
def test_pairwise_exchange_sends_each_block_once(size: int, bytes: int) -> None:
    everybody = {(s, t) for s in range(size) for t in range(size) if s != t}
    for schedule in ("at-once", "pairwise"):
        alltoall = map_messages_by_pair("alltoall", schedule, size, bytes)
        assert alltoall == dict.fromkeys(everybody, (bytes, 1))
    blocks = rounds.split_evenly(bytes, size)
    scattered = map_messages_by_pair("reduce_scatter", "pairwise", size, bytes)
    assert scattered == {(s, t): (blocks[t], 1) for s, t in everybody}


@given(sizes)
def test_a_barrier_informs_every_rank_of_every_other(size: int) -> None:
    # Dissemination: in round k, each rank sends all that it knows 2^k ranks ahead.
    heard = [{r} for r in range(size)]
    expected: dict[tuple[int, int], tuple[int, int]] = {}
    distance = 1
    while distance < size:
        old = [set(h) for h in heard]
        for r in range(size):
            heard[(r + distance) % size] |= old[r]
            key = r, (r + distance) % size
            expected[key] = (0, expected.get(key, (0, 0))[1] + 1)
        distance *= 2
    assert all(h == set(range(size)) for h in heard)
    assert map_messages_by_pair("barrier", "dissemination", size, 0) == expected


@pytest.mark.parametrize(
    ("operation", "size", "bytes", "schedule"),
    [
        ("bcast", 100, 12287, "binomial"),
        ("bcast", 7, 10**6, "binomial"),
        ("bcast", 64, 12288, "scatter-allgather(gather=doubling,cut=rounded-up)"),
        ("bcast", 100, 12288, "scatter-allgather(gather=ring,cut=rounded-up)"),
        ("bcast", 64, 524288, "scatter-allgather(gather=ring,cut=rounded-up)"),
        ("reduce", 10, 2048, "binomial"),
        ("reduce", 10, 2049, "halving(fold=odd,order=near,cut=last)"),
        ("allreduce", 10, 2048, "recursive-doubling(fold=even)"),
        ("allreduce", 10, 2049, "halving(fold=even,order=near,cut=last)"),
        ("gather", 10, 1, "binomial"),
        ("scatter", 10, 10**7, "binomial"),
        ("allgather", 64, 8191, "recursive-doubling"),
        ("allgather", 64, 8192, "ring"),
        ("allgather", 100, 819, "bruck"),
        ("allgather", 100, 820, "ring"),
        ("allgatherv", 100, 81919, "bruck"),
        ("allgatherv", 100, 81920, "ring"),
        ("alltoall", 8, 256, "bruck"),
        ("alltoall", 7, 256, "at-once"),
        ("alltoall", 8, 257, "at-once"),
        ("alltoall", 8, 32768, "at-once"),
        ("alltoall", 8, 32769, "pairwise"),
        ("reduce_scatter", 10, 524287, "halving(fold=even)"),
        ("reduce_scatter", 10, 524288, "pairwise"),
        ("barrier", 10, 0, "dissemination"),
        ("scan", 10, 8, "recursive-doubling"),
        ("exscan", 10, 8, "recursive-doubling"),
    ],
)
def test_the_algorithm_depends_on_size_and_count_as_mpich_documents(
    operation: str, size: int, bytes: int, schedule: str
) -> None:
    assert usual_schedule(operation, size, bytes) == schedule


@given(
    st.sampled_from(OPERATIONS),
    st.integers(1, 40),
    st.sampled_from([0, 1, 7, 300, 5000, 10**5, 10**6]),
    st.data(),
)
def test_no_rank_sends_to_itself_or_to_an_invalid_rank(
    operation: str, size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    found = expand(operation, size, bytes, root)
    assert np.all(found.source != found.target)
    assert np.all((found.source >= 0) & (found.source < size))
    assert np.all((found.target >= 0) & (found.target < size))
    assert np.all(found.messages > 0)
    assert np.all(found.bytes >= 0)
    keys = found.source * size + found.target
    assert np.all(np.diff(keys) > 0), "each pair once, in order"


@given(st.integers(2, 60), st.integers(0, 10**6), st.data())
def test_every_collective_delivers_its_data(
    size: int, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, size - 1))
    bcast = expand("bcast", size, bytes, root)
    assert count_received_bytes(bcast, size)[np.arange(size) != root].min() >= bytes
    gathered = expand("gather", size, bytes, root)
    assert count_received_bytes(gathered, size)[root] == (size - 1) * bytes
    scattered = expand("scatter", size, bytes, root)
    sent = np.bincount(scattered.source, scattered.bytes, size)
    assert sent[root] == (size - 1) * bytes
    assert (
        count_received_bytes(expand("allgather", size, bytes), size).min()
        >= (size - 1) * bytes
    )
    assert (
        count_received_bytes(expand("alltoall", size, bytes), size).min()
        >= (size - 1) * bytes
    )
    assert (
        count_received_bytes(expand("reduce", size, bytes, root), size).sum()
        >= (size - 1) * bytes
    )


def count_received_bytes(found: Messages, size: int) -> np.ndarray:
    return np.bincount(found.target, found.bytes, size)


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - {"alltoall"}))
@pytest.mark.parametrize("size", [2**17, 100_003])
def test_collectives_of_a_hundred_thousand_ranks_are_expanded_quickly(
    operation: str, size: int
) -> None:
    found = expand(operation, size, 1, size // 3)
    assert len(found.source) <= 2 * size * size.bit_length()


def test_an_exchange_of_too_many_pairs_is_refused_with_a_remedy() -> None:
    with pytest.raises(Error, match="keep or drop the collectives"):
        expand("alltoall", 100_000, 10**6)


@pytest.mark.parametrize(
    ("operation", "size", "bytes", "root"),
    [("bcast", 0, 1, 0), ("bcast", 4, -1, 0), ("bcast", 4, 1, 4), ("bcst", 4, 1, 0)],
)
def test_impossible_collectives_are_refused(
    operation: str, size: int, bytes: int, root: int
) -> None:
    with pytest.raises(Error, match="no "):
        expand(operation, size, bytes, root)
