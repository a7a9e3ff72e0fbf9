# SPDX-License-Identifier: BSD-3-Clause
"""Times of SimGrid's SMPI on our machines equal times computed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mpis import HALO3D, OPEN_MPI_4, build_program, record_run
from simulated import (
    CLOSE,
    FREE,
    LATENCY,
    LINKS,
    NODE,
    RATE,
    SIZE,
    make_graph,
    simulate_seconds,
)

from topoloom import Allocation, CommGraph, Error, Machine, Placement, place
from topoloom.graphs import alltoall, random_geometric, stencil
from topoloom.graphs.phases import edge_rows
from topoloom.placements import objective_value, predicted_time
from topoloom.simulate import SIMULATORS, load_simulator, simgrid as smpi
from topoloom.simulate.rounds import split_into_rounds
from topoloom.simulate.simgrid import simulate

#: By machine: a message, one that shares a link with it, and one that shares none.
NETWORKS = {
    f"torus:8,{LINKS}{FREE}": ((0, 2), (1, 3), (4, 6)),
    f"torus:4x4x4,{LINKS}{FREE}": ((0, 2), (1, 3), (16, 18)),
    # Messages 0 -> 4 and 2 -> 6 share the link down to a leaf switch.
    f"fattree:4:4,up=1:2,{LINKS}{FREE}": ((0, 4), (2, 6), (1, 5)),
    # Two groups are connected by one link.
    f"dragonfly:5x2,nodes=2,hosts=free,{LINKS}{FREE}": ((0, 4), (2, 6), (8, 12)),
    f"tree:4:4,{LINKS}{FREE}": ((0, 4), (1, 5), (8, 12)),
}


@pytest.mark.parametrize("text", NETWORKS)
def test_messages_that_share_a_link_take_twice_as_long_and_others_do_not(
    text: str,
) -> None:
    machine = Machine(text)
    one, meets, apart = NETWORKS[text]
    links = {
        each: {link for link, _ in machine.route(*each)} for each in NETWORKS[text]
    }
    assert links[one] & links[meets]
    assert not links[one] & links[apart]
    alone = simulate_seconds(text, [one])
    way = len(links[one]) * LATENCY
    assert alone == pytest.approx(way + SIZE / RATE, rel=CLOSE)
    assert simulate_seconds(text, [one, apart]) == pytest.approx(alone, abs=4 * LATENCY)
    # Both messages arrive when the link has carried the bytes of both.
    both = 2 * SIZE / RATE
    assert simulate_seconds(text, [one, meets]) == pytest.approx(
        both + way, abs=4 * LATENCY
    )


def test_a_message_waits_for_its_slowest_link() -> None:
    text = f"torus:4x4,{LINKS},bandwidth.y=250MB/s{FREE}"
    assert simulate_seconds(text, [(0, 1)]) == pytest.approx(
        1e-6 + SIZE / 250e6, rel=1e-4
    )
    assert simulate_seconds(text, [(0, 4)]) == pytest.approx(
        1e-6 + SIZE / 1e9, rel=1e-4
    )


def test_acknowledgements_and_windows_cost_nothing() -> None:
    text = f"torus:8,bandwidth=10GB/s,latency=1ms{FREE}"
    expected = 1e-3 + 10**9 / 10e9
    for messages in ([(0, 1)], [(0, 1), (1, 0)]):
        assert simulate_seconds(text, messages, 10**9) == pytest.approx(
            expected, rel=CLOSE
        )


def test_a_distant_flow_gets_an_equal_share_of_a_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The longer route also crosses a slower link.

    Like TCP, SimGrid would give the shorter route two thirds of the shared link. The
    shorter route would end after 1.5 ms, with half of the other message still to send.
    """
    line = f"graph:3:0-1@1GB/s,1-2@500MB/s,latency=1us{FREE}"
    both = [(0, 1), (0, 2)]
    assert simulate_seconds(line, both) == pytest.approx(2e-3, rel=2e-3)
    monkeypatch.setattr(smpi, "EXTRA_LATENCY", 0.0)
    assert simulate_seconds(line, both) == pytest.approx(2.5e-3, rel=1e-2)


