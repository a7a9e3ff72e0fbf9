# SPDX-License-Identifier: BSD-3-Clause
"""Spare hosts: the best one by enumeration, and orders after a loss."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from topoloom import Allocation, CommGraph, Error, Placement, load_machine
from topoloom.placements import objective_value
from topoloom.placements.placement_file import PlacementFile
from topoloom.tasks.placement_problem import PlacementProblem
from topoloom.tasks.training.spares import SpareHosts, find_spares

#: Hosts of 2 slots each.
MACHINES = (
    "tree:4:2,bandwidth=1GB/s+node:2",
    "torus:3x3,bandwidth=1GB/s+node:2",
    "rails:2:4:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s,bandwidth.spine=5GB/s",
)


def make_problem(
    machine: str, hosts: list[int], spares: list[int], edges: list[tuple[int, int, int]]
) -> PlacementProblem:
    """Make a job with ranks 2 i and 2 i + 1 on ``hosts[i]``."""
    whole = load_machine(machine)
    nodes = sorted([*hosts, *spares])
    if whole.slots_per_node == 1:
        nodes = [node for host in nodes for node in (2 * host, 2 * host + 1)]
    allocation = Allocation(whole, np.array(nodes))
    slots = np.array([slot for host in hosts for slot in (2 * host, 2 * host + 1)])
    source, target, bytes = zip(*edges, strict=True)
    graph = CommGraph.from_edges(2 * len(hosts), source, target, bytes)
    placement = Placement(allocation, slots)
    file = PlacementFile.measured(graph, allocation, placement)
    return PlacementProblem(graph, allocation, file)


def time_order(problem: PlacementProblem, hosts: list[int]) -> float:
    slots = np.array([slot for host in hosts for slot in (2 * host, 2 * host + 1)])
    return objective_value(
        *(problem.graph, problem.allocation, Placement(problem.allocation, slots)),
        objective="time",
        phases=[],
    )


def list_spares(found: SpareHosts, restart: str) -> dict[int, tuple[int, float]]:
    return {one.lost: (one.spare, one.seconds) for one in found.best[restart]}


@st.composite
def jobs(draw: st.DrawFn) -> tuple[PlacementProblem, list[int], list[int]]:
    machine = draw(st.sampled_from(MACHINES))
    numbers = draw(st.permutations(range(8)))
    count = draw(st.integers(2, 5))
    hosts, spares = list(numbers[:count]), list(numbers[count : count + 3])
    rank = st.integers(0, 2 * count - 1)
    edges = draw(
        st.lists(st.tuples(rank, rank, st.integers(1, 10**9)), min_size=1, max_size=12)
    )
    edges = [edge for edge in edges if edge[0] != edge[1]] or [(0, 1, 1)]
    return make_problem(machine, hosts, spares, edges), hosts, spares


@given(jobs())
@settings(max_examples=60)
def test_the_best_spare_is_the_best_of_all(
    job: tuple[PlacementProblem, list[int], list[int]],
) -> None:
    problem, hosts, spares = job
    found = find_spares(problem, [])
    assert found.order == hosts
    for restart in ("in-place", "sorted"):
        best = list_spares(found, restart)
        for lost in hosts:
            times = {}
            for spare in spares:
                order = [spare if host == lost else host for host in hosts]
                if restart == "sorted":
                    order.sort()
                times[spare] = time_order(problem, order)
            spare, seconds = best[lost]
            assert times[spare] == seconds == min(times.values())


def test_a_spare_of_the_same_switch_replaces_a_host() -> None:
    # Hosts 0 to 3 are in the first unit, 4 to 7 in the second, and links between units
    # are slow. 3 and 7 are spares.
    edges = [(2 * i, 2 * i + 2, 10**9) for i in (0, 1, 3, 4)]
    job = make_problem(MACHINES[2], [0, 1, 2, 4, 5, 6], [3, 7], edges)
    found = find_spares(job, [])
    spares = {
        lost: spare for lost, (spare, _) in list_spares(found, "in-place").items()
    }
    assert spares == {0: 3, 1: 3, 2: 3, 4: 7, 5: 7, 6: 7}
    assert found.find_order("1", "in-place") == ["0", "3", "2", "4", "5", "6"]
    assert found.find_order("1", "sorted") == ["0", "2", "3", "4", "5", "6"]
    with pytest.raises(Error, match="9 is not a host of the job's ranks"):
        found.find_order("9", "sorted")


def test_a_sorted_restart_moves_the_hosts_behind_the_lost_one() -> None:
    # Ranks of places 2 and 3 communicate. If host 0 is lost and 7 joins, place 2 is
    # host 3 and place 3 is host 4, in another unit; in place both stay.
    job = make_problem(MACHINES[2], [0, 1, 2, 3, 4], [7], [(4, 6, 10**9)])
    found = find_spares(job, [])
    in_place = list_spares(found, "in-place")[0]
    assert in_place == (7, found.seconds["in-place"])
    assert found.find_order("0", "sorted") == ["1", "2", "3", "4", "7"]
    assert list_spares(found, "sorted")[0][1] > found.seconds["sorted"]


def test_jobs_without_spares_are_refused() -> None:
    words = "all 2 hosts of the allocation have ranks, so there is no spare"
    with pytest.raises(Error, match=re.escape(words)):
        find_spares(make_problem(MACHINES[0], [0, 1], [], [(0, 2, 8)]), [])
    job = make_problem("torus:3x3+node:2", [0, 1], [2], [(0, 2, 8)])
    with pytest.raises(Error, match="has no bandwidths"):
        find_spares(job, [])
