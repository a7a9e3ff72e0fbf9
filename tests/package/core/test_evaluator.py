# SPDX-License-Identifier: BSD-3-Clause
"""An evaluator's values and gains equal full evaluations of the placements."""

from __future__ import annotations

import gc
from random import Random
from typing import Any

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, Placement
from topoloom.graphs import ring
from topoloom.placements import Evaluator, objective_value

NODE = "+node:2,startup=2us,latency=1us,memory=7GB/s,memory-startup=0.3us"
TIMED = [
    f"torus:3x3,bandwidth=2GB/s,latency=0.2us{NODE}",
    f"dragonfly:3x2,nodes=2,routing=ugal,bandwidth=2GB/s{NODE}",
    "fattree:3:3,up=1:2,bandwidth=2GB/s,routing=random",
    "torus:4x3,bandwidth=2GB/s+down:0-1",
    "tree:3:4,bandwidth=1GB/s:2GB/s,latency=1us",
]
MACHINES = [
    *TIMED,
    "torus:4x3+down:2",
    "torus:2x3x2+node:2:2,distance=1:3",
    "graph:6+1:0-4,1-4,2>4,4>2,3-4,0-1,4-5",
]
KINDS = ["hop-bytes", "congestion", "congestion-soft", "time"]
MIX = "weighted(hop-bytes=1,congestion=2,congestion-soft=0.5)"
PROBLEMS = [
    (text, objective, shared)
    for text in MACHINES
    for objective in [*KINDS, MIX, "auto"]
    for shared in (False, True)
    if (text in TIMED or objective != "time") and not (shared and objective == MIX)
]


def draw_edges(random: Random, ranks: int) -> list[tuple[int, int, int, int]]:
    """Draw edges between different ranks."""
    pairs = [random.sample(range(ranks), 2) for _ in range(3 * ranks)]
    return [
        (a, b, random.choice((0, 1, 999, 10**6)), random.randrange(1, 4))
        for a, b in pairs
    ]


def make_graph(ranks: int, rows: list[tuple[int, int, int, int]]) -> CommGraph:
    return CommGraph.from_edges(ranks, *zip(*rows, strict=True))


class RandomCase:
    """A random problem, sometimes with phases and background traffic."""

    def __init__(self, text: str, objective: str, shared: bool) -> None:
        self.random = random = Random(f"{text} {objective} {shared}")
        self.allocation = Allocation.whole(Machine(text))
        self.slots = self.allocation.slots.tolist()
        self.ranks = random.randint(4, len(self.slots) - 1)
        self.options: dict[str, Any] = {"objective": objective}
        phases = [draw_edges(random, self.ranks) for _ in range(random.randint(1, 2))]
        self.graph = make_graph(self.ranks, [row for rows in phases for row in rows])
        if len(phases) > 1:
            self.options["phases"] = [make_graph(self.ranks, rows) for rows in phases]
        if random.random() < 0.5:
            links = self.allocation.machine.link_count
            self.options["background"] = [random.randrange(10**6) for _ in range(links)]
        draw = random.choices if shared else random.sample
        self.placement = Placement(
            self.allocation, draw(self.slots, k=self.ranks), shared=shared
        )

    def compute_value(self, slots: Any) -> float:
        """Compute the value of a placement from the definition of the objective."""
        at = Placement(self.allocation, slots, shared=self.placement.shared)
        return objective_value(self.graph, self.allocation, at, **self.options)

    def make_evaluator(self) -> Evaluator:
        """Create an evaluator of the random placement."""
        return Evaluator(self.graph, self.allocation, self.placement, **self.options)

    def swap_slots(self, slots: list[int], a: int, b: int) -> list[int]:
        """Return the slots after ranks a and b swap."""
        slots = list(slots)
        slots[a], slots[b] = slots[b], slots[a]
        return slots

    def list_free_slots(self, slots: list[int]) -> list[int]:
        """List the slots to which a rank can move."""
        if self.placement.shared:
            return self.slots
        return [slot for slot in self.slots if slot not in slots]


@pytest.mark.parametrize(("text", "objective", "shared"), PROBLEMS)
def test_values_and_gains_equal_a_full_evaluation(
    text: str, objective: str, shared: bool
) -> None:
    case = RandomCase(text, objective, shared)
    random, evaluator = case.random, case.make_evaluator()
    slots = case.placement.slots.tolist()
    for _ in range(6):
        value = evaluator.value
        assert value == case.compute_value(slots)
        a, b = random.choices(range(case.ranks), k=2)
        swapped = case.swap_slots(slots, a, b)
        assert evaluator.gain_of_swap(a, b) == value - case.compute_value(swapped)
        to = random.choice(case.list_free_slots(slots))
        moved = [to if rank == a else slot for rank, slot in enumerate(slots)]
        assert evaluator.gain_of_move(a, to) == value - case.compute_value(moved)
        assert (evaluator.value, evaluator.placement.slots.tolist()) == (
            value,
            slots,
        )
        changed = random.choice((swapped, moved))
        if changed is swapped:
            evaluator.swap(a, b)
        else:
            evaluator.move(a, to)
        assert evaluator.value == case.compute_value(changed)
        assert evaluator.placement.slots.tolist() == changed
        if random.random() < 0.5:
            evaluator.undo()
        else:
            slots = changed
    assert evaluator.placement.shared == shared


