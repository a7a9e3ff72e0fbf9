# SPDX-License-Identifier: BSD-3-Clause
"""Binomial orders and message combining, on measured and published costs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import topoloom
from published.binomial_orders import RA
from topoloom import schedules

#: Karlsson 2012, table 4.2: round trips between cores of a Power7, in microseconds.
POWER7 = np.array(
    [
        (0, 17.88, 9.42, 9.89, 9.57, 18.48, 9.64),
        (17.84, 0, 18.48, 18.52, 17.9, 9.76, 18.08),
        (9.91, 18.95, 0, 9.53, 9.78, 18.42, 9.43),
        (9.46, 17.87, 9.62, 0, 9.74, 17.88, 9.63),
        (9.91, 18.32, 9.56, 9.51, 0, 17.93, 9.66),
        (18.03, 9.63, 18.11, 17.84, 18.32, 0, 18.21),
        (9.67, 18.06, 9.71, 9.43, 9.58, 18.12, 0),
    ]
)


def test_groups_of_measured_machines_are_found() -> None:
    found = schedules.find_cost_groups(RA)
    assert found.of == [0, 1, 0, 0, 1, 0, 1, 1]
    assert [group.members for group in found.groups] == [[0, 2, 3, 5], [1, 4, 6, 7]]
    assert [f"{group.p:.1e}" for group in found.groups] == ["2.5e-23", "4.1e-19"]
    assert schedules.find_cost_groups(POWER7).of == [0, 1, 0, 0, 0, 1, 0]


def test_p_values_equal_scipy() -> None:
    rng = np.random.default_rng(1)
    socket, domain = np.arange(16) // 8, np.arange(16) // 4
    for gap in (0.5, 1, 10):
        levels = 12 - 2.0 * np.equal.outer(socket, socket)
        costs = levels - gap * np.equal.outer(domain, domain)
        costs += rng.uniform(0, 0.3, costs.shape)
        np.fill_diagonal(costs, 0)
        sockets = schedules.find_cost_groups(costs).groups
        assert [len(group.groups) for group in sockets] == [2, 2]
        for group in sockets:
            inside = costs[np.ix_(group.members, group.members)]
            inside = inside[~np.eye(8, dtype=bool)]
            others = np.setdiff1d(np.arange(16), group.members)
            into = costs[np.ix_(others, group.members)].ravel()
            t, p = stats.ttest_ind(into, inside)
            assert (group.t, group.p) == pytest.approx((t, p))
            assert group.into.sigma == pytest.approx(into.std(ddof=1))
            assert (group.inside.n, group.into.n) == (56, 64)


#: Node -> socket and L3 domain of each process.
RAGGED = {
    "sockets of three sizes": [(0,)] * 3 + [(1,)] * 8 + [(2,)] * 5,
    "domains in one socket": [(0, 0)] * 4 + [(0, 1)] * 4 + [(1, 0)] * 8,
    "domains of four sizes": [(0, 0)] * 2 + [(0, 1)] * 6 + [(1, 0)] * 4 + [(1, 1)] * 3,
    "most on one socket": [(0, n // 4) for n in range(12)] + [(1, 0)] * 4,
    "one alone on a socket": [(0,)] * 15,
}


@pytest.mark.parametrize("node", RAGGED)
def test_groups_of_different_sizes_are_found_despite_outliers(node: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        places = [RAGGED[node][i] for i in rng.permutation(len(RAGGED[node]))]
        if node == "one alone on a socket":
            places.insert(3, (1,))
        size = len(places)
        shared = np.array(
            [[sum(np.cumprod(np.equal(a, b))) for a in places] for b in places]
        )
        costs = 20 - 5.0 * shared + rng.exponential(0.4, (size, size))
        costs *= np.where(rng.random((size, size)) < 0.03, 100, 1)
        found = schedules.find_cost_groups(costs)
        assert find_group_places(found.groups, places) == make_expected_groups(node)


def find_group_places(
    groups: list[schedules.CostGroup], places: list[tuple[int, ...]]
) -> object:
    """Return the nested groups, with places instead of members."""
    return sorted(
        (
            sorted(places[member] for member in group.members),
            find_group_places(group.groups, places),
        )
        for group in groups
    )


def make_expected_groups(node: str) -> object:
    places = sorted(RAGGED[node])
    if node == "one alone on a socket":  # no messages are inside a group of one
        return []

    def split_at_level(of: list[tuple[int, ...]], level: int) -> object:
        keys = sorted({place[: level + 1] for place in of})
        if len(keys) < 2 or len(of[0]) <= level:
            return []
        inside = [[p for p in of if p[: level + 1] == key] for key in keys]
        return [(one, split_at_level(one, level + 1)) for one in inside]

    return split_at_level(places, 0)


def test_a_smaller_p_finds_fewer_groups() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        costs = rng.uniform(1, 1.5, (8, 8))
        costs[np.equal.outer(np.arange(8) % 2, np.arange(8) % 2)] -= 0.25
        found = [
            schedules.find_cost_groups(np.abs(costs), significance=p).count
            for p in (0.3, 0.01, 1e-4, 1e-12)
        ]
        assert found == sorted(found, reverse=True)


def test_a_slightly_slower_edge_does_not_change_the_order() -> None:
    def total_seconds(method: str) -> float:
        order = schedules.binomial_order(RA, method, channels=2)
        return sum(
            schedules.binomial_scatter_steps(RA, order, channels=2, reading="printed")
        )

    # Messages between RA's sockets cost 1.07 times as much as inside, below the limit
    # of 1.5 for separate groups.
    assert total_seconds("channel-aware") < total_seconds("standard")
    assert total_seconds("standard") < total_seconds("fastest-edge-first")


def test_invalid_arguments_of_binomial_orders_are_refused() -> None:
    with pytest.raises(topoloom.Error, match="2 by 3"):
        schedules.find_cost_groups(np.ones((2, 3)))
    with pytest.raises(topoloom.Error, match="p is 0"):
        schedules.find_cost_groups(RA, significance=0)
    few = schedules.find_cost_groups(POWER7)
    with pytest.raises(topoloom.Error, match="groups of 7 processes, but costs of 8"):
        schedules.binomial_scatter_steps(RA, list(range(8)), groups=few)
    with pytest.raises(topoloom.Error, match="fastest-edge-first"):
        schedules.binomial_order(RA, "fastest")
    with pytest.raises(topoloom.Error, match="direct"):
        schedules.alltoall_time("diret", 4, 1, schedules.CombiningCosts())
    with pytest.raises(topoloom.Error, match="2 or 3"):
        schedules.virtual_mesh_receivers(4, 4, 0)
    with pytest.raises(topoloom.Error, match="0 to 3"):
        schedules.virtual_mesh_receivers(4, 2, 4)


def test_missing_ranks_of_a_virtual_mesh_are_replaced() -> None:
    rounds = schedules.virtual_mesh_receivers(14, 2, 12)
    assert rounds == [[13, 2, 3], [0, 4, 8]]


def test_a_grid_broadcasts_along_one_axis_after_the_other() -> None:
    rounds = schedules.grid_line_messages([2, 3], "bcast", 8, root=1)
    assert rounds[0] == [(3, 0, 8), (4, 1, 8), (5, 2, 8)]
    assert [sorted(messages) for messages in rounds[1:]] == [
        [(1, 0, 8), (4, 3, 8)],
        [(1, 2, 8), (4, 5, 8)],
    ]
    chain = schedules.grid_line_messages([1, 3], "bcast", 8, pieces=2)
    assert chain == [[(0, 1, 4)], [(0, 1, 4), (1, 2, 4)], [(1, 2, 4)]]
    with pytest.raises(topoloom.Error, match="scatter and gather, not barrier"):
        schedules.grid_line_messages([2, 3], "barrier", 0)
    with pytest.raises(topoloom.Error, match="root 2 is not a rank"):
        schedules.grid_line_messages([2, 3], "bcast", 8, root=2)
    for extents in ([], [0, 2], [2**31 - 1, 2**31 - 1]):
        with pytest.raises(topoloom.Error, match="grid of"):
            schedules.grid_line_messages(extents, "bcast", 8)
