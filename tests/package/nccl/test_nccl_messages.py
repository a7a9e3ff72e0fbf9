# SPDX-License-Identifier: BSD-3-Clause
"""Laws of channels, exchanges and messages, for groups of any shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.nccl.channels import make_double_binary_tree, make_ring, make_tree
from topoloom.nccl.communicator import (
    Communicator,
    NodePaths,
    check_world,
    make_communicator,
    make_switched_paths,
)
from topoloom.nccl.exchange import find_relays, plan_rounds
from topoloom.nccl.messages import ALGORITHMS, Messages, expand_collective


@st.composite
def draw_communicator(draw: st.DrawFn) -> Communicator:
    """Draw some ranks of a job on nodes with a few GPUs."""
    gpus = draw(st.integers(1, 8))
    ranks = draw(st.integers(1, 40))
    members = sorted(
        draw(st.sets(st.integers(0, ranks - 1), min_size=1, max_size=ranks))
    )
    nics = draw(st.integers(1, 8))
    return make_communicator(members, gpus, nics)


def sum_bytes_by_rank(sent: Messages, ranks: int) -> tuple[list[int], list[int]]:
    """Return the bytes that each rank sends and receives."""
    out = np.bincount(sent.source, sent.bytes, ranks)
    into = np.bincount(sent.target, sent.bytes, ranks)
    return out.astype(int).tolist(), into.astype(int).tolist()


@given(draw_communicator())
def test_a_ring_visits_every_rank_once_and_node_by_node(
    group: Communicator,
) -> None:
    node = {rank: n for n, ranks in enumerate(group.nodes) for rank in ranks}
    for channel in range(group.channels):
        order = make_ring(group, channel)
        assert sorted(order) == list(range(group.ranks))
        around = zip(order, [*order[1:], order[0]], strict=True)
        crossings = sum(node[a] != node[b] for a, b in around)
        assert crossings == (len(group.nodes) if len(group.nodes) > 1 else 0)


@given(draw_communicator())
def test_a_tree_has_one_root_and_crosses_to_each_other_node_once(
    group: Communicator,
) -> None:
    node = {rank: n for n, ranks in enumerate(group.nodes) for rank in ranks}
    for channel in range(group.channels):
        up, down = make_tree(group, channel)
        reached = [rank for rank, above in enumerate(up) if above < 0]
        assert len(reached) == 1
        for rank in reached:
            reached.extend(down[rank])
        assert sorted(reached) == list(range(group.ranks))
        assert all(len(children) <= 3 for children in down)
        crossings = sum(a >= 0 and node[r] != node[a] for r, a in enumerate(up))
        assert crossings == len(group.nodes) - 1


@given(st.integers(2, 300))
def test_inner_nodes_of_one_double_tree_are_mostly_leaves_of_the_other(
    count: int,
) -> None:
    inner = [
        {n for n, place in enumerate(twin) if (place.lower, place.upper) != (None,) * 2}
        for twin in make_double_binary_tree(count)
    ]
    assert len(inner[0] & inner[1]) <= 2


@given(draw_communicator(), st.integers(0, 10_000), st.sampled_from(ALGORITHMS))
def test_every_reduced_chunk_is_broadcast(
    group: Communicator, bytes: int, algorithm: str
) -> None:
    sent = expand_collective(group, "allreduce", bytes, algorithm=algorithm)
    out, into = sum_bytes_by_rank(sent, group.ranks)
    assert sum(out) == 2 * (group.ranks - 1) * bytes
    if algorithm == "tree":
        pairs = set(zip(sent.source.tolist(), sent.target.tolist(), strict=True))
        assert {(t, s) for s, t in pairs} == pairs
    if algorithm == "ring" and bytes % (group.channels * group.ranks) == 0:
        assert len(set(out) | set(into)) == 1


@given(draw_communicator(), st.integers(0, 1000))
def test_every_rank_receives_all_blocks_of_other_ranks(
    group: Communicator, block: int
) -> None:
    others = (group.ranks - 1) * block
    _, into = sum_bytes_by_rank(
        expand_collective(group, "allgather", block), group.ranks
    )
    if block % group.channels == 0:
        assert into == [others] * group.ranks
    assert sum(into) == group.ranks * others
    out, _ = sum_bytes_by_rank(
        expand_collective(group, "reduce_scatter", block * group.ranks), group.ranks
    )
    assert sum(out) == group.ranks * others


@given(draw_communicator(), st.integers(0, 1000), st.data())
def test_all_but_the_root_receive_a_broadcast_and_send_a_reduction(
    group: Communicator, bytes: int, data: st.DataObject
) -> None:
    root = data.draw(st.integers(0, group.ranks - 1))
    out, into = sum_bytes_by_rank(
        expand_collective(group, "bcast", bytes, root), group.ranks
    )
    assert into == [bytes * (rank != root) for rank in range(group.ranks)]
    out, _ = sum_bytes_by_rank(
        expand_collective(group, "reduce", bytes, root), group.ranks
    )
    assert out == [bytes * (rank != root) for rank in range(group.ranks)]


@given(draw_communicator())
def test_an_alltoall_pairs_every_two_ranks_once(
    group: Communicator,
) -> None:
    seen: set[tuple[int, int]] = set()
    for meetings in plan_rounds(group):
        for rank, meeting in enumerate(meetings):
            assert meetings[meeting.target].source == rank
            seen.add((rank, meeting.target))
    assert len(seen) == group.ranks**2
    assert len(plan_rounds(group)) == group.ranks


@given(draw_communicator())
def test_inter_node_messages_use_the_rail_of_their_target(
    group: Communicator,
) -> None:
    place = {
        rank: (n, i)
        for n, ranks in enumerate(group.nodes)
        for i, rank in enumerate(ranks)
    }
    source, target = (p.ravel() for p in np.meshgrid(*[np.arange(group.ranks)] * 2))
    for a, via, b in zip(
        source.tolist(),
        find_relays(group, source, target).tolist(),
        target.tolist(),
        strict=True,
    ):
        assert place[via][0] == place[a][0]
        if place[a][0] != place[b][0] and via != a:
            assert place[via][1] == place[b][1]


@given(draw_communicator(), st.integers(0, 1000))
def test_an_alltoall_delivers_every_block(group: Communicator, block: int) -> None:
    out, into = sum_bytes_by_rank(
        expand_collective(group, "alltoall", block), group.ranks
    )
    relayed = sum(into) - group.ranks * (group.ranks - 1) * block
    assert relayed >= 0
    assert sum(out) == sum(into)
    assert all(amount >= (group.ranks - 1) * block for amount in into)
    gathered, _ = sum_bytes_by_rank(
        expand_collective(group, "gather", block, 0), group.ranks
    )
    _, scattered = sum_bytes_by_rank(
        expand_collective(group, "scatter", block, 0), group.ranks
    )
    assert min(gathered[1:], default=block) >= block
    assert min(scattered[1:], default=block) >= block


def test_a_node_of_few_nics_has_few_channels() -> None:
    assert make_switched_paths(8, 4).rings[1] == (2, 1, 0, 7, 6, 5, 4, 3)
    assert make_communicator(range(16), 8, nics=4).channels == 8
    assert make_communicator(range(8), 8, nics=4).channels == 2


def test_invalid_communicators_are_refused() -> None:
    with pytest.raises(Error, match="12 ranks are not a multiple of 8 GPUs per node"):
        check_world(12, 8)
    with pytest.raises(Error, match="nodes have 0 GPUs"):
        check_world(12, 0)
    group = make_communicator(range(4), 2)
    with pytest.raises(Error, match="NCCL has no scan"):
        expand_collective(group, "scan", 8)
    with pytest.raises(Error, match="no algorithm of NCCL 'trees'"):
        expand_collective(group, "allreduce", 8, algorithm="trees")
    with pytest.raises(Error, match="no bcast with 4 ranks, 8 bytes and root 4"):
        expand_collective(group, "bcast", 8, root=4)
    with pytest.raises(Error, match="too many messages"):
        expand_collective(make_communicator(range(8000), 8), "alltoall", 8)
    with pytest.raises(Error, match="must pass each of 3 once"):
        NodePaths(((0, 1, 1),), ((0, 1, 2),))
    with pytest.raises(Error, match="give every channel both"):
        NodePaths((), ())
    with pytest.raises(Error, match="no node has 0 GPUs"):
        make_switched_paths(0, 1)
