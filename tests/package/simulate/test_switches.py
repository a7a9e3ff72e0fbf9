# SPDX-License-Identifier: BSD-3-Clause
"""Times of messages through simulated switches follow from the machine; errors."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from topoloom import CommGraph, Error, Machine
from topoloom._core import (
    Schedule,
    SwitchSettings,
    SwitchWiring,
    read_goal,
    simulate_messages,
    simulate_operations,
    simulate_schedule,
)
from topoloom.graphs import stencil
from topoloom.schedules.choose import Call
from topoloom.schedules.exports import goal
from topoloom.schedules.exports.request import ExportRequest
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.simulate.switches import simulate

FREE = "+node:1,startup=0us,latency=0us"
TORUS = f"torus:8,bandwidth=1GB/s,latency=1us{FREE}"


def make_graph(ranks: int, messages: list[tuple[int, int, int]]) -> CommGraph:
    source, target, size = np.array(messages).T
    ends = source.astype(np.uint32), target.astype(np.uint32)
    return CommGraph.from_edges(ranks, *ends, size.astype(float))


def simulate_phases(machine: str, nodes: list[int], *phases: CommGraph) -> list[float]:
    return simulate(Machine(machine), nodes, phases).seconds


def test_a_message_takes_its_transfer_time_plus_latencies() -> None:
    # 1 MB in packets of 4096 bytes, each with a header of 32 bytes.
    (found,) = simulate_phases(TORUS, [0, 3], make_graph(2, [(0, 1, 1_000_000)]))
    assert found == pytest.approx(1e-3 * 4096 / 4064 + 3e-6, rel=0.002)
    (short,) = simulate_phases(TORUS, [0, 3], make_graph(2, [(0, 1, 8)]))
    assert short == pytest.approx(3e-6, rel=0.05)
    costly = TORUS.replace("startup=0us,latency=0us", "startup=7us,latency=2us")
    (late,) = simulate_phases(costly, [0, 3], make_graph(2, [(0, 1, 8)]))
    assert late - short == pytest.approx(9e-6, rel=0.02)


def test_messages_share_links_and_slower_links_take_longer() -> None:
    both = make_graph(4, [(0, 2, 200_000), (1, 3, 200_000)])
    (apart,) = simulate_phases(TORUS, [0, 3, 1, 4], both)
    (meeting,) = simulate_phases(TORUS, [0, 1, 3, 4], both)
    assert meeting == pytest.approx(2 * apart, rel=0.1)
    half = TORUS.replace("1GB/s", "0.5GB/s")
    (slow,) = simulate_phases(half, [0, 3, 1, 4], both)
    assert slow == pytest.approx(2 * apart, rel=0.1)


def test_a_node_sends_no_faster_than_its_memory() -> None:
    away = make_graph(3, [(0, 1, 500_000), (0, 2, 500_000)])
    (fast,) = simulate_phases(TORUS, [0, 1, 7], away)
    inside = TORUS.replace("startup=0us", "bandwidth=1GB/s,startup=0us")
    (slow,) = simulate_phases(inside, [0, 1, 7], away)
    assert slow == pytest.approx(2 * fast, rel=0.05)


def test_simulated_times_are_at_least_the_busiest_link_time() -> None:
    rng = random.Random(4)
    machines = [
        f"torus:4x4,bandwidth=1GB/s,latency=100ns{FREE}",
        f"fattree:4:4,bandwidth=2GB/s,latency=100ns{FREE}",
        f"mesh:4x4,bandwidth=1GB/s,latency=100ns{FREE}",
    ]
    for _ in range(12):
        text = rng.choice(machines)
        machine = Machine(text)
        nodes = rng.sample(range(16), 8)
        messages = {
            (a, b): rng.randrange(1, 60_000)
            for a, b in (rng.sample(range(8), 2) for _ in range(20))
        }
        (found,) = simulate_phases(
            text, nodes, make_graph(8, [(*e, s) for e, s in messages.items()])
        )
        load = np.zeros(machine.link_count)
        for (a, b), size in messages.items():
            for link, share in machine.route(nodes[a], nodes[b]):
                load[link] += share * size
        bandwidth = np.array([machine.bandwidth(i) for i in range(len(load))])
        # If messages are split over routes, each packet's route is chosen randomly.
        assert found >= 0.9 * (load / bandwidth).max()
        assert found <= 4 * (load / bandwidth).max() + 5e-5


def test_phases_and_rounds_are_simulated_sequentially() -> None:
    one = make_graph(2, [(0, 1, 100_000)])
    alone = simulate_phases(TORUS, [0, 3], one)
    assert simulate_phases(TORUS, [0, 3], one, one) == alone * 2
    ends = np.array([0], np.uint32), np.array([1], np.uint32)
    thrice = CommGraph.from_edges(2, *ends, np.array([3e5]), np.array([3]))
    assert simulate_phases(TORUS, [0, 3], thrice) == pytest.approx([3 * alone[0]])


def test_age_arbitration_uses_the_time_of_packets_in_the_network() -> None:
    """Messages start together; ordering by their age would starve the later ones."""
    machine = Machine("torus:4x4,bandwidth=10GB/s,latency=100ns+node:4")
    halo = stencil([8, 8], 5, bytes=31_250)
    nodes = [rank // 4 for rank in range(64)]
    least = 18 * 31_250 / 10e9 * 4096 / 4064  # load of the busiest link
    found = {
        arbiter: simulate(
            machine, nodes, [halo], SwitchModel(flit=256, arbiter=arbiter)
        ).seconds[0]
        for arbiter in ("age", "round-robin")
    }
    assert least < found["age"] < 1.2 * least
    assert found["age"] < 0.85 * found["round-robin"]


def test_schedule_rounds_wait_for_their_dependencies() -> None:
    wiring = SwitchWiring(Machine(TORUS))
    settings = SwitchSettings(vcs=4)
    ring = Schedule("ring", "allgather", 8, 64_000)
    found = simulate_schedule(wiring, list(range(8)), ring, settings=settings)
    assert found.complete
    # Seven rounds of 64 kB over one link; each packet of 1024 bytes also has a header.
    assert found.seconds == pytest.approx(7 * (64e-6 * 17 / 16 + 1e-6), rel=0.05)
    assert min(sorted(found.busy_seconds)[-8:]) > 0.8 * found.seconds
    again = simulate_schedule(
        wiring, list(range(8)), ring, settings=settings, threads=2
    )
    assert again.finish.tolist() == found.finish.tolist()


@pytest.mark.parametrize("name", ["ring", "recursive-doubling", "halving", "bine"])
def test_a_schedule_in_goal_takes_as_long_as_the_schedule(name: str) -> None:
    """Computation is set to 0, because schedules neglect copies and reductions."""
    wiring = SwitchWiring(Machine(TORUS))
    settings = SwitchSettings(vcs=4)
    call = Call("allreduce", 8, 64_000)
    text = goal.write(ExportRequest(call, name, None))
    without_work = re.sub(r"calc \d+", "calc 0", text)
    found = simulate_operations(
        wiring, list(range(8)), read_goal(without_work.encode()), settings=settings
    )
    schedule = simulate_schedule(
        wiring, list(range(8)), call.schedule(name), settings=settings
    )
    assert found.complete
    assert found.packets == schedule.packets
    assert found.seconds == pytest.approx(schedule.seconds, rel=1e-6)


def test_goal_operations_give_a_communication_graph() -> None:
    operations = read_goal(
        b"num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 5\n}\n"
        b"rank 1 {\na: recv 8b from 0\n}\n"
    )
    assert (operations.rank_count, len(operations)) == (2, 3)
    assert [ends.tolist() for ends in operations.sends] == [[0], [1], [8]]
    assert operations.messages.total_bytes == 8


def test_a_stopped_simulation_is_reported() -> None:
    wiring = SwitchWiring(Machine(TORUS))
    message = [0], [1], [1 << 40]
    found = simulate_messages(
        wiring, [0, 1], *message, settings=SwitchSettings(vcs=2), progress=lambda _: 0
    )
    assert not found.complete


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("torus:8", "has no links with bandwidths"),
        ("torus:8,bandwidth=1GB/s,latency=1s" + FREE, "choose larger flits"),
    ],
)
def test_machines_without_times_are_refused(machine: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        simulate_phases(machine, [0, 1], make_graph(2, [(0, 1, 8)]))


def test_invalid_switch_settings_are_refused() -> None:
    wiring = SwitchWiring(Machine(TORUS))
    message = [0], [1], [8]
    for wrong, fault in [
        (SwitchSettings(vcs=1), "needs 2 virtual channels"),
        (SwitchSettings(vcs=2, flit=0), "a flit must have a byte"),
        (SwitchSettings(vcs=2, payload=0), "a packet must carry a byte"),
        (SwitchSettings(vcs=2, buffer=64, switching="cut-through"), "cannot hold"),
    ]:
        with pytest.raises(Error, match=fault):
            simulate_messages(wiring, [0, 1], *message, settings=wrong)
    settings = SwitchSettings(vcs=2)
    with pytest.raises(Error, match="must have equal lengths"):
        simulate_messages(wiring, [0, 1], [0], [1, 0], [8], settings=settings)
    with pytest.raises(Error, match="a rank is on node 8; the machine has 8"):
        simulate_messages(wiring, [0, 8], *message, settings=settings)


def test_long_latencies_are_not_mistaken_for_deadlock() -> None:
    far = f"torus:4,bandwidth=25GB/s,latency=200us{FREE}"
    (found,) = simulate_phases(far, [0, 1], make_graph(2, [(0, 1, 1000)]))
    assert found == pytest.approx(200e-6, rel=0.01)


def test_intra_node_messages_use_no_switch() -> None:
    machine = Machine(TORUS)
    inside = CommGraph.from_edges(
        2, np.uint32([0]), np.uint32([1]), np.array([1000.0]), np.ones(1)
    )
    silent = CommGraph.from_edges(
        2, np.uint32([]), np.uint32([]), np.zeros(0), np.zeros(0)
    )
    for pattern in (inside, silent):
        found = simulate(machine, [0, 0], [pattern])
        assert found.busiest == ()
        assert found.busiest_switches == ()
