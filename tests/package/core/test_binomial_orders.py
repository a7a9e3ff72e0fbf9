# SPDX-License-Identifier: BSD-3-Clause
"""Binomial orders and combining from Python, on what was measured and published."""

from __future__ import annotations

import numpy as np
import pytest

import topoloom
from published.binomial_orders import POWER7, RA
from topoloom import schedules


def test_groups_of_measured_machines_come_out() -> None:
    found = schedules.find_cost_groups(RA)
    assert found.of == [0, 1, 0, 0, 1, 0, 1, 1]
    assert min(found.t) > 20
    assert schedules.find_cost_groups(POWER7).of == [0, 1, 0, 0, 0, 1, 0]


def test_a_slow_edge_pays_only_where_it_is_much_slower() -> None:
    def seconds(method: str) -> float:
        order = schedules.binomial_order(RA, method, channels=2)
        return sum(
            schedules.binomial_scatter_steps(RA, order, channels=2, reading="printed")
        )

    # Messages between the sockets of RA take 1.07 times as long, less than 1.5.
    assert seconds("channel-aware") < seconds("standard")
    assert seconds("standard") < seconds("fastest-edge-first")


def test_arguments_that_cannot_be_are_refused() -> None:
    with pytest.raises(topoloom.Error, match="2 by 3"):
        schedules.find_cost_groups(np.ones((2, 3)))
    with pytest.raises(topoloom.Error, match="fastest-edge-first"):
        schedules.binomial_order(RA, "fastest")
    with pytest.raises(topoloom.Error, match="direct"):
        schedules.all_to_all_time("diret", 4, 1, schedules.CombiningCosts())
    with pytest.raises(topoloom.Error, match="2 or 3"):
        schedules.virtual_mesh_receivers(4, 4, 0)
    with pytest.raises(topoloom.Error, match="0 to 3"):
        schedules.virtual_mesh_receivers(4, 2, 4)


def test_holes_are_stood_in_for() -> None:
    rounds = schedules.virtual_mesh_receivers(14, 2, 12)
    assert rounds == [[13, 2, 3], [0, 4, 8]]


def test_lines_of_a_grid_broadcast_one_axis_after_the_other() -> None:
    rounds = schedules.grid_line_messages([2, 3], "broadcast", 8, root=1)
    assert rounds[0] == [(3, 0, 8), (4, 1, 8), (5, 2, 8)]
    assert [sorted(messages) for messages in rounds[1:]] == [
        [(1, 0, 8), (4, 3, 8)],
        [(1, 2, 8), (4, 5, 8)],
    ]
    chain = schedules.grid_line_messages([1, 3], "broadcast", 8, pieces=2)
    assert chain == [[(0, 1, 4)], [(0, 1, 4), (1, 2, 4)], [(1, 2, 4)]]
    with pytest.raises(topoloom.Error, match="they do no barrier"):
        schedules.grid_line_messages([2, 3], "barrier", 0)
    with pytest.raises(topoloom.Error, match="root 2 is not a rank"):
        schedules.grid_line_messages([2, 3], "broadcast", 8, root=2)
    for extents in ([], [0, 2], [2**31 - 1, 2**31 - 1]):
        with pytest.raises(topoloom.Error, match="grid of"):
            schedules.grid_line_messages(extents, "broadcast", 8)
