# SPDX-License-Identifier: BSD-3-Clause
"""Many hosts: groups are found from few pairs, and samples need few arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from topoloom.probe.inference.cost_matrix import fill_missing
from topoloom.probe.inference.groups import ALL, GROUP, HOST, RankGroup
from topoloom.probe.inference.landmarks import HostGroup, Hosts, Pairs, find_host_groups
from topoloom.probe.inference.modes import find_valleys
from topoloom.probe.inference.pair_costs import PairCosts, select_measured_pairs
from topoloom.probe.job.samples import (
    Exchange,
    Order,
    ProbeSamples,
    RankPlace,
    load_samples,
    save_samples,
)
from topoloom.probe.large_scan import infer_large
from topoloom.probe.scan_inference import group_by_host, infer_findings
from topoloom.probe.stages.effort import EFFORTS
from topoloom.probe.stages.scan import SIZE
from topoloom.probe.time_estimate import FirstRoundTimes, estimate_time

Floats = NDArray[np.float64]
FEW = 24


class PlantedCluster:
    """Hosts in nested groups, measured on request.

    Parameters
    ----------
    paths
        Groups of each host, outermost first.
    times
        Seconds between hosts with 0, 1, ... common groups.
    slow
        Hosts whose messages take 1.3 times as long.
    """

    def __init__(
        self,
        paths: NDArray[np.int64],
        times: Sequence[float],
        noise: float = 0,
        slow: Sequence[int] = (),
        pairs: int = 1 << 40,
    ) -> None:
        self._paths, self._times, self._noise = paths, np.array(times), noise
        self._slow = np.ones(len(paths))
        self._slow[list(slow)] = 1.3
        self._draw = np.random.default_rng(1)
        self._left = pairs
        self.measured = 0
        self.whole: list[Hosts] = []

    @property
    def is_late(self) -> bool:
        """Return whether more pairs were requested than allowed."""
        return self.measured > self._left

    def measure_pairs(self, pairs: Pairs) -> tuple[Floats, float]:
        """Return the times of pairs, and their error."""
        self.measured += len(pairs)
        return self.seconds(*pairs.T), self._noise

    def measure_inside(self, sets: Sequence[Hosts]) -> None:
        """Record the sets of hosts whose pairs are requested."""
        self.whole = list(sets)

    def seconds(self, a: Hosts, b: Hosts) -> Floats:
        """Return the times of messages between hosts."""
        same = np.cumprod(self._paths[a] == self._paths[b], axis=1).sum(axis=1)
        noise = 1 + self._noise * self._draw.standard_normal(len(a))
        found: Floats = self._times[same] * np.maximum(self._slow[a], self._slow[b])
        return found * noise

    def list_groups(self) -> set[frozenset[int]]:
        """Return the root group, and groups whose parent has more than `FEW` hosts."""
        found = {frozenset(range(len(self._paths)))}
        for depth in range(self._paths.shape[1]):
            around = self._paths[:, :depth]
            for path in np.unique(self._paths[:, : depth + 1], axis=0):
                outer = (around == path[:depth]).all(axis=1)
                if outer.sum() > FEW:
                    inside = (self._paths[:, : depth + 1] == path).all(axis=1)
                    found.add(frozenset(np.flatnonzero(inside).tolist()))
        return found


def make_group_paths(counts: Sequence[int]) -> NDArray[np.int64]:
    """Return the group paths of hosts in equally large groups, in random order."""
    inner = np.cumprod(counts[::-1])[::-1][1:]
    paths = np.arange(math.prod(counts))[:, None] // inner
    mixed: NDArray[np.int64] = np.random.default_rng(7).permutation(paths)
    return mixed


def list_all_parts(root: HostGroup) -> set[frozenset[int]]:
    return {frozenset(part.members.tolist()) for part in root.all_parts()}


counts_of_trees = st.sampled_from(
    [(3, 30), (12, 25), (4, 4, 30), (3, 5, 8, 6), (40, 9), (2, 150), (7, 10, 10)]
)


@given(
    counts_of_trees,
    st.lists(st.floats(1.15, 2.5), min_size=3, max_size=3),
    st.sampled_from([0, 0.005, 0.0125]),
    st.booleans(),
)
def test_landmarks_find_exactly_the_groups_of_planted_trees(
    counts: tuple[int, ...], steps: list[float], noise: float, has_slow: bool
) -> None:
    paths = make_group_paths(counts)
    times = (1e-6 * np.cumprod([1, *steps])[: len(counts)][::-1]).tolist()
    planted = PlantedCluster(paths, times, noise, slow=[5, 17] if has_slow else [])
    found = list_all_parts(find_host_groups(len(paths), planted, FEW))
    assert found == planted.list_groups()


@pytest.mark.parametrize("noise", [0, 0.0125, 0.03])
def test_hosts_with_equal_times_form_no_groups(noise: float) -> None:
    flat = np.zeros((3000, 1), np.int64)
    planted = PlantedCluster(flat, [1.5e-6, 1e-6], noise, slow=[3, 50, 999])
    assert find_host_groups(3000, planted).groups == []
    assert planted.measured < 30 * 3000


def test_grouping_ten_thousand_hosts_measures_a_fiftieth_of_all_pairs() -> None:
    paths = make_group_paths((10, 10, 100))
    planted = PlantedCluster(paths, [1.8e-6, 1.3e-6, 1e-6], 0.0125)
    root = find_host_groups(10_000, planted)
    assert list_all_parts(root) == planted.list_groups()
    inside = sum(len(each) * (len(each) - 1) // 2 for each in planted.whole)
    assert planted.measured + inside < 10_000**2 / 2 / 40


def test_grouping_stops_when_the_time_is_used_up() -> None:
    planted = PlantedCluster(make_group_paths((500, 4)), [2e-6, 1e-6], pairs=100_000)
    root = find_host_groups(2000, planted)
    assert (root.groups, root.is_known) == ([], False)
    assert planted.measured < 200_000


@given(st.floats(-14, -12), st.floats(np.log(1.1), 1), st.integers(8, 500))
def test_a_valley_is_found_between_two_modes(
    low: float, apart: float, count: int
) -> None:
    """The two modes differ by 10 % or more, with errors of 1 %."""
    draw = np.random.default_rng(count)
    near = low + 0.01 * draw.standard_normal(count)
    far = low + apart + 0.01 * draw.standard_normal(1000)
    (valley,) = find_valleys(np.concatenate([far, near]), 0.01)
    assert low < valley < low + apart
    assert find_valleys(far, 0.01) == []


exchanges = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 9), st.integers(0, 9), st.integers(1, 7)
    ),
    min_size=1,
    max_size=40,
)
ORDERS = [
    Order("circle", "echo", [SIZE], 2, "0 1"),
    Order("alone", "burst", [64], 4, "0-1"),
    Order("noise", rest="20"),
]


def make_samples(orders: list[tuple[int, int, int, int]]) -> ProbeSamples:
    samples = ProbeSamples([RankPlace("a", "", "MPI")] * 10, list(ORDERS))
    for order, first, second, count in orders:
        asked = ORDERS[order]
        kind = asked.kind or asked.how
        size = asked.sizes[0] if asked.sizes else 0
        seconds = np.random.default_rng(count).random(count)
        samples.exchanges.append(
            Exchange(order, asked.how, kind, size, asked.window, first, second, seconds)
        )
    return samples


@given(exchanges, st.data())
def test_exchanges_are_stored_in_order(
    orders: list[tuple[int, int, int, int]], data: st.DataObject
) -> None:
    found = make_samples(orders).exchanges
    assert [(e.order, e.first, e.second, len(e.seconds)) for e in found] == orders
    assert [e.median for e in found] == found.medians.tolist()
    begin = data.draw(st.integers(-len(orders), len(orders)))
    some = found[begin:]
    assert [e.first for e in some] == [each[1] for each in orders[begin:]]
    assert some.counts.tolist() == [each[3] for each in orders[begin:]]
    ones = found.select_orders([1])
    assert [e.second for e in ones] == [each[2] for each in orders if each[0] == 1]
    assert found[-1].order == orders[-1][0]
    assert len(some.seconds) == some.counts.sum()


@given(exchanges)
def test_samples_are_read_back_from_files(
    tmp_path_factory: pytest.TempPathFactory, orders: list[tuple[int, int, int, int]]
) -> None:
    file = tmp_path_factory.mktemp("samples") / "m.npz"
    samples = make_samples(orders)
    save_samples(file, samples, np.eye(10))
    read = load_samples(file)
    assert (read.places, read.orders) == (samples.places, samples.orders)
    assert (read.exchanges.seconds == samples.exchanges.seconds).all()
    assert [e[:7] for e in read.exchanges] == [e[:7] for e in samples.exchanges]
    with np.load(file) as arrays:
        assert (arrays["costs"] == np.eye(10)).all()


def make_groups(sizes: Sequence[int]) -> RankGroup:
    ends = np.cumsum([0, *sizes])
    groups = tuple(
        RankGroup(
            GROUP, tuple(range(a, b)), tuple(RankGroup(HOST, (r,)) for r in range(a, b))
        )
        for a, b in pairwise(ends.tolist())
    )
    return RankGroup(ALL, tuple(range(ends[-1])), groups)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), st.randoms())
def test_sparse_pair_costs_equal_a_dense_matrix(
    sizes: list[int], chance: object
) -> None:
    root, count = make_groups(sizes), sum(sizes)
    draw = np.random.default_rng(count)
    matrix = np.full((count, count), np.nan)
    np.fill_diagonal(matrix, 0)
    some = [p for p in combinations(range(count), 2) if draw.random() < 0.6] or [(0, 1)]
    a, b = np.array(some).T
    matrix[a, b] = matrix[b, a] = draw.random(len(some))
    known = PairCosts(count, b, a, matrix[a, b])
    every = np.arange(count)
    np.testing.assert_array_equal(known[np.ix_(every, every)], matrix)
    whole, dense = known.fill_missing(root), fill_missing(root, matrix)
    np.testing.assert_array_equal(whole[0:count], dense)
    assert whole[0, count - 1] == dense[0, count - 1]
    for group in root.all_groups():
        ours, theirs = (
            select_measured_pairs(group, whole),
            select_measured_pairs(group, matrix),
        )
        assert sorted(map(tuple, ours[0])) == sorted(map(tuple, theirs[0]))


def test_ranks_of_hosts_are_grouped_by_landmarks() -> None:
    """96 hosts with two ranks each; only few pairs are measured."""
    paths = make_group_paths((4, 24))
    planted = PlantedCluster(paths, [2e-6, 1e-6])
    parts = find_host_groups(96, planted, 48)
    places = [RankPlace(f"n{host}", "", "MPI") for host in range(96) for _ in range(2)]
    samples = ProbeSamples(places, [Order("circle", "echo", [SIZE], 1, "0 1")])
    ends = [(2 * host, 2 * host + 1, 3e-7) for host in range(96)]
    pairs = np.concatenate(
        [
            np.array(list(combinations(part.tolist(), 2)))
            for part in [*planted.whole, np.arange(0, 96, 8)]
        ]
    )
    times = planted.seconds(*pairs.T).tolist()
    ends += [(2 * a, 2 * b, t) for (a, b), t in zip(pairs.tolist(), times, strict=True)]
    for a, b, t in ends:
        samples.exchanges.append(
            Exchange(0, "circle", "echo", SIZE, 1, a, b, np.full(3, t))
        )
    hosts, host_of = group_by_host(samples)
    found, _ = infer_large(samples, hosts, host_of, [], parts)
    groups = {frozenset(host_of[rank] for rank in g.ranks) for g in found.root.groups}
    assert groups == planted.list_groups() - {frozenset(range(96))}
    assert [level.median for level in found.levels] == [3e-7, 1e-6, 2e-6]
    assert found.costs[0, 3] in (1e-6, 2e-6)
    assert all(test.p < 1e-6 for test in found.root.evidence)


@pytest.mark.parametrize("hop", [0.0, 1e-7])
def test_unexplained_times_are_named(hop: float) -> None:
    """Without landmarks, times on a ring stay unexplained; on a switch none do."""
    count = 1100
    rng = np.random.default_rng(1)
    places = [RankPlace(f"n{host}", "", "MPI") for host in range(count)]
    samples = ProbeSamples(places, [Order("circle", "echo", [SIZE], 1, "0 1")])
    first = np.repeat(np.arange(count), 8)
    second = (first + rng.integers(1, count, len(first))) % count
    around = np.minimum((first - second) % count, (second - first) % count)
    noise = 1 + 0.02 * rng.standard_normal((len(first), 3))
    rows = np.zeros((len(first), 5), np.int64)
    rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4] = SIZE, first, second, 3
    seconds = (2e-6 + hop * around)[:, None] * noise
    samples.exchanges.extend(rows, seconds.ravel())
    doubts = infer_findings(samples).doubts
    assert len(doubts) == (hop > 0)
    assert all("nor do links between neighbors" in doubt for doubt in doubts)


@pytest.mark.parametrize(
    "sizes", [[1] * 10_000, [4] * 2500, [64] * 156], ids=["1", "4", "64"]
)
def test_ten_thousand_ranks_are_probed_within_ten_minutes(sizes: list[int]) -> None:
    """Assume 20 us between hosts, 20 % noise, 100 ms per order, and 1 GB/s."""
    estimate = estimate_time(
        sizes, EFFORTS["default"], FirstRoundTimes(20e-6, 0.2, 0.1, 1e9)
    )
    assert estimate.seconds < 600
    ranks = f"{sum(sizes):,} ranks: "
    assert ranks in estimate.sentence(600)
    assert estimate.sentence(600).endswith("; at most 10 min")


@given(st.integers(2, 20_000), st.integers(1, 64), st.floats(1e-7, 1e-4))
def test_estimated_time_grows_with_message_times(
    hosts: int, each: int, short: float
) -> None:
    timing = FirstRoundTimes(short, 0.05, 0.01, 1e10)
    steps = estimate_time([each] * hosts, EFFORTS["quick"], timing).steps
    assert all(step.seconds > 0 and step.rounds > 0 for step in steps)
    slower = estimate_time(
        [each] * hosts, EFFORTS["quick"], replace(timing, short=2 * short)
    )
    assert slower.seconds > sum(step.seconds for step in steps)


def test_estimated_time_grows_with_noise() -> None:
    calm = FirstRoundTimes(1e-6, 0.05, 0.01, 1e10)
    noisy = replace(calm, deviation=0.5)
    seconds = [
        estimate_time([4] * 100, EFFORTS["quick"], timing).seconds
        for timing in (calm, noisy)
    ]
    assert seconds[1] > seconds[0]
