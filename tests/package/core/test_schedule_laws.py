# SPDX-License-Identifier: BSD-3-Clause
"""Schedule costs equal counted messages and published equations."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from topoloom import Allocation, Machine
from topoloom.model import MessageCosts, NetworkModel, load_model
from topoloom.model.model_names import model_names
from topoloom.schedules import (
    CombiningCosts,
    ScheduleCost,
    allgather_time,
    alltoall_time,
    many_to_many_time,
    nic_allgather_time,
    relay_allgather_time,
)
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    list_schedule_names,
    operations,
    rank_schedules,
)
from topoloom.schedules.joint_search import make_block_order

ALPHA, BETA, GAMMA, DELTA, BETA_EM = 11e-6, 8e-9, 4e-9, 3.5e-9, 3.3e-9
COSTS = CombiningCosts(
    alpha=ALPHA, beta=BETA, gamma=GAMMA, delta=DELTA, beta_em=BETA_EM
)
SQUARES, CUBES, POWERS = (9, 16, 25, 64, 225), (27, 64, 125), (2, 8, 64, 256)
SIZES = (0, 1, 76, 1375, 100_000)


def make_model(
    line: tuple[float, float] = (ALPHA, BETA), **costs: float
) -> NetworkModel:
    """Create a network model with one line, and with other message costs."""
    given = MessageCosts()
    for name, value in costs.items():
        setattr(given, name, value)
    return NetworkModel.regimes([(*line, None)], given)


MAIN = make_model(gamma=GAMMA)
CARD = make_model(gamma=GAMMA, delta=DELTA, beta_em=BETA_EM)


def compute_cost(
    call: Call, name: str, model: NetworkModel, slots: RankSlots | None = None
) -> ScheduleCost:
    """Compute the cost of a schedule by the model; on slots, if they are given."""
    schedule = call.schedule(name)
    return schedule.cost_on(*slots, model) if slots else schedule.cost(model)


def compute_time(
    operation: str, ranks: int, size: int, name: str, model: NetworkModel
) -> float:
    return compute_cost(Call(operation, ranks, size), name, model).time


@pytest.mark.parametrize(
    ("strategy", "numbers"),
    [
        ("direct", (2, 3, 64, 100)),
        ("mesh", SQUARES),
        ("grid", CUBES),
        ("hypercube", POWERS),
    ],
)
def test_costs_of_full_virtual_meshes_equal_their_equations(
    strategy: str, numbers: tuple[int, ...]
) -> None:
    """Equations 3.1 to 3.11, and 3.14 to 3.16 without their illegible last terms."""
    exchange = "cyclic" if strategy == "direct" else strategy
    gather = "hypercube-direct(direct=0)" if strategy == "hypercube" else exchange
    for ranks in numbers:
        for size in SIZES:
            sent = compute_time("alltoall", ranks, size, exchange, MAIN)
            assert sent == pytest.approx(alltoall_time(strategy, ranks, size, COSTS))
            gathered = compute_time("allgather", ranks, size, gather, MAIN)
            equation = allgather_time(strategy, ranks, size, COSTS)
            assert gathered == pytest.approx(equation)
            gathered = compute_time("allgather", ranks, size, gather, CARD)
            if strategy != "hypercube":
                equation = nic_allgather_time(strategy, ranks, size, COSTS)
            assert gathered == pytest.approx(equation)


@pytest.mark.parametrize("direct", [1, 2, 3])
def test_the_cost_of_the_hybrid_hypercube_equals_its_equation(direct: int) -> None:
    name = f"hypercube-direct(direct={direct})"
    for ranks in (8, 64, 256):
        for size in SIZES:
            found = compute_time("allgather", ranks, size, name, CARD)
            equation = nic_allgather_time(
                "hypercube", ranks, size, COSTS, direct=direct
            )
            assert found == pytest.approx(equation)
            printed = nic_allgather_time(
                "hypercube", ranks, size, COSTS, direct=direct, printed=True
            )
            assert printed - equation == pytest.approx((ranks - 1) * size * GAMMA)


@pytest.mark.parametrize(("strategy", "axes"), [("mesh", 2), ("grid", 3)])
def test_the_published_cost_of_a_full_mesh_counts_too_many_messages(
    strategy: str, axes: int
) -> None:
    for side in (2, 5, 8):
        ranks = side**axes
        for size in SIZES:
            counted = nic_allgather_time(strategy, ranks, size, COSTS)
            printed = nic_allgather_time(strategy, ranks, size, COSTS, printed=True)
            blocks = sum(side**axis for axis in range(axes - 1))
            more = axes * ALPHA + size * BETA_EM - blocks * size * DELTA
            assert printed - counted == pytest.approx(more)


@pytest.mark.parametrize("name", ["k-prefix", "k-shift"])
def test_costs_of_relays_are_their_equation_plus_barriers(
    name: str,
) -> None:
    """Equations 4.3, 4.5 and 4.6."""
    for ranks in (8, 64, 144):
        for k in (1, 2, 4, 8):
            for barrier, rounds in (("message", ranks - 1), ("stop", ranks // k)):
                text = f"{name}(k={k},barrier={barrier})"
                for size in SIZES:
                    found = compute_time("allgather", ranks, size, text, CARD)
                    waits = (rounds - 1) * CARD.barrier(ranks)
                    equation = relay_allgather_time(ranks, k, size, COSTS)
                    if k == 1 and barrier == "stop":
                        waits = (ranks - 2) * CARD.barrier(ranks)
                    assert found == pytest.approx(equation + waits)


def test_a_barrier_is_a_dissemination_unless_the_nic_implements_it() -> None:
    late = make_model(latency=3e-6)
    card = make_model(latency=3e-6, barrier_round=2e-6)
    for ranks in (1, 2, 3, 64, 100, 1024):
        rounds = math.ceil(math.log2(ranks))
        alone = compute_time("barrier", ranks, 0, "dissemination", late)
        assert late.barrier(ranks) == pytest.approx(alone)
        assert card.barrier(ranks) == pytest.approx(rounds * 2e-6)


def test_many_to_many_costs_are_at_most_their_equations() -> None:
    """Equations 3.17 to 3.20; the rank with the most data determines a phase."""
    for ranks, degree in ((64, 8), (64, 32), (256, 64)):
        for size in SIZES:
            call = Call("many-to-many", ranks, size, 0, degree)
            for name in list_schedule_names(call):
                full = degree if name == "direct" else 2 * degree
                printed = name == "hypercube"
                most = many_to_many_time(
                    name, ranks, full, size, COSTS, printed=printed
                )
                if printed:
                    most += math.log2(ranks) * degree * size * GAMMA
                time = compute_cost(call, name, MAIN).time
                assert time <= most * (1 + 1e-9), (name, call)
                if name == "direct":
                    assert time == pytest.approx(most)


def test_only_message_combining_has_copy_overhead() -> None:
    """With one message per round, ranks copy before they send; else copies overlap."""
    dear = make_model(gamma=GAMMA, combine=2.5e-6)
    for ranks in (8, 64, 256):
        rounds = math.log2(ranks)
        for name in ("hypercube", "bruck"):
            more = compute_time("alltoall", ranks, 76, name, dear)
            more -= compute_time("alltoall", ranks, 76, name, MAIN)
            assert more == pytest.approx(rounds * ranks / 2 * 2.5e-6)
        for name in ("cyclic", "pairwise", "at-once"):
            same = compute_time("alltoall", ranks, 76, name, dear)
            assert same == compute_time("alltoall", ranks, 76, name, MAIN)


def draw_models(count: int) -> Iterator[NetworkModel]:
    rng = random.Random(5)
    for _ in range(count):
        scale = [10 ** rng.uniform(-7, -5) for _ in range(5)]
        each = [10 ** rng.uniform(-10, -8) for _ in range(5)]
        yield make_model(
            (scale[0], each[0]),
            send_cpu=scale[1],
            receive_cpu=scale[2],
            latency=rng.choice((0, scale[3])),
            combine=scale[4],
            gamma=each[1],
            send_cpu_per_byte=each[2],
            beta_em=rng.choice((0, each[3])),
            delta=each[4],
            barrier_round=rng.choice((0, scale[3])),
        )


@pytest.mark.parametrize("operation", operations())
def test_cpu_time_never_exceeds_the_total_time(operation: str) -> None:
    machine = Machine("torus:4x4,bandwidth=10GB/s+node:2,bandwidth=10GB/s")
    allocation = Allocation.whole(machine)
    for model in draw_models(12):
        for ranks, size in ((2, 8), (13, 300), (32, 50_000)):
            degree = min(5, ranks - 1) if operation.startswith("many") else None
            size = 0 if operation == "barrier" else size
            call = Call(operation, ranks, size, 0, degree)
            slots = RankSlots(allocation, make_block_order(call, allocation))
            for name in list_schedule_names(call):
                for at in (None, slots):
                    cost = compute_cost(call, name, model, at)
                    assert cost.cpu <= cost.time * (1 + 1e-12), (name, call, at)


@pytest.mark.parametrize("name", model_names())
def test_a_rank_pays_for_its_sends_and_receives(name: str) -> None:
    model = load_model(name).model
    for size in (0, 1, 64, 288, 289, 2048, 2049, 65_536, 1 << 20):
        assert model.cpu(size) <= model.arrival(size)
        if name != "simgrid":  # in simgrid, the gap applies to a rank that only sends
            assert model.cpu(size) <= model.time(size)


def test_half_of_a_two_way_step_is_the_cpu_time_of_one_end() -> None:
    """Tables 2.4, 2.5, 2.10, 2.11: CPU times of one end, and of a two-way step."""
    one_end = {
        "qsnet": [(16, 5.59), (64, 5.29), (1024, 6.04), (4096, 6.69)],
        "myrinet": [(16, 0.7), (64, 0.7), (1024, 0.9), (16_384, 3.0)],
    }
    both = {
        "qsnet": [(16, 11.5), (64, 11.99), (1024, 12.6), (4096, 13.47)],
        "myrinet": [(16, 1.2), (64, 1.2), (1024, 1.6), (16_384, 6.1)],
    }
    for name in one_end:
        model = load_model(name).model
        for size, microseconds in one_end[name]:
            assert 1e6 * model.send_cpu(size) == pytest.approx(microseconds, rel=0.2)
        for size, microseconds in both[name]:
            assert 1e6 * model.cpu(size) == pytest.approx(microseconds, rel=0.2)


def test_processes_of_a_node_wait_for_each_others_messages() -> None:
    """Table 2.5: four processes more than double the time of a short message."""
    shared = make_model(node_alpha=7e-6, node_beta=2e-9)
    for size in SIZES:
        for processes in (1, 2, 4, 16):
            alpha = max(ALPHA, processes * 7e-6) if processes > 1 else ALPHA
            beta = max(BETA, processes * 2e-9) if processes > 1 else BETA
            expected = alpha + size * beta
            assert shared.time(size, processes) == pytest.approx(expected)
    qsnet = load_model("qsnet").model
    for size, microseconds in ((64, 31.81), (256, 41.37), (4096, 154.1)):
        found = 1e6 * qsnet.time(size, 4)
        assert found == pytest.approx(microseconds, rel=0.16)


def test_packets_with_acknowledgements_slow_distant_messages() -> None:
    """A message of 100 packets over one link waits for 100 acknowledgements."""
    allocation = Allocation.whole(Machine("torus:16,bandwidth=1GB/s,latency=1us"))
    call = Call("allgather", 16, 32_000)
    slots = RankSlots(allocation, make_block_order(call, allocation))
    free, waiting = (
        compute_cost(call, "ring", make_model((1e-6, 1e-9), packet=packet), slots).time
        for packet in (0, 320)
    )
    assert waiting - free == pytest.approx(15 * 100 * 2 * 1e-6)


def test_qsnet_schedules_have_separate_costs() -> None:
    model = load_model("qsnet").model
    gathers = ("ring", "cyclic", "k-prefix", "k-shift(k=4)", "mesh")
    times = {
        name: compute_time("allgather", 64, 256 << 10, name, model) for name in gathers
    }
    assert len(set(times.values())) == len(times)
    assert times["ring"] / times["k-prefix"] == pytest.approx(2, rel=0.1)

    sparse = Call("many-to-many", 2048, 76, 0, 32)
    names = [one.name for one in rank_schedules(sparse, model)]
    assert names[0] == "direct"
    assert set(names) == {"direct", "hypercube", "grid", "mesh"}


BLOCKS = (1, 2, 4, 16)
NODES = "fattree:4:4,bandwidth=25GB/s,latency=100ns+node:"


def compute_memory_time(size: int) -> float:
    """Return the seconds of an intra-node message without a node description."""
    return 0.3e-6 + size / 10e9


def place_in_block_order(machine: str, call: Call, nodes: int) -> RankSlots:
    """Place ranks in block order on the first nodes."""
    allocation = Allocation(Machine(machine), list(range(nodes)))
    return RankSlots(allocation, make_block_order(call, allocation))


@pytest.mark.parametrize("name", model_names())
def test_ranks_without_inter_node_messages_delay_no_others(name: str) -> None:
    model = load_model(name).model
    for size in SIZES:
        tree, ring = [], []
        for block in BLOCKS:
            call = Call("bcast", 4 * block, size)
            at = place_in_block_order(f"{NODES}{block}", call, 4)
            tree.append(compute_cost(call, "binomial", model, at).time)
            call = Call("allgather", 4 * block, size)
            time = compute_cost(call, "ring", model, at).time
            ring.append(time / (4 * block - 1))
        # The inter-node rounds come first, then the intra-node rounds.
        inside = [math.log2(block) * compute_memory_time(size) for block in BLOCKS]
        assert tree == pytest.approx([tree[0] + time for time in inside])
        # A rank at the boundary of a node either sends to or receives from another
        # node.
        assert max(ring) <= ring[0] + compute_memory_time(size)


def test_ranks_of_a_node_share_its_nic() -> None:
    """With two nodes, inter-node exchanges involve all ranks of both nodes."""
    shared = make_model(node_beta=BETA)
    for block in BLOCKS:
        call = Call("alltoall", 2 * block, 100_000)
        at = place_in_block_order(f"torus:2,bandwidth=1TB/s+node:{block}", call, 2)
        for model, share in ((MAIN, 1), (shared, block)):
            found = compute_cost(call, "pairwise", model, at).time
            outside = block * (ALPHA + share * 100_000 * BETA)
            expected = outside + (block - 1) * compute_memory_time(100_000)
            assert found == pytest.approx(expected)


def test_a_barrier_crosses_the_network_after_any_round() -> None:
    """Only nodes count: ranks of one node synchronize in no time."""
    slow, fast = (make_model(barrier_round=each) for each in (2e-6, 1e-6))
    for nodes in (1, 2, 4, 5, 16):
        for block in BLOCKS:
            ranks = nodes * block
            call = Call("allgather", ranks, 8)
            at = place_in_block_order(f"{NODES}{block}", call, nodes)
            for name, waits in (
                ("k-prefix(barrier=message)", ranks - 2),
                ("k-shift(k=1,barrier=message)", ranks - 2),
            ):
                times = [
                    compute_cost(call, name, model, at).time for model in (slow, fast)
                ]
                rounds = math.ceil(math.log2(nodes)) * max(0, waits)
                assert times[0] - times[1] == pytest.approx(rounds * 1e-6, abs=1e-12)


def test_several_nics_of_a_node_have_the_rate_of_several_nodes() -> None:
    call = Call("alltoall", 64, 100_000)
    for cards in (1, 2, 4):
        machine = f"dragonfly:2x2,nodes=2,cards={cards},bandwidth=1TB/s+node:8"
        one = machine.replace(f"cards={cards}", f"cards=1,bandwidth.host={cards}TB/s")
        for name in ("pairwise", "at-once", "bruck"):
            times = [
                compute_cost(
                    call,
                    name,
                    make_model(node_alpha=9e-6 / share, node_beta=BETA / share),
                    place_in_block_order(text, call, 8),
                ).time
                for text, share in ((machine, 1), (one, cards))
            ]
            assert times[0] == pytest.approx(times[1])