def test_settings_of_simgrid_can_be_changed() -> None:
    """With cross-traffic, acknowledgments take 5 % of the reverse route."""
    machine = Machine(f"torus:8,bandwidth=1GB/s{FREE}")
    settings = [each for each in smpi.SETTINGS if "crosstraffic" not in each]
    one, both = make_graph(8, [(0, 1)]), make_graph(8, [(0, 1), (1, 0)])
    alone, meet = simulate(machine, list(range(8)), [one, both], settings).seconds
    assert alone == pytest.approx(SIZE / RATE, rel=CLOSE)
    assert meet == pytest.approx(1.05 * alone, rel=1e-3)


def test_a_message_may_be_larger_than_two_gigabytes() -> None:
    """SMPI itself stores byte counts in an int."""
    text = f"torus:8,bandwidth=1GB/s,latency=1s{FREE}"
    assert simulate_seconds(text, [(0, 1)], 10**10) == pytest.approx(1 + 10, rel=CLOSE)
    both = simulate_seconds(text, [(0, 2), (1, 3)], 10**12)
    assert both == pytest.approx(2 + 2000, rel=CLOSE)


def test_ports_limit_a_node_and_messages_have_a_startup_cost() -> None:
    inside = "+node:2,bandwidth=500MB/s,startup=10us"
    text = f"torus:4x4,{LINKS}{inside}"
    port = SIZE / 500e6
    late = 10e-6 + LATENCY
    assert simulate_seconds(text, [(0, 1)]) == pytest.approx(late + port, rel=CLOSE)
    # Node 0 sends over two links, then receives over two links.
    for messages in ([(0, 1), (0, 4)], [(1, 0), (4, 0)]):
        assert simulate_seconds(text, messages) == pytest.approx(
            late + 2 * port, rel=CLOSE
        )
    assert simulate_seconds(text, [(0, 1), (1, 0)]) == pytest.approx(
        late + port, rel=CLOSE
    )


@pytest.mark.parametrize("size", [0, 8, 1000, SIZE])
def test_a_message_takes_startup_plus_latencies_plus_bytes_over_bandwidth(
    size: int,
) -> None:
    text = f"torus:8,{LINKS}+node:1,{NODE}"
    expected = 2e-6 + 3e-6 + 2 * LATENCY + size / RATE
    assert simulate_seconds(text, [(0, 2)], size) == pytest.approx(expected, rel=CLOSE)


def test_messages_inside_a_node_share_its_memory() -> None:
    machine = Machine(f"torus:2,{LINKS}+node:4,{NODE}")

    def simulate_inside_node(*messages: tuple[int, int]) -> float:
        (found,) = simulate(
            machine, [0, 0, 0, 0], [make_graph(4, list(messages))]
        ).seconds
        return found

    assert simulate_inside_node((0, 1)) == pytest.approx(1e-6 + SIZE / 4e9, rel=CLOSE)
    assert simulate_inside_node((0, 1), (2, 3)) == pytest.approx(
        1e-6 + 2 * SIZE / 4e9, rel=CLOSE
    )
    # Nodes do not share memory bandwidth.
    (found,) = simulate(
        machine, [0, 0, 1, 1], [make_graph(4, [(0, 1), (2, 3)])]
    ).seconds
    assert found == pytest.approx(1e-6 + SIZE / 4e9, rel=CLOSE)


def test_messages_within_a_slot_cost_nothing() -> None:
    machine = Machine(f"torus:2,{LINKS}")
    (found,) = simulate(machine, [0, 0], [make_graph(2, [(0, 1)])]).seconds
    assert found < 1e-9


@pytest.mark.parametrize(("on_one_node", "startup"), [(False, 2e-6), (True, 1e-6)])
def test_a_sender_starts_its_messages_in_sequence(
    on_one_node: bool, startup: float
) -> None:
    machine = Machine(f"torus:8,{LINKS}+node:8,{NODE}")
    fan = make_graph(8, [(0, each) for each in range(1, 8)], 8)
    nodes = [0] * 8 if on_one_node else list(range(8))
    (found,) = simulate(machine, nodes, [fan]).seconds
    assert 7 * startup <= found < 7 * startup + 3e-6 + 4 * LATENCY + 1e-7


