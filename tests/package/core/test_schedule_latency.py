# SPDX-License-Identifier: BSD-3-Clause
"""Schedule times equal an event simulation of their messages."""

from __future__ import annotations

from collections import defaultdict

import pytest

from topoloom import Allocation, Machine
from topoloom.model import MessageCosts, NetworkModel
from topoloom.schedules import ScheduleCost
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    list_schedule_names,
    operations,
)
from topoloom.schedules.joint_search import make_block_order

GAP, BYTE, LATENCY = 0.5e-6, 1e-9, 2e-6


def make_model(latency: float) -> NetworkModel:
    costs = MessageCosts()
    costs.latency = latency
    return NetworkModel.regimes([(GAP, BYTE, None)], costs)


MODEL = make_model(LATENCY)


def make_call(operation: str, ranks: int, size: int) -> Call:
    degree = min(3, ranks - 1) if operation.startswith("many") else None
    return Call(operation, ranks, 0 if operation == "barrier" else size, 0, degree)


def compute_cost(call: Call, name: str, model: NetworkModel = MODEL) -> ScheduleCost:
    return call.schedule(name).cost(model)


def simulate_last_arrival(call: Call, name: str) -> float:
    """Simulate messages; ranks send after all earlier receives, one gap apart."""
    schedule = call.schedule(name)
    free: defaultdict[int, float] = defaultdict(float)
    has: defaultdict[int, float] = defaultdict(float)
    for number in range(schedule.rounds):
        arrived: defaultdict[int, float] = defaultdict(float)
        for source, target, size in zip(*schedule.messages(number), strict=True):
            sent = max(free[source], has[source]) + MODEL.time(int(size))
            free[source] = sent
            arrived[target] = max(arrived[target], sent + LATENCY)
        for rank, time in arrived.items():
            has[rank] = max(has[rank], time)
    return max(has.values(), default=0.0)


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("bcast", "binomial"),
        ("bcast", "chain(segment=512)"),
        ("reduce", "chain(segment=512)"),
        ("scatter", "chain"),
        ("gather", "binomial"),
        ("reduce", "scatter-allgather"),
        ("allgather", "ring"),
        ("allgather", "bruck"),
        ("allgather", "neighbor-exchange"),
        ("allreduce", "recursive-doubling"),
        ("allreduce", "halving"),
        ("alltoall", "at-once"),
        ("alltoall", "pairwise"),
        ("alltoall", "cyclic"),
        ("alltoall", "mesh"),
        ("barrier", "dissemination"),
        ("many-to-many", "direct"),
    ],
)
def test_a_schedule_ends_when_its_last_message_arrives(
    operation: str, name: str
) -> None:
    call = make_call(operation, 16, 8192)
    assert compute_cost(call, name).time == pytest.approx(
        simulate_last_arrival(call, name)
    )


@pytest.mark.parametrize("operation", operations())
def test_no_schedule_ends_before_its_last_message_arrives(operation: str) -> None:
    for ranks in (2, 3, 7, 24):
        call = make_call(operation, ranks, 3000)
        for name in list_schedule_names(call):
            time = compute_cost(call, name).time
            assert time >= simulate_last_arrival(call, name) * (1 - 1e-9), (name, ranks)


def test_a_pipeline_of_segments_pays_the_latency_once() -> None:
    for segments in (1, 10, 1000):
        call = Call("bcast", 2, 8 * segments)
        time = compute_cost(call, "chain(segment=8)").time
        assert time == pytest.approx(LATENCY + segments * MODEL.time(8))


def test_dependent_messages_pay_the_latency_each_time() -> None:
    for call in (make_call(operation, 64, 8) for operation in operations()):
        for name in ("ring", "bruck", "recursive-doubling", "pairwise", "cyclic"):
            if name in list_schedule_names(call):
                cost = compute_cost(call, name)
                assert cost.time >= cost.rounds * MODEL.arrival(0), (name, call)


@pytest.mark.parametrize("operation", operations())
def test_cost_on_a_machine_adds_no_latency_to_the_model(operation: str) -> None:
    """One rank per node, with links so fast that only latency matters."""
    machine = Machine("torus:4x4,bandwidth=1e9GB/s+node:1,bandwidth=1e9GB/s")
    allocation = Allocation.whole(machine)
    call = make_call(operation, 16, 4096)
    slots = RankSlots(allocation, make_block_order(call, allocation))
    for name in list_schedule_names(call):
        schedule = call.schedule(name)
        found = schedule.cost_on(*slots, MODEL)
        waits = (found.time - schedule.cost_on(*slots, make_model(0)).time) / LATENCY
        in_barriers = 4 if name.startswith("k-") else 0  # a barrier after each round
        assert 1 - 1e-6 <= waits <= found.rounds * (1 + in_barriers) * (1 + 1e-6)
        if "segment" not in name and name not in ("chain", "two-trees"):
            # For segments, the model counts the latency once for all, a machine once
            # per run.
            assert found.time <= compute_cost(call, name).time * (1 + 1e-6), name
