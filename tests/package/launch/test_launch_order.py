# SPDX-License-Identifier: BSD-3-Clause
"""Which slots of an allocation launchers use, in launcher order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine
from topoloom.allocations.launch_order import LAUNCHERS, PJM, LaunchOrder

NODES, SLOTS = 6, 8


@st.composite
def draw_allocation(draw: st.DrawFn) -> Allocation:
    """Draw nodes in any order, each with some of its slots."""
    machine = Machine(f"tree:{NODES}+node:{SLOTS}")
    nodes = draw(st.permutations(range(NODES)))[: draw(st.integers(1, NODES))]
    slots = []
    for node in nodes:
        free = draw(st.sets(st.integers(0, SLOTS - 1), min_size=1))
        slots += [node * SLOTS + slot for slot in sorted(free)]
    return Allocation(machine, nodes, slots)


def draw_order() -> st.SearchStrategy[LaunchOrder]:
    return st.builds(
        LaunchOrder,
        st.sampled_from([name for name in LAUNCHERS if name != PJM]),  # needs a torus
        st.none() | st.integers(1, SLOTS),
        st.integers(1, 3),
        st.sampled_from([0, 100, 300]),
    )


def list_slots_by_node(allocation: Allocation) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {int(node): [] for node in allocation.nodes}
    for slot in allocation.slots.tolist():
        found[slot // SLOTS].append(slot % SLOTS)
    return found


@given(draw_allocation(), draw_order(), st.integers(1, NODES * SLOTS))
def test_every_rank_has_a_slot_with_free_cores_in_the_allocation(
    allocation: Allocation, order: LaunchOrder, ranks: int
) -> None:
    try:
        used = order.select_used_slots(allocation, ranks, memory=1000).allocation
    except Error:
        return
    slots = used.slots.tolist()
    assert len(slots) == len(set(slots)) == ranks
    own = list_slots_by_node(allocation)
    # Nodes keep their order; nodes without ranks are omitted.
    assert list(dict.fromkeys(slot // SLOTS for slot in slots)) == used.nodes.tolist()
    kept = iter(allocation.nodes.tolist())
    assert all(node in kept for node in used.nodes.tolist())
    for node, places in list_slots_by_node(used).items():
        assert len(places) <= (order.ranks_per_node or SLOTS)
        if order.memory_per_rank:
            assert len(places) * order.memory_per_rank <= 1000
        taken = [p + i for p in places for i in range(order.cores_per_rank)]
        assert len(taken) == len(set(taken))
        assert set(taken) <= set(own[node])


def distribute_cyclically(capacities: list[int], ranks: int) -> list[int]:
    """Distribute ranks as Slurm does: in each round, one rank per node."""
    counts = [0] * len(capacities)
    while ranks:
        for node in range(len(capacities)):
            if ranks and counts[node] < capacities[node]:
                counts[node] += 1
                ranks -= 1
    return counts


@given(draw_allocation(), st.data())
def test_slurm_distributes_ranks_cyclically_over_nodes(
    allocation: Allocation, data: st.DataObject
) -> None:
    ranks = data.draw(st.integers(1, allocation.slot_count))
    capacities = [len(slots) for slots in list_slots_by_node(allocation).values()]
    used = LaunchOrder("slurm").select_used_slots(allocation, ranks).allocation
    counts = [len(slots) for slots in list_slots_by_node(used).values()]
    assert counts == [n for n in distribute_cyclically(capacities, ranks) if n]


@given(st.permutations(range(12)), st.integers(1, 24))
def test_pjm_fills_nodes_along_the_first_axis_first(
    nodes: list[int], ranks: int
) -> None:
    machine = Machine("torus:2x3x2+node:2")
    used = LaunchOrder("pjm").select_used_slots(Allocation(machine, nodes), ranks)
    places = [machine.coordinates(int(slot) // 2) for slot in used.allocation.slots]
    xyz = [[x, y, z] for z in range(2) for y in range(3) for x in range(2)]
    each = 1 if ranks <= 12 else 2
    assert places == [place for place in xyz for _ in range(each)][:ranks]


def test_pjm_needs_the_shape_of_the_job() -> None:
    for text in ("tree:4", "torus:2x2x2x2"):
        machine = Machine(text)
        with pytest.raises(Error, match="describe the job by its shape"):
            LaunchOrder("pjm").select_used_slots(Allocation(machine, [0, 1]), 2)


@given(st.integers(1, NODES), st.data())
def test_counts_of_equal_nodes_differ_by_at_most_one(
    nodes: int, data: st.DataObject
) -> None:
    allocation = Allocation(Machine(f"tree:{NODES}+node:{SLOTS}"), range(nodes))
    most = data.draw(st.none() | st.integers(1, SLOTS))
    ranks = data.draw(st.integers(1, nodes * (most or SLOTS)))
    used = LaunchOrder("slurm", most).select_used_slots(allocation, ranks).allocation
    counts = Counter((used.slots // SLOTS).tolist()).values()
    assert max(counts) - min(counts) <= 1
    assert len(counts) == (-(-ranks // most) if most else min(ranks, nodes))


@given(draw_allocation(), st.sampled_from(["openmpi", "mpich"]), st.data())
def test_mpirun_fills_nodes_sequentially(
    allocation: Allocation, launcher: str, data: st.DataObject
) -> None:
    ranks = data.draw(st.integers(1, allocation.slot_count))
    used = LaunchOrder(launcher).select_used_slots(allocation, ranks).allocation
    assert used.slots.tolist() == allocation.slots.tolist()[:ranks]


@given(draw_allocation(), draw_order())
def test_a_job_that_needs_all_slots_gets_them_under_any_launcher(
    allocation: Allocation, order: LaunchOrder
) -> None:
    try:
        places = order.select_first_slots(allocation, 1, memory=1000)
    except Error:
        return
    used = order.select_used_slots(
        allocation, places.slot_count, memory=1000
    ).allocation
    assert np.array_equal(used.slots, places.slots)
    assert np.array_equal(used.nodes, places.nodes)


def test_used_slots_of_a_large_allocation_are_described() -> None:
    nodes = Allocation.whole(Machine("tree:512+node:48"))

    def describe(order: LaunchOrder, ranks: int = 512) -> str:
        return order.select_used_slots(nodes, ranks, 10**9).note

    assert describe(LaunchOrder()) == (
        "512 nodes of 48 slots: 512 ranks use 1 slot of each, as srun -N 512 -n 512 "
        "does; --ranks-per-node 48 packs them"
    )
    assert describe(LaunchOrder(ranks_per_node=48)) == (
        "512 nodes of 48 slots: 512 ranks use 46 or 47 slots of 11 of them, "
        "as srun -N 11 -n 512 does"
    )
    assert describe(LaunchOrder("openmpi")) == (
        "512 nodes of 48 slots: 512 ranks use 32 to 48 slots of 11 of them, "
        "as mpirun -n 512 does; --ranks-per-node 1 spreads them"
    )
    assert "as mpirun -n 512 -N 2 does" in describe(LaunchOrder("openmpi", 2))
    assert "as mpiexec -n 512 -ppn 2 does" in describe(LaunchOrder("mpich", 2))
    assert describe(LaunchOrder(cores_per_rank=12), 1024) == (
        "512 nodes of 48 slots: 1,024 ranks use 24 slots of each, "
        "as srun -N 512 -n 1024 -c 12 does; --ranks-per-node 4 packs them"
    )
    assert "--map-by ppr:4:node:PE=12" in describe(LaunchOrder("openmpi", 4, 12))
    assert "as mpirun -n 512 -N 1 does" in describe(
        LaunchOrder("openmpi", memory_per_rank=600 * 10**6)
    )
    assert describe(LaunchOrder(), 512 * 48) == ""


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (LaunchOrder(ranks_per_node=9), "ranks_per_node is 9, but only 8 fit"),
        (
            LaunchOrder(cores_per_rank=9),
            "cores_per_rank is 9, but a node of",
        ),
        (LaunchOrder(ranks_per_node=1), "7 ranks on 6 nodes with room for 1 each"),
        (LaunchOrder(memory_per_rank=2000), "more than the 1,000 B of a node"),
    ],
)
def test_a_request_that_fits_no_node_is_refused(
    order: LaunchOrder, message: str
) -> None:
    allocation = Allocation.whole(Machine(f"tree:{NODES}+node:{SLOTS}"))
    for take in (order.select_used_slots, order.select_first_slots):
        with pytest.raises(Error, match=message):
            take(allocation, 7, 1000)


def test_memory_requests_require_known_memory_sizes() -> None:
    allocation = Allocation.whole(Machine("tree:2+node:4"))
    with pytest.raises(Error, match='set memory_size = "512 GiB" in \\[node\\]'):
        LaunchOrder(memory_per_rank=1).select_used_slots(allocation, 2)
