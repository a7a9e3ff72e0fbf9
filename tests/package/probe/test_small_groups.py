# SPDX-License-Identifier: BSD-3-Clause
"""Small groups of hosts are found despite measurement errors."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from topoloom.probe.findings import Findings
from topoloom.probe.inference.cost_matrix import (
    compute_medians,
    estimate_median_errors,
)
from topoloom.probe.inference.splits import (
    WeightedTimes,
    compute_required_error,
    find_best_cut,
)
from topoloom.probe.job.samples import (
    Exchange,
    Order,
    ProbeSamples,
    RankPlace,
)
from topoloom.probe.refinement import measure_undecided_pairs
from topoloom.probe.scan_inference import infer_findings
from topoloom.probe.stages.effort import EFFORTS, Clock, make_scan_order
from topoloom.probe.stages.scan import SIZE

Costs = NDArray[np.float64]
P, LEAST = 0.005, math.log(1.05)


def draw_group_times(
    group: NDArray[np.int64], difference: float, error: float, seed: int
) -> WeightedTimes:
    """Draw logarithmic times; they are larger by `difference` between groups."""
    draw = np.random.default_rng(seed)
    times = np.where(group[:, None] == group, 0.0, difference)
    noise = np.triu(error * draw.standard_normal(times.shape), 1)
    weights = np.full(times.shape, 1 / error**2)
    np.fill_diagonal(weights, 0)
    return WeightedTimes(times + noise + noise.T, weights)


@pytest.mark.parametrize("host_count", [4, 6, 10, 20])
def test_groups_of_two_are_found_if_errors_are_small_enough(host_count: int) -> None:
    """If the error is half as large, the groups are also certain."""
    group = np.arange(host_count) // 2
    error = compute_required_error(host_count, 0.1, P)
    wanted = [[n, n + 1] for n in range(0, host_count, 2)]
    seen = sure = 0
    for seed in range(40):
        one = find_best_cut(
            draw_group_times(group, 0.1, error, seed), np.arange(host_count), LEAST, P
        )
        other = find_best_cut(
            draw_group_times(group, 0.1, error / 2, seed),
            np.arange(host_count),
            LEAST,
            P,
        )
        seen += one is not None
        sure += other is not None and other.sure and other.parts == wanted
    assert seen >= 38
    assert sure >= 38


@pytest.mark.parametrize("things", [4, 5, 10, 20])
@pytest.mark.parametrize("error", [0.01, 0.03, 0.1])
def test_equal_hosts_are_not_split(things: int, error: float) -> None:
    alike = np.zeros(things, np.int64)
    cuts = [
        find_best_cut(
            draw_group_times(alike, 0, error, seed), np.arange(things), LEAST, P
        )
        for seed in range(60)
    ]
    assert sum(cut is not None and cut.sure for cut in cuts) <= 1


def test_one_slow_link_makes_no_group() -> None:
    for seed in range(20):
        samples = draw_group_times(np.zeros(5, np.int64), 0, 0.015, seed)
        samples.times[1, 3] += 0.25
        samples.times[3, 1] += 0.25
        cut = find_best_cut(samples, np.arange(5), LEAST, P)
        assert cut is None or not cut.sure


@pytest.mark.parametrize("slow_pairs", [[(0, 4), (1, 3)], [(0, 1), (0, 2), (3, 4)]])
def test_random_outliers_make_no_groups(
    slow_pairs: list[tuple[int, int]],
) -> None:
    """Other programs on the hosts slowed all measurements of these pairs."""
    for seed in range(20):
        samples = draw_group_times(np.zeros(5, np.int64), 0, 0.01, seed)
        for a, b in slow_pairs:
            samples.times[a, b] += 0.2
            samples.times[b, a] += 0.2
        cut = find_best_cut(samples, np.arange(5), LEAST, P)
        assert cut is None or not cut.sure


@pytest.mark.parametrize("count", [3, 5, 12])
@pytest.mark.parametrize("noise", [0.03, 0.15])
def test_errors_of_medians_agree_with_repeated_measurements(
    count: int, noise: float
) -> None:
    draw = np.random.default_rng(count)
    seconds = 1e-6 * (1 + noise * draw.standard_normal((4000, count)))
    medians, errors = compute_medians(list(seconds))
    far = (medians / 1e-6 - 1) / errors
    assert np.std(far) == pytest.approx(1, abs=0.1)
    assert np.mean(np.abs(far) > 3) < 0.01


def test_errors_are_shared_with_faster_and_slower_pairs_alike() -> None:
    """Errors depend on ratios of times, so reciprocal times have the same errors."""
    draw = np.random.default_rng(3)
    medians = np.exp(draw.uniform(-14, -12, 160))
    counts, apart = draw.integers(3, 9, 160), draw.uniform(0.01, 0.3, 160)
    errors = estimate_median_errors(counts, medians, apart)
    reciprocal = estimate_median_errors(counts, 1 / medians, apart)
    np.testing.assert_allclose(errors, reciprocal, rtol=1e-9)


class RandomJob:
    """A job with random times, which vary around the cost of each pair."""

    def __init__(self, costs: Costs, noise: float, seed: int) -> None:
        hosts = range(len(costs))
        self.samples = ProbeSamples(
            [RankPlace(f"n{host}", "", "MPI") for host in hosts]
        )
        self._costs, self._noise = costs, noise
        self._draw = np.random.default_rng(seed)
        self._count = 0

    def measure(self, orders: list[Order]) -> list[Exchange]:
        """Draw at least as many samples per pair as the last orders request."""
        before = len(self.samples.exchanges)
        for order in orders:
            number = len(self.samples.orders)
            self.samples.orders.append(order)
            words = order.rest.split()
            if order.how == "sampling":
                self._count = int(words[0])
                continue
            pairs = [tuple(map(int, word.split("-"))) for word in words if "-" in word]
            if order.how == "circle":
                pairs = [*combinations(range(len(self._costs)), 2)]
            for a, b in pairs:
                seconds = self._costs[a, b] * (
                    1 + self._noise * self._draw.standard_normal(self._count)
                )
                exchange = Exchange(
                    number, order.how, "echo", SIZE, order.window, a, b, seconds
                )
                self.samples.exchanges.append(exchange)
        return list(self.samples.exchanges[before:])


def run_inference(costs: Costs, noise: float, seed: int) -> tuple[Findings, int, int]:
    """Return the findings, and the numbers of samples in the scan and afterwards."""
    job = RandomJob(costs, noise, seed)
    effort, clock = EFFORTS["default"], Clock(1e9)
    job.measure([make_scan_order(effort), Order("circle", "echo", [SIZE], 1, "0 1")])
    before = job.samples.count
    found = measure_undecided_pairs(job, infer_findings(job.samples), effort, clock)  # type: ignore[arg-type]
    return found, before, job.samples.count - before


def make_group_costs(sizes: list[int], inside: float, across: float) -> Costs:
    group = np.repeat(np.arange(len(sizes)), sizes)
    costs = np.where(group[:, None] == group, inside, across)
    np.fill_diagonal(costs, 0)
    return costs


@pytest.mark.parametrize("sizes", [[2, 2], [2, 2, 2, 2, 2], [2, 3, 4], [8, 2, 5]])
def test_pairs_are_remeasured_until_small_groups_are_certain(sizes: list[int]) -> None:
    ends = np.cumsum([0, *sizes]).tolist()
    groups = [[*range(a, b)] for a, b in pairwise(ends)]
    right = []
    for seed in range(8):
        found, _, again = run_inference(
            make_group_costs(sizes, 1e-6, 1.12e-6), 0.1, seed
        )
        right.append(found.document()["groups"] == groups)
        assert again > 0
    assert sum(right) == 8


def test_without_noise_no_pair_is_remeasured() -> None:
    found, _, again = run_inference(make_group_costs([2, 2, 6, 6], 1e-6, 1.12e-6), 0, 1)
    assert again == 0
    assert len(found.root.groups) == 4


def test_two_slow_hosts_are_no_group() -> None:
    """Messages between the two slow hosts take longest."""
    costs = np.full((12, 12), 1e-6)
    for host in (4, 7):
        costs[host] += 0.25e-6
        costs[:, host] += 0.25e-6
    np.fill_diagonal(costs, 0)
    for seed in range(10):
        assert not run_inference(costs, 0.05, seed)[0].document()["groups"]