@pytest.mark.parametrize("target", [1, 2])
def test_a_pair_with_n_messages_takes_n_rounds(target: int) -> None:
    machine = Machine(f"torus:8,{LINKS}+node:2,{NODE}")
    nodes = [each // 2 for each in range(16)]
    patterns = [make_graph(16, [(0, target)], 64, times) for times in (1, 5, 10**6)]
    one, five, million = simulate(machine, nodes, patterns).seconds
    assert (five, million) == (pytest.approx(5 * one), pytest.approx(10**6 * one))


def test_pairs_with_fewer_messages_finish_after_fewer_rounds() -> None:
    """Both pairs share a link in two rounds; one pair uses it alone in three rounds."""
    machine = Machine(f"torus:8,{LINKS}{FREE}")
    counts = np.array([2, 5])
    pattern = CommGraph.from_edges(8, [0, 1], [2, 3], SIZE * counts, counts)
    together, alone = (
        simulate_seconds(machine.text, messages)
        for messages in ([(0, 2), (1, 3)], [(1, 3)])
    )
    assert simulate(machine, list(range(8)), [pattern]).seconds == [
        pytest.approx(2 * together + 3 * alone)
    ]


def test_many_message_counts_are_split_into_few_rounds() -> None:
    counts = np.arange(1, 101)
    source = np.arange(100, dtype=np.uint32)
    pattern = CommGraph.from_edges(101, source, source + 1, 60 * counts, counts)
    found = split_into_rounds(pattern)
    assert len(found) == 16
    assert sum(times for times, _ in found) == 100
    sent = sum(times * part[:, 2].sum() for times, part in found)
    assert sent == pytest.approx(60 * counts.sum())


def test_nodes_of_one_router_are_two_host_links_apart() -> None:
    text = f"torus:4x4,nodes=2,cards=2,{LINKS},bandwidth.host=200MB/s{FREE}"
    expected = pytest.approx(2 * LATENCY + SIZE / 400e6, rel=CLOSE)
    assert simulate_seconds(text, [(0, 1)]) == expected
    assert simulate_seconds(text, [(0, 1), (1, 0)]) == expected


def test_messages_of_different_phases_do_not_share_links() -> None:
    machine = Machine(f"torus:8,{LINKS}{FREE}")
    phases = [
        make_graph(8, [(0, 2)]),
        make_graph(8, [(1, 3)]),
        make_graph(8, [(0, 2), (1, 3)]),
    ]
    first, second, together = simulate(machine, list(range(8)), phases).seconds
    assert first == pytest.approx(second)
    assert together == pytest.approx(2 * first, rel=1e-2)


def test_a_machine_without_bandwidths_is_refused() -> None:
    with pytest.raises(Error, match="4x4 torus gives no bandwidths"):
        simulate(Machine("torus:4x4"), [0, 1], [make_graph(2, [(0, 1)])])


def test_a_recorded_program_is_simulated(tmp_path: Path) -> None:
    """Ranks of a 2x2x2 halo exchange faces of 6x6 doubles, in seven rounds."""
    program = build_program(OPEN_MPI_4, HALO3D)
    words = ["--grid", "2x2x2", "--cells", 6, "--steps", 7]
    profile = record_run(OPEN_MPI_4, 8, program, *words, folder=tmp_path)
    halo = profile.graph("drop")
    machine = Machine(f"mesh:2x2x2,{LINKS}{FREE}")
    (found,) = simulate(machine, list(range(8)), [halo]).seconds
    assert found == pytest.approx(7 * (LATENCY + 6 * 6 * 8 / RATE), rel=CLOSE)


@pytest.mark.parametrize(
    "text", ["torus:4x4x2", "fattree:4:8,up=1:2", "dragonfly:4x4,nodes=2"]
)
def test_predicted_and_simulated_times_agree_if_all_messages_start_at_once(
    text: str,
) -> None:
    """With fair sharing, the last flow ends when the busiest link carried its load."""
    machine = Machine(f"{text},bandwidth=10GB/s,latency=100ns")
    allocation = Allocation.whole(machine)
    pattern = stencil([4, 8], 9, bytes=SIZE)
    for mapper in ("block", "random", "gge"):
        placement = place(pattern, allocation, mapper).placement
        nodes = placement.slots.tolist()
        (found,) = simulate(machine, nodes, [pattern]).seconds
        ours = objective_value(pattern, allocation, placement, objective="time")
        assert found == pytest.approx(ours, rel=0.05)


def test_no_link_carries_more_than_its_bandwidth() -> None:
    """SimGrid 3.32 exceeds the bandwidth by 10 % unless `network/optim` is `Full`."""
    machine = Machine(f"torus:4x4x2,bandwidth=10GB/s,latency=1us{FREE}")
    allocation, pattern = Allocation.whole(machine), stencil([4, 8], 9, bytes=SIZE)
    placement = place(pattern, allocation, "random", seed=4).placement
    (found,) = simulate(machine, placement.slots.tolist(), [pattern]).seconds
    least = objective_value(pattern, allocation, placement, objective="congestion")
    assert least <= found < 1.01 * least


STAR = f"fattree:16,{LINKS}+node:2,{NODE}"


@pytest.mark.parametrize("size", [8, 64 * 1024, SIZE])
@pytest.mark.parametrize("ranks", [16, 32])
def test_an_alltoall_on_a_star_takes_the_predicted_time(size: int, ranks: int) -> None:
    machine = Machine(STAR)
    allocation, pattern = Allocation.whole(machine), alltoall(ranks, size)
    slots = np.arange(ranks, dtype=np.uint32) * (32 // ranks)
    placement = Placement(allocation, slots)
    (found,) = simulate(machine, (slots // 2).tolist(), [pattern]).seconds
    ours = predicted_time(pattern, allocation, placement)
    assert found == pytest.approx(ours, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        f"torus:4x4,nodes=2,cards=1,{LINKS},bandwidth.host=500MB/s+node:4,{NODE}",
        f"dragonfly:5x4,nodes=2,global=8,{LINKS}+node:4,{NODE}",
        f"fattree:4:8,up=1:2,routing=random,{LINKS}+node:4,{NODE},bandwidth=700MB/s",
    ],
)
def test_nothing_is_faster_than_the_busiest_sender_memory_or_port(text: str) -> None:
    """These lower bounds follow from the placement and hold for any routes."""
    machine = Machine(text)
    allocation = Allocation.whole(machine)
    pattern = random_geometric(64, SIZE)
    placement = place(pattern, allocation, "random").placement
    nodes = np.asarray(placement.slots) // 4
    (found,) = simulate(machine, nodes.tolist(), [pattern]).seconds
    source, target, amount, _ = edge_rows(pattern).T
    from_node, to_node = nodes[source], nodes[target]
    inside = from_node == to_node
    memory = np.bincount(from_node[inside], amount[inside]).max(initial=0)
    leaving = np.bincount(from_node[~inside], amount[~inside]).max()
    assert found >= memory / machine.memory_bandwidth
    assert found >= np.bincount(source).max() * machine.memory_startup
    assert found >= leaving / machine.port_bandwidth


def test_one_message_takes_one_route_and_many_spread_over_all() -> None:
    """Two switches of 8 nodes are connected by 4 links of 1 GB/s."""
    text = f"fattree:8:2,up=1:4,routing=random,bandwidth=4GB/s:1GB/s{FREE}"
    assert simulate_seconds(text, [(0, 8)]) == pytest.approx(SIZE / 1e9, rel=1e-3)
    eight = simulate_seconds(text, [(each, each + 8) for each in range(8)])
    assert eight == pytest.approx(2 * SIZE / 1e9, rel=1e-3)


def test_too_many_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smpi, "MAX_MESSAGES", 15)
    with pytest.raises(Error, match="16 concurrent messages are too many for SimGrid"):
        simulate(Machine(f"torus:8,{LINKS}"), list(range(8)), [stencil([8], 3)])


def test_errors_of_simgrid_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(smpi, "write_routes", lambda *_: "<platform")
    with pytest.raises(Error, match=r"SimGrid failed: \S.*"):
        simulate(Machine(f"torus:8,{LINKS}"), [0, 1], [make_graph(2, [(0, 1)])])


def test_the_table_lists_the_available_simulators() -> None:
    for name in SIMULATORS:
        assert callable(load_simulator(name))
    with pytest.raises(Error, match="no simulator 'ns3'; there are: simgrid"):
        load_simulator("ns3")


def test_a_placement_may_leave_slots_idle() -> None:
    machine = Machine(f"torus:4x4,{LINKS}+node:4,startup=0us,latency=0us")
    placement = Placement(Allocation.whole(machine), [61, 1])
    nodes = (placement.slots // 4).tolist()
    assert nodes == [15, 0]
    (found,) = simulate(machine, nodes, [make_graph(2, [(0, 1)])]).seconds
    assert found == pytest.approx(2 * LATENCY + SIZE / RATE, rel=CLOSE)
