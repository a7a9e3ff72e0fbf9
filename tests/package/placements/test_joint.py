# SPDX-License-Identifier: BSD-3-Clause
"""Jobs placed jointly are never worse than jobs placed separately; often better."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, Error, Machine, judge
from topoloom.graphs import alltoall, ring, stencil
from topoloom.tasks.jobs.joint import (
    Budget,
    Job,
    JointPlacement,
    place_in_pool,
    place_jointly,
)

TORUS = Machine("torus:4x4")
WORK = 200_000
SHORT = Budget(work=WORK)
BLACK, WHITE = (
    Allocation(TORUS, [n for n in range(16) if (n // 4 + n) % 2 == color])
    for color in (0, 1)
)


def make_two_rings() -> list[Job]:
    """Make two rings that share a torus like the colors of a chessboard."""
    return [Job("black", ring(8, 1000), BLACK), Job("white", ring(8, 1000), WHITE)]


def check_placements(found: JointPlacement, jobs: int) -> None:
    for each in (found.apart, found.together):
        total = np.sum(
            [
                judge(job.graph, job.allocation, placed).loads
                for job, placed in zip(each.jobs, each.placements, strict=True)
            ],
            axis=0,
        )
        assert each.value == total.max() == max(each.values)  # links of 1 B/s
        assert len(each.values) == len(each.placements) == jobs
        taken = [slot for placed in each.placements for slot in placed.slots.tolist()]
        assert len(set(taken)) == len(taken)
    assert found.together.sort_key <= found.apart.sort_key
    assert all(a <= b for a, b in zip(found.alone, found.apart.values, strict=True))


def test_two_rings_do_not_interfere() -> None:
    found = place_jointly(make_two_rings(), Budget())
    check_placements(found, 2)
    assert found.alone == [1000, 1000]
    assert found.apart.value == 2000
    assert found.together.value == 1000


def test_jobs_are_never_worse_placed_jointly() -> None:
    jobs = [
        Job("stencil", stencil([2, 4], 5, True, 700), BLACK),
        Job("all", alltoall(7, 100), WHITE),
    ]
    check_placements(place_jointly(jobs, SHORT), 2)


def test_a_pool_of_nodes_is_divided_according_to_the_patterns() -> None:
    patterns = [("a", alltoall(6, 100)), ("b", ring(5, 900)), ("c", ring(4, 900))]
    pool = Allocation(TORUS, [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14])
    found = place_in_pool(patterns, pool, SHORT)
    check_placements(found, 3)
    for job in found.together.jobs:
        assert set(job.allocation.slots.tolist()) <= set(pool.slots.tolist())
        assert job.allocation.slot_count == job.graph.rank_count


def test_hop_bytes_of_jobs_are_added_up() -> None:
    patterns = [("a", ring(8, 10)), ("b", stencil([2, 4], 5, True, 10))]
    found = place_in_pool(
        patterns, Allocation.whole(TORUS), Budget(objective="hop-bytes", work=WORK)
    )
    assert found.together.value == found.together.hop_bytes <= found.apart.hop_bytes


def test_jobs_can_share_nodes_of_a_pool_but_no_slot() -> None:
    pool = Allocation.whole(Machine("torus:4+node:4"))
    found = place_in_pool([("a", ring(6, 10)), ("b", ring(10, 10))], pool, SHORT)
    check_placements(found, 2)


def test_seed_and_work_determine_joint_placements() -> None:
    slots = [
        [
            placed.slots.tolist()
            for placed in place_jointly(
                make_two_rings(), Budget(work=20_000, threads=threads)
            ).together.placements
        ]
        for threads in (1, 2)
    ]
    assert slots[0] == slots[1]


@pytest.mark.parametrize("budget", [{"work": 0}, {"seconds": 0.0}])
def test_without_a_budget_there_is_still_a_placement(budget: dict[str, int]) -> None:
    check_placements(place_jointly(make_two_rings(), Budget(**budget)), 2)
    patterns = [(job.name, job.graph) for job in make_two_rings()]
    check_placements(
        place_in_pool(patterns, Allocation.whole(TORUS), Budget(**budget)), 2
    )


def test_the_progress_callback_can_stop_a_joint_placement() -> None:
    seen: list[int] = []

    def stop_after_three_calls(work: int) -> bool:
        seen.append(work)
        return len(seen) < 3

    check_placements(
        place_jointly(make_two_rings(), Budget(progress=stop_after_three_calls)), 2
    )
    assert seen == sorted(seen)


def test_a_node_belongs_to_one_job() -> None:
    jobs = [Job("a", ring(8), BLACK), Job("b", ring(4), Allocation(TORUS, [1, 3, 5]))]
    with pytest.raises(Error, match="node 5 is in the allocations of both a and b"):
        place_jointly(jobs, Budget())


def test_a_pool_that_is_too_small_is_refused() -> None:
    with pytest.raises(Error, match="17 ranks together, but the allocation has only"):
        place_in_pool(
            [("a", ring(8)), ("b", ring(9))], Allocation.whole(TORUS), Budget()
        )
