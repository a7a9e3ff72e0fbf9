# SPDX-License-Identifier: BSD-3-Clause
"""Bounds and proofs compared with the best placement of random small problems."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from random_machines import KINDS, draw_machine, list_wires
from reference_judge import NodeModel, compute_slot_distance

from topoloom import (
    Allocation,
    CommGraph,
    Placement,
    Sharing,
    find_bounds,
    judge,
    place,
)
from topoloom.placements import objective_value

CASES = 6
SLOTS = 5

Matrix = npt.NDArray[np.float64]


class BruteForceProblem(NamedTuple):
    """A small problem, with matrices to evaluate its placements."""

    text: str
    graph: CommGraph
    bytes: Matrix
    allocation: Allocation
    distance: Matrix  # by pair of slots of the allocation
    seconds: Matrix  # by link and pair of slots, per byte; empty if routing is adaptive

    def evaluate(self, chosen: npt.NDArray[np.int64]) -> tuple[float, float]:
        """Return hop-bytes and congestion of ranks on the chosen slots."""
        on = np.ix_(chosen, chosen)
        loads = (self.seconds[(slice(None), *on)] * self.bytes).sum(axis=(1, 2))
        return float((self.bytes * self.distance[on]).sum()), float(
            loads.max(initial=0)
        )


def draw_problem(rng: Random, kind: str, slots: int, ranks: int) -> BruteForceProblem:
    while True:
        failures = rng.random() < 0.3
        machine, network = draw_machine(rng, kind, failures, most=40)
        up = sorted(set(range(len(network.vertex))) - network.down)
        nodes = rng.sample(up, min(slots, len(up)))
        every = list(product(nodes, nodes))
        if network.detours is None and all(network.connected(*pair) for pair in every):
            break
    bytes_ = np.zeros((ranks, ranks))
    for _ in range(2 * ranks):
        bytes_[rng.randrange(ranks), rng.randrange(ranks)] += rng.randrange(1, 1000)
    np.fill_diagonal(bytes_, 0)
    source, target = bytes_.nonzero()
    sizes = bytes_[source, target].astype(int)
    graph = CommGraph.from_edges(ranks, source, target, sizes)
    index = {wire: link for link, wire in enumerate(list_wires(machine))}
    distance = np.zeros((len(nodes), len(nodes)))
    seconds = np.zeros((len(index), len(nodes), len(nodes)))
    for (i, a), (j, b) in product(enumerate(nodes), enumerate(nodes)):
        distance[i, j] = compute_slot_distance(network, NodeModel(), a, b)
        for wire, share in network.route(a, b).items():
            seconds[index[wire], i, j] = share / network.speed[wire].bandwidth
    where = Allocation(machine, nodes)
    return BruteForceProblem(machine.text, graph, bytes_, where, distance, seconds)


def find_least_values(
    problem: BruteForceProblem, capacities: list[int] | None
) -> tuple[float, float]:
    """Try every placement within the capacity of each slot."""
    slots, ranks = len(problem.distance), problem.graph.rank_count
    if capacities is None:
        choices = permutations(range(slots), ranks)
    else:
        choices = product(range(slots), repeat=ranks)
    least = np.array([np.inf, np.inf])
    for choice in choices:
        if capacities is not None and any(
            choice.count(s) > capacities[s] for s in set(choice)
        ):
            continue
        least = np.minimum(least, problem.evaluate(np.array(choice)))
    return float(least[0]), float(least[1])


@pytest.mark.parametrize("kind", KINDS)
def test_no_placement_is_below_a_bound_and_proven_placements_are_optimal(
    kind: str,
) -> None:
    rng = Random(7)
    for _ in range(CASES):
        problem = draw_problem(rng, kind, SLOTS, rng.randint(1, SLOTS))
        if problem.graph.rank_count > len(problem.distance):
            continue
        least = find_least_values(problem, None)
        check_bounds(problem, least, None)
        for objective, value in zip(("hop-bytes", "congestion"), least, strict=True):
            found = place(
                problem.graph,
                problem.allocation,
                "exact",
                objective=objective,
                threads=1,
            )
            assert found.proven is not None, problem.text
            assert found.proven <= value * (1 + 1e-9), (problem.text, objective)
            if found.optimal:
                reached = objective_value(
                    problem.graph,
                    problem.allocation,
                    found.placement,
                    objective=objective,
                )
                assert reached == pytest.approx(value), (problem.text, objective)


@pytest.mark.parametrize("kind", KINDS)
def test_no_shared_placement_is_below_a_bound(kind: str) -> None:
    rng = Random(8)
    for _ in range(CASES):
        problem = draw_problem(rng, kind, 3, rng.randint(3, 5))
        slots, ranks = len(problem.distance), problem.graph.rank_count
        capacities = [rng.randint(1, 3) for _ in range(slots)]
        while sum(capacities) < ranks:
            capacities[rng.randrange(slots)] += 1
        sharing = Sharing(capacities=capacities)
        check_bounds(problem, find_least_values(problem, capacities), sharing)
        found = place(
            problem.graph,
            problem.allocation,
            objective="hop-bytes",
            sharing=sharing,
            threads=1,
            work=20_000,
        )
        used = [
            found.placement.slots.tolist().count(slot)
            for slot in problem.allocation.slots
        ]
        assert all(n <= most for n, most in zip(used, capacities, strict=True)), (
            problem.text
        )


def check_bounds(
    problem: BruteForceProblem, least: tuple[float, float], sharing: Sharing | None
) -> None:
    bounds = find_bounds(problem.graph, problem.allocation, sharing=sharing, threads=1)
    assert bounds.hop_bytes <= least[0], (problem.text, bounds.hop_bytes_by)
    shown = problem.text, bounds.congestion_by, bounds.congestion_where
    assert bounds.congestion <= least[1] * (1 + 1e-9), shown


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimized_objective_equals_its_definition(kind: str) -> None:
    rng = Random(9)
    for _ in range(CASES):
        problem = draw_problem(rng, kind, 8, 4)
        slots = len(problem.distance)
        chosen = np.array([rng.randrange(slots) for _ in range(4)])
        where = problem.allocation
        placement = Placement(where, where.slots[chosen], shared=True)
        block = Placement(where, where.slots[np.arange(4) % slots], shared=True)
        hop_bytes, congestion = problem.evaluate(chosen)
        problem_on = problem.graph, where, placement
        for name, value in (("hop-bytes", hop_bytes), ("congestion", congestion)):
            reached = objective_value(*problem_on, objective=name)
            assert reached == pytest.approx(value), (problem.text, name)
        judged = judge(*problem_on)
        assert (judged.hop_bytes, judged.congestion_max) == pytest.approx(
            (hop_bytes, congestion)
        )
        assert judge(problem.graph, where, block).hop_bytes == pytest.approx(
            problem.evaluate(np.arange(4) % slots)[0]
        )
