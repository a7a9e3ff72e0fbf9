# SPDX-License-Identifier: BSD-3-Clause
"""Bursts of long messages are exchanged only between comparable ranks."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from topoloom.probe.job.samples import Exchange, Order
from topoloom.probe.stages.effort import EFFORTS, Clock
from topoloom.probe.stages.rates import measure_bursts


class AnsweringJob:
    """A job that answers orders as the ranks do; concurrent pairs may be slower."""

    def __init__(self, ranks: int, slowdown: float) -> None:
        self._sets = [list(range(ranks))]
        self._slowdown = slowdown

    def measure(self, orders: list[Order]) -> list[Exchange]:
        """Return an exchange of each ordered pair."""
        return [found for order in orders for found in self._answer(order)]

    def _answer(self, order: Order) -> list[Exchange]:
        if order.how == "among":
            self._sets = [[*map(int, part.split())] for part in order.rest.split(";")]
            return []
        seconds = np.array([1.0])
        if order.how == "circle":
            seconds *= self._slowdown
            pairs = [pair for each in self._sets for pair in combinations(each, 2)]
        else:
            pairs = [tuple(map(int, pair.split("-"))) for pair in order.rest.split()]
        return [
            Exchange(
                0, order.how, order.kind, *order.sizes, order.window, a, b, seconds
            )
            for a, b in pairs
        ]


@pytest.mark.parametrize("slowdown", [1.0, 2.0])
def test_bursts_join_ranks_of_the_same_set(slowdown: float) -> None:
    job: Any = AnsweringJob(9, slowdown)
    sets = [[0, 2, 4], [1, 3, 5, 7], [8]]
    clock = Clock(60)
    found, has_time = measure_bursts(job, sets, [(0, 1)], 1024, EFFORTS["quick"], clock)
    assert has_time
    pairs = {frozenset((each.first, each.second)) for each in found}
    assert pairs == {frozenset(p) for each in sets for p in combinations(each, 2)}
