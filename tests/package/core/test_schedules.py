# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of collectives: ranking, decision tables and rank orders."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from topoloom import Allocation, Error, Machine
from topoloom.figure.rounds import draw_rounds
from topoloom.graphs.phases import add_phases
from topoloom.model import load_model
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    find_default_schedule,
    find_operation,
    list_schedule_names,
    make_strategy,
    operations,
    rank_schedules,
)
from topoloom.schedules.decisions import find_decisions
from topoloom.schedules.joint_search import optimize_jointly

MODEL = load_model("qsnet").model
TORUS = Allocation.whole(Machine("torus:4x4,bandwidth=1GB/s+node:1,startup=1us"))


def make_call(operation: str, ranks: int, size: int, root: int = 0) -> Call:
    degree = min(3, ranks - 1) if operation.startswith("many") else None
    return Call(operation, ranks, 0 if operation == "barrier" else size, root, degree)


def draw_calls(count: int) -> list[Call]:
    rng = random.Random(7)
    sizes = [0, 1, 76, 4096, 100_003]
    calls = []
    for _, operation in zip(range(count), itertools.cycle(operations()), strict=False):
        ranks = rng.randint(1, 40)
        size, root = rng.choice(sizes), rng.randrange(ranks)
        calls.append(make_call(operation, ranks, size, root))
    return calls


@pytest.mark.parametrize("call", draw_calls(33), ids=str)
def test_every_schedule_of_a_call_is_correct(call: Call) -> None:
    for name in list_schedule_names(call):
        schedule = call.schedule(name)
        schedule.check()
        phases = [schedule.phase(number) for number in range(schedule.rounds)]
        if not phases:
            assert call.ranks == 1
            continue
        whole, parts = schedule.graph(), add_phases(phases)
        for part in ("first", "peer", "bytes", "messages"):
            assert np.array_equal(getattr(whole, part), getattr(parts, part))


@pytest.mark.parametrize("operation", operations())
def test_the_first_ranked_schedule_is_the_fastest(operation: str) -> None:
    for size in (1, 300, 50_000):
        call = make_call(operation, 24, size)
        ranked = rank_schedules(call, MODEL)
        times = [one.cost.time for one in ranked]
        assert times == sorted(times)
        strategy = make_strategy(call, MODEL)
        each = [
            strategy.cost(call.schedule(name)).time
            for name in list_schedule_names(call)
        ]
        assert times[0] == min(each)
        names = [one.name.partition("(")[0] for one in ranked]
        assert sorted(names) == sorted(
            {name.partition("(")[0] for name in list_schedule_names(call)}
        )


@pytest.mark.parametrize("operation", operations())
def test_the_choice_of_mpi_is_in_the_ranking(operation: str) -> None:
    for ranks, size in itertools.product(
        (2, 5, 8, 9, 64, 1000), (1, 256, 9000, 1 << 20)
    ):
        call = make_call(operation, ranks, size)
        names = {name.partition("(")[0] for name in list_schedule_names(call)}
        usual = find_default_schedule(call)
        if operation.startswith("many"):
            assert usual is None
        else:
            assert usual in names, call


def test_named_schedules_are_ranked_with_their_options() -> None:
    names = ["chain(segment=512)", "chain(segment=4096)", "binomial"]
    ranked = rank_schedules(Call("bcast", 16, 1 << 16), MODEL, None, names)
    assert {one.name for one in ranked} == set(names)


def test_operations_have_their_mpi_names() -> None:
    for name, ours in (
        ("MPI_Alltoall", "alltoall"),
        ("bcast", "bcast"),
        ("Reduce_scatter", "reduce_scatter"),
    ):
        assert find_operation(name) == ours
    with pytest.raises(Error, match="no collective 'allgathr'"):
        find_operation("allgathr")


def test_an_impossible_call_is_refused() -> None:
    with pytest.raises(Error, match="the root 4 is not a rank; ranks are 0 to 3"):
        rank_schedules(Call("bcast", 4, 8, root=4), MODEL)


def test_a_decision_is_valid_from_its_size_on() -> None:
    call = Call("many-to-many", 16, 1, degree=5)
    decisions = find_decisions(call, MODEL, max_bytes=1 << 20)
    assert (decisions[0].bytes, decisions[0].degree) == (1, call.degree)
    for before, after in itertools.pairwise(decisions):
        for size, best in ((after.bytes - 1, before), (after.bytes, after)):
            ranked = rank_schedules(call._replace(bytes=size), MODEL)
            assert ranked[0].name == best.schedule


def test_a_barrier_has_one_decision() -> None:
    assert find_decisions(Call("barrier", 9, 0), MODEL) == [
        (9, None, 0, "dissemination")
    ]


@pytest.mark.parametrize("operation", ["alltoall", "allgather", "reduce"])
def test_joint_optimization_of_schedule_and_order_never_loses(operation: str) -> None:
    call = make_call(operation, 16, 1024)
    together = optimize_jointly(call, TORUS, None)
    seconds = [step.seconds for step in together.steps]
    assert seconds == sorted(seconds, reverse=True)
    assert [step.what for step in together.steps[:1]] == ["schedule"]
    assert together.best.cost.time == seconds[-1]
    slots = RankSlots(TORUS, together.placement)
    again = make_strategy(call, None, slots).cost(call.schedule(together.best.name))
    assert again.time == pytest.approx(seconds[-1])
    assert sorted(together.placement.slots.tolist()) == list(range(16))


def test_no_order_is_worse_than_a_ring_around_the_torus() -> None:
    """A ring of 16 fits a 4x4 torus with one hop per message."""
    together = optimize_jointly(make_call("allgather", 16, 1 << 20), TORUS, None)
    assert together.best.cost.time <= 15 * (1e-6 + (1 << 20) / 1e9)


def test_the_search_of_an_order_stops_on_request() -> None:
    together = optimize_jointly(
        make_call("alltoall", 16, 64), TORUS, None, progress=lambda _: False
    )
    assert 1 <= len(together.steps) <= 2


def test_drawings_of_rounds_are_reproducible(tmp_path: Path) -> None:
    pictures = [tmp_path / "a.svg", tmp_path / "b.svg"]
    schedules = [
        (Call("scatter", 4, 1024), "binomial"),
        (Call("alltoall", 3, 8), "bruck"),
        (Call("barrier", 4, 0), "dissemination"),
    ]
    for path in pictures:
        draw_rounds(path, schedules)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


@pytest.mark.parametrize(
    ("call", "name", "message"),
    [
        (Call("alltoall", 33, 1), "bruck", "up to 32 ranks, not 33"),
        (Call("allreduce", 32, 1), "ring", "62 rounds, more than the 32"),
        (Call("alltoall", 1, 1), "bruck", "no rounds to draw"),
    ],
)
def test_schedules_that_are_too_large_or_too_small_are_not_drawn(
    call: Call, name: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        draw_rounds("x.svg", [(call, name)])
