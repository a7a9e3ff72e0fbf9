# SPDX-License-Identifier: BSD-3-Clause
"""Infers groups, lines, links and slow hosts from simulated times."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from topoloom import Machine
from topoloom.probe.findings import Findings
from topoloom.probe.inference.message_costs import fit_level_costs
from topoloom.probe.inference.suspects import (
    compute_latency_residuals,
    compute_rate_residuals,
    find_slow_hosts,
    find_slow_links,
)
from topoloom.probe.job.samples import Exchange, Order, ProbeSamples, RankPlace
from topoloom.probe.measured_machine import describe_machine
from topoloom.probe.scan_inference import infer_findings
from topoloom.probe.stages.scan import SIZE

Costs = NDArray[np.float64]
SIZES = [2**n for n in range(23)]


def infer_from_scan(
    costs: Costs, hosts: list[str], noise: float = 0, seed: int = 1
) -> Findings:
    """Infer a machine from five samples per pair."""
    draw = np.random.default_rng(seed)
    samples = ProbeSamples(
        [RankPlace(host, "", "MPI") for host in hosts],
        [Order("circle", "echo", [SIZE], 1, "0 1")],
    )
    for a, b in combinations(range(len(hosts)), 2):
        seconds = costs[a, b] * (1 + noise * draw.standard_normal(5))
        samples.exchanges.append(Exchange(0, "circle", "echo", SIZE, 1, a, b, seconds))
    return infer_findings(samples)


def make_nested_costs(
    sizes: list[list[int]], times: tuple[float, float, float]
) -> Costs:
    """Return the times of ranks in nested groups."""
    outer = np.repeat(np.arange(len(sizes)), [sum(group) for group in sizes])
    flat = [size for group in sizes for size in group]
    inner = np.repeat(np.arange(len(flat)), flat)
    near, middle, far = times
    costs = np.where(outer[:, None] == outer, middle, far)
    costs = np.where(inner[:, None] == inner, near, costs)
    np.fill_diagonal(costs, 0)
    return costs


def list_smallest_groups(found: Findings) -> set[frozenset[int]]:
    def list_leaves(groups: list[object]) -> list[list[object]]:
        if not any(isinstance(group, list) for group in groups):
            return [groups]
        return [leaf for group in groups for leaf in list_leaves(group)]  # type: ignore

    return {frozenset(leaf) for leaf in list_leaves(found.document()["groups"])}  # type: ignore


group_sizes = st.lists(
    st.lists(st.integers(4, 9), min_size=2, max_size=3), min_size=2, max_size=3
)


@given(group_sizes, st.floats(1.1, 3), st.floats(1.1, 3), st.randoms())
def test_groups_are_found_for_any_rank_order(
    sizes: list[list[int]], middle: float, far: float, chance: object
) -> None:
    costs = make_nested_costs(sizes, (1e-6, middle * 1e-6, middle * far * 1e-6))
    count = len(costs)
    order = np.random.default_rng(count).permutation(count)
    hosts = [f"n{place}" for place in range(count)]
    found = infer_from_scan(costs[np.ix_(order, order)], hosts, noise=0.01)
    ends = np.cumsum([0, *(size for group in sizes for size in group)])
    planted = {
        frozenset(np.flatnonzero((order >= low) & (order < high)).tolist())
        for low, high in pairwise(ends)
    }
    assert list_smallest_groups(found) == planted
    assert [level.median for level in found.levels] == pytest.approx(
        [1e-6, middle * 1e-6, middle * far * 1e-6], rel=0.02
    )
    machine = Machine(describe_machine(found).text)
    assert machine.node_count == count


@pytest.mark.parametrize("noise", [0, 0.05, 0.2])
def test_equal_ranks_are_not_split(noise: float) -> None:
    costs = np.full((16, 16), 1e-6)
    hosts = [f"n{host}" for host in range(16)]
    split = [
        seed
        for seed in range(60)
        if infer_from_scan(costs, hosts, noise, seed).document()["groups"]
    ]
    assert len(split) <= 1


def test_parts_of_hosts_are_found_in_groups_of_hosts() -> None:
    sizes = [[4, 4]] * 6
    costs = make_nested_costs(sizes, (1e-6, 2e-6, 5e-6))
    apart = np.repeat([0, 1], 24)
    costs = np.where(apart[:, None] == apart, costs, 9e-6)
    np.fill_diagonal(costs, 0)
    found = infer_from_scan(costs, [f"n{rank // 8}" for rank in range(48)], noise=0.01)
    machine = Machine(describe_machine(found).text)
    assert (machine.node_count, machine.slots_per_node) == (6, 8)
    assert list(machine.levels) == [4, 2]
    assert machine.distance(0, 3) < machine.distance(0, 4) < machine.distance(0, 8)


@pytest.mark.parametrize("extents", [(4, 4), (5, 3, 3), (12,)])
@pytest.mark.parametrize("noise", [0, 0.02])
def test_a_torus_is_inferred_as_a_graph(extents: tuple[int, ...], noise: float) -> None:
    at = np.indices(extents).reshape(len(extents), -1).T
    apart = np.abs(at[:, None] - at[None])
    hops = np.minimum(apart, np.array(extents) - apart).sum(axis=2)
    hosts = [f"n{host}" for host in range(len(at))]
    found = infer_from_scan(3e-6 + 1e-6 * hops, hosts, noise)
    assert found.network is not None
    assert found.network.is_graph
    links = {(int(a), int(b)) for a, b in zip(*np.nonzero(hops == 1), strict=True)}
    assert set(found.network.neighbors) == {(a, b) for a, b in links if a < b}
    assert found.network.hop == pytest.approx(1e-6, rel=0.1)
    assert Machine(describe_machine(found).text).node_count == len(at)


lines = st.tuples(
    st.floats(0.5e-6, 20e-6), st.floats(1e-11, 1e-9), st.sampled_from([256, 4096])
)


@given(lines, st.floats(1.5, 4), st.floats(0.3, 2))
def test_planted_cost_lines_and_their_limits_are_found(
    line: tuple[float, float, int], step: float, gap: float
) -> None:
    alpha, beta, most = line
    second = step * (alpha + beta * most)

    def compute_single_time(size: int) -> float:
        return alpha + beta * size if size <= most else second + 2 * beta * size

    def make_exchange(kind: str, size: int, window: int, seconds: float) -> Exchange:
        return Exchange(0, "alone", kind, size, window, 0, 1, np.full(5, seconds))

    def compute_burst_time(size: int) -> float:
        return (
            compute_single_time(size)
            + compute_single_time(1)
            + 15 * (gap * 1e-6 + beta * size)
        )

    made = [make_exchange("echo", size, 1, compute_single_time(size)) for size in SIZES]
    made += [
        make_exchange("burst", size, 16, compute_burst_time(size)) for size in SIZES
    ]
    costs = fit_level_costs(made)
    assert costs is not None
    first, last = costs.alone.lines
    assert first.alpha.value == pytest.approx(alpha, rel=0.02)
    assert last.beta.value == pytest.approx(2 * beta, rel=0.02)
    assert first.end is not None
    assert first.end.low <= most <= first.end.value < first.end.high == 2 * most
    assert costs.burst is not None
    assert costs.burst.lines[-1].beta.value == pytest.approx(beta, rel=0.05)
    assert costs.latency == pytest.approx(alpha - gap * 1e-6, rel=0.05, abs=2e-8) or (
        alpha <= gap * 1e-6 and costs.latency < 1e-7
    )
    # For a single message the model equals the measurement.
    if alpha > gap * 1e-6:
        for size in (8, most, 4 * most, SIZES[-1]):
            assert costs.model.arrival(size) == pytest.approx(
                compute_single_time(size), rel=0.05
            )
    assert costs.loggp is not None
    latency, overhead, _, slope = costs.loggp.values()
    assert latency + 2 * overhead >= compute_single_time(1) * (1 - 1e-9)
    assert slope == pytest.approx(beta, rel=0.05)


def test_confidence_intervals_contain_the_planted_values() -> None:
    """With 2 % noise, about 95 % of 200 intervals contain them; all are narrow."""
    draw = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        made = [
            Exchange(0, "alone", "echo", size, 1, 0, 1, np.array([seconds]))
            for size in SIZES
            for seconds in [(2e-6 + 1e-10 * size) * (1 + 0.02 * draw.standard_normal())]
        ]
        costs = fit_level_costs(made)
        assert costs is not None
        beta = costs.alone.lines[-1].beta
        held += beta.low <= 1e-10 <= beta.high
    assert held >= 0.88 * 200


def make_bursts(hosts: int, slow: int, factor: float) -> list[Exchange]:
    draw = np.random.default_rng(hosts)

    def draw_burst_times(a: int, b: int) -> NDArray[np.float64]:
        times = factor if slow in (a, b) else 1.0
        return 1e-3 * times * (1 + 0.02 * draw.standard_normal(5))

    return [
        Exchange(0, "alone", "burst", 1 << 20, 4, a, b, draw_burst_times(a, b))
        for a, b in combinations(range(hosts), 2)
    ]


@pytest.mark.parametrize("hosts", [5, 16, 40])
def test_only_a_slow_host_is_measured_again(hosts: int) -> None:
    found = compute_rate_residuals(
        [range(hosts)],
        range(hosts),
        make_bursts(hosts, 3, 1.25),
        np.zeros((hosts, hosts)),
    )
    assert find_slow_hosts(found, hosts) == [3]
    assert find_slow_links(found, [3]) == []


def test_a_slow_link_is_measured_again() -> None:
    costs = np.full((12, 12), 1e-6)
    costs[4, 7] = costs[7, 4] = 1.3e-6
    np.fill_diagonal(costs, 0)
    found = infer_from_scan(costs, [f"n{host}" for host in range(12)], noise=0.01)
    assert found.network is not None
    residuals = compute_latency_residuals(
        found.root, found.host_of, found.costs, found.network.predicted
    )
    assert find_slow_hosts(residuals, 12) == []
    ((pair, factor),) = find_slow_links(residuals, [])
    assert pair == (4, 7)
    assert factor == pytest.approx(1.3, rel=0.05)


def test_too_few_sizes_give_no_model() -> None:
    one = Exchange(0, "alone", "echo", 1, 1, 0, 1, np.array([1e-6]))
    assert fit_level_costs([one]) is None
    assert math.isfinite(one.median)
