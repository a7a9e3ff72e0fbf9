# SPDX-License-Identifier: BSD-3-Clause
"""Noise and outliers in measured costs do not change process orders."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from topoloom import schedules
from topoloom.tasks.collectives.order import METHODS, ProcessOrder, order_processes

Matrix = NDArray[np.float64]
#: Processes per node, and processes per nested group, innermost first.
NODES = {"sockets": (16, [8]), "EPYC": (64, [8, 32]), "quads": (24, [4, 12])}


def make_costs(node: str, seed: int) -> tuple[Matrix, Matrix]:
    """Return costs without noise and with noise; processes are in random order."""
    rng = np.random.default_rng(seed)
    size, groups = NODES[node]
    places = rng.permutation(size)
    costs = np.full((size, size), 2e-6 * 2 ** len(groups))
    for group in groups:
        costs[np.equal.outer(places // group, places // group)] /= 2
    np.fill_diagonal(costs, 0)
    return costs, costs * (1 + rng.exponential(0.1, costs.shape))


def list_step_times(found: ProcessOrder) -> list[float]:
    return [*found.steps, *found.standard_steps]


@pytest.mark.parametrize("size", [4, 8, 32, 100])
@pytest.mark.parametrize("noise", ["exponential", "uniform"])
def test_processes_with_equal_costs_stay_in_the_standard_order(
    size: int, noise: str
) -> None:
    rng = np.random.default_rng(size)
    for root in range(3):
        deviations = getattr(rng, noise)(size=(size, size))
        found = order_processes(1e-6 * (1 + 0.1 * deviations), root=root, channels=2)
        assert found.method == "standard"
        assert found.order == [(root + i) % size for i in range(size)]


@pytest.mark.parametrize("node", NODES)
def test_one_outlier_changes_neither_order_nor_times(node: str) -> None:
    _, costs = make_costs(node, 3)
    rng = np.random.default_rng(4)
    before = order_processes(costs, channels=2)
    assert before.method != "standard"
    for factor in (3, 30, 3000):
        one, other = rng.choice(len(costs), 2, replace=False)
        disturbed = costs.copy()
        disturbed[one, other] *= factor
        after = order_processes(disturbed, channels=2)
        assert after.order == before.order
        assert list_step_times(after) == pytest.approx(
            list_step_times(before), rel=0.01
        )


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_noise_does_not_change_the_gain(node: str, method: str) -> None:
    for seed in range(3):
        clean, costs = make_costs(node, seed)
        found = order_processes(costs, method, channels=2)
        groups = schedules.find_cost_groups(clean)
        for order, steps in (
            (found.order, found.steps),
            (list(range(len(costs))), found.standard_steps),
        ):
            true = schedules.binomial_scatter_steps(
                clean, order, channels=2, groups=groups
            )
            # One-sided noise adds a tenth to all times.
            assert sum(steps) == pytest.approx(1.1 * sum(true), rel=0.03)


@pytest.mark.parametrize("node", NODES)
def test_costs_of_planted_groups_are_found(node: str) -> None:
    clean, costs = make_costs(node, 5)
    groups = schedules.find_cost_groups(costs)
    means = schedules.group_costs(costs, groups)
    assert means == pytest.approx(1.1 * clean, rel=0.05)
    assert len(np.unique(means)) == len(np.unique(clean))
    assert schedules.group_costs(clean, groups) == pytest.approx(clean)


def test_a_named_method_uses_unmodified_costs() -> None:
    _, costs = make_costs("sockets", 6)
    for method in METHODS:
        literal = schedules.binomial_order(costs, method)
        assert order_processes(costs, method).order == literal