@pytest.mark.parametrize(("text", "objective", "shared"), PROBLEMS[::3])
def test_batch_gains_equal_single_gains(
    text: str, objective: str, shared: bool
) -> None:
    case = RandomCase(text, objective, shared)
    evaluator = case.make_evaluator()
    ranks = np.arange(case.ranks)
    others = case.random.choices(ranks, k=case.ranks)
    each = [evaluator.gain_of_swap(a, b) for a, b in enumerate(others)]
    assert evaluator.gain_of_swap(ranks, others).tolist() == each
    to_first = [evaluator.gain_of_swap(0, b) for b in ranks]
    assert evaluator.gain_of_swap(0, ranks).tolist() == to_first
    free = case.list_free_slots(case.placement.slots.tolist())
    moves = [evaluator.gain_of_move(1, slot) for slot in free]
    assert evaluator.gain_of_move(1, free).tolist() == moves
    assert evaluator.gain_of_move([], []).tolist() == []


@pytest.mark.parametrize("objective", [*KINDS, MIX])
def test_invalid_changes_are_refused_without_effect(objective: str) -> None:
    machine = Machine(TIMED[0])
    allocation = Allocation(machine, [0, 1, 5])
    placement = Placement(allocation, [0, 1, 2, 3])
    evaluator = Evaluator(ring(4, 1000), allocation, placement, objective=objective)
    before = evaluator.value, evaluator.placement.slots.tolist()
    with pytest.raises(Error, match="there is no change to undo"):
        evaluator.undo()
    for change in (evaluator.move, evaluator.gain_of_move):
        with pytest.raises(Error, match="rank 3 is on slot 3; swap it with rank 1"):
            change(1, 3)
        for slot in (4, 2**32 - 1):
            with pytest.raises(Error, match=f"slot {slot} is not part of the alloc"):
                change(1, slot)
    for swap in (evaluator.swap, evaluator.gain_of_swap):
        with pytest.raises(Error, match="rank 4 does not exist; there are ranks 0 to"):
            swap(0, 4)
    with pytest.raises(Error, match="rank_a has 2 entries, but rank_b has 3"):
        evaluator.gain_of_swap([0, 1], [0, 1, 2])
    with pytest.raises(Error, match="rank 4 does not exist"):
        evaluator.gain_of_swap([0, 4], [1, 1])
    assert (evaluator.value, evaluator.placement.slots.tolist()) == before
    evaluator.move(1, 10)
    evaluator.undo()
    with pytest.raises(Error, match="there is no change to undo"):
        evaluator.undo()
    assert (evaluator.value, evaluator.placement.slots.tolist()) == before


def test_mismatched_inputs_are_refused() -> None:
    machine, other = Machine("torus:3x3"), Machine("torus:3x4")
    allocation = Allocation.whole(machine)
    placement = Placement(allocation, [0, 1])
    with pytest.raises(Error, match="placement was made for another machine"):
        Evaluator(ring(2), Allocation.whole(other), placement)
    with pytest.raises(Error, match="3 ranks"):
        Evaluator(ring(3), allocation, placement)
    with pytest.raises(Error, match="time needs bandwidths"):
        Evaluator(ring(2), allocation, placement, objective="time")
    shared = Placement(allocation, [0, 0], shared=True)
    with pytest.raises(Error, match="a mix is relative to block placement"):
        Evaluator(ring(2), allocation, shared, objective=MIX)


@pytest.mark.parametrize("objective", KINDS)
def test_an_evaluator_keeps_its_inputs_alive(objective: str) -> None:
    def make_evaluator() -> Evaluator:
        allocation = Allocation.whole(Machine(TIMED[0]))
        return Evaluator(
            make_graph(4, [(u, (u + 1) % 4, 3000, 2) for u in range(4)]),
            allocation,
            Placement(allocation, [0, 1, 2, 3]),
            objective=objective,
            phases=[ring(4, 1000), ring(4, 2000)],
        )

    evaluators = [make_evaluator() for _ in range(50)]
    gc.collect()
    for evaluator in evaluators:
        evaluator.swap(0, 3)
        evaluator.undo()
        assert evaluator.gain_of_move(2, 9) == evaluators[0].gain_of_move(2, 9)
