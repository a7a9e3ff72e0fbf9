# SPDX-License-Identifier: BSD-3-Clause
"""Compares collectives in switches with messages through the same switches."""

import json

import pytest

from topoloom import Allocation, Error, Machine
from topoloom.simulate.switch_toml import SwitchModel, load_switch
from topoloom.tasks.collectives.multicast_trees import build_trees
from topoloom.tasks.network.tree_times import IN_SWITCHES, SizeTimes, time_trees

SPEEDS = ",bandwidth=1.25GB/s,latency=20ns"
FREE = "+node:1,startup=0us,latency=0us"


def simulate_times(
    machine: str,
    operation: str,
    *sizes: int,
    roots: str = "1",
    members: int | None = None,
    cards: str = "",
) -> list[SizeTimes]:
    """Simulate the operation on all nodes, with switches of a published model."""
    allocation = Allocation.whole(Machine(machine + SPEEDS + cards))
    trees = build_trees(allocation, roots, members)
    return time_trees(
        allocation, trees, operation, sizes, load_switch("kumar-2005")
    ).sizes


@pytest.mark.parametrize("operation", IN_SWITCHES)
@pytest.mark.parametrize("machine", ["fattree:4:4", "fattree:16"])
def test_in_switch_collectives_are_faster_for_small_messages(
    machine: str, operation: str
) -> None:
    for one in simulate_times(machine, operation, 64):
        assert one.messages is not None
        for seconds in one.in_switches.values():
            assert 0 < seconds < one.messages


def test_a_barrier_is_simulated_without_a_size() -> None:
    assert [one.bytes for one in simulate_times("fattree:4:4", "barrier", 8, 64)] == [0]


def test_reduction_time_is_the_sum_of_channels_switches_and_units() -> None:
    [one] = simulate_times("fattree:8", "reduce", 64, cards=FREE)
    # Two channels to and from the switch, two switch crossings, 7 unit passes.
    cycle, channel, switch, flits = 6.4e-9, 20e-9, 90e-9, 8
    unit = 7 * 64 / 2e9
    expected = 2 * (channel + (flits - 1) * cycle) + 2 * switch + unit
    assert one.in_switches["routes"] == pytest.approx(expected, rel=0.02)


def test_concurrent_groups_share_the_network() -> None:
    [alone] = simulate_times("fattree:4:4", "bcast", 4096, members=4)
    [all_] = simulate_times("fattree:4:4", "bcast", 4096, roots="16", members=4)
    assert all_.in_switches["least-loaded"] > alone.in_switches["least-loaded"]
    assert all_.how == "each member"
    [several] = simulate_times("fattree:4:4", "allreduce", 64, roots="2", members=4)
    assert several.messages is None
    assert several.how == "of one root only"


def test_collectives_without_switch_support_are_refused() -> None:
    with pytest.raises(Error, match="no operation in switches 'gather'"):
        simulate_times("fattree:4:4", "gather", 64)
    allocation = Allocation.whole(Machine("fattree:4:4"))
    with pytest.raises(Error, match="has no links with bandwidths"):
        time_trees(allocation, build_trees(allocation), "reduce", (8,))


def test_switches_that_are_not_output_queued_are_refused() -> None:
    allocation = Allocation.whole(Machine("fattree:4:4" + SPEEDS))
    trees = build_trees(allocation)
    with pytest.raises(Error, match="voq switches do not combine packets"):
        time_trees(allocation, trees, "reduce", (8,), SwitchModel(router="voq"))
    slow = SwitchModel(combining=1.0)
    with pytest.raises(Error, match="combining units of 1 bytes per second"):
        time_trees(allocation, trees, "reduce", (8,), slow)


def test_default_buffers_keep_links_busy() -> None:
    allocation = Allocation.whole(
        Machine("torus:4x4,bandwidth=25GB/s,latency=20ns" + FREE)
    )
    trees = build_trees(allocation)
    [one] = time_trees(allocation, trees, "bcast", (1 << 20,)).sizes
    # Packets have 16 flits, of which at most one is for the header.
    least = (1 << 20) / 25e9
    assert least < one.in_switches["routes"] < 1.1 * least


def test_the_json_document_has_times_by_size() -> None:
    allocation = Allocation.whole(Machine("torus:4x4" + SPEEDS))
    found = time_trees(allocation, build_trees(allocation), "bcast", (8, 1024))
    document = json.loads(json.dumps(found.document()))
    assert [size["bytes"] for size in document["sizes"]] == [8, 1024]
    assert set(document["sizes"][0]["in_switches_seconds"]) == {"routes", "disjoint"}
