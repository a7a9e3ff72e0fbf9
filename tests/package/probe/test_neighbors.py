# SPDX-License-Identifier: BSD-3-Clause
"""Neighbors among many hosts are found from landmarks and few pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from topoloom.probe.inference.landmarks import Hosts, Pairs, find_host_groups
from topoloom.probe.inference.neighbors import (
    CANDIDATE_ERROR,
    find_candidates,
    find_linked_hosts,
)
from topoloom.probe.inference.network import count_hops
from topoloom.probe.inference.pair_costs import PairCosts

Floats = NDArray[np.float64]
LANDMARKS = 24


class SimulatedTorus:
    """Hosts of a torus in random order; times depend on hops."""

    def __init__(self, shape: tuple[int, ...], hop: float, noise: float) -> None:
        self.count = int(np.prod(shape))
        self.draw = np.random.default_rng(self.count)
        self._hop, self._noise = hop, noise
        place = self.draw.permutation(self.count)
        at = np.stack(np.unravel_index(place, shape), axis=1)
        apart = np.abs(at[:, None] - at[None])
        self.hops = np.minimum(apart, np.array(shape) - apart).sum(axis=2)

    @property
    def is_late(self) -> bool:
        """Return False: the time limit is never reached."""
        return False

    def seconds(self, pairs: Pairs, noise: float) -> Floats:
        """Return the times of messages between hosts."""
        exact = 2e-6 * (1 + self._hop * (self.hops[tuple(pairs.T)] - 1))
        found: Floats = exact * (1 + noise * self.draw.standard_normal(len(pairs)))
        return found

    def measure_pairs(self, pairs: Pairs) -> tuple[Floats, float]:
        """Return the times of pairs, and their error."""
        return self.seconds(pairs, self._noise), self._noise

    def measure_inside(self, sets: Sequence[Hosts]) -> None:
        """Do nothing, because pairs inside groups are not needed."""

    def list_links(self) -> set[tuple[int, int]]:
        """List the links of the torus."""
        a, b = np.nonzero(np.triu(self.hops == 1))
        return set(zip(a.tolist(), b.tolist(), strict=True))


def make_pair_costs(count: int, pairs: Pairs, values: Floats) -> PairCosts:
    return PairCosts(count, pairs[:, 0], pairs[:, 1], values)


def measure_pairs(torus: SimulatedTorus, noise: float) -> tuple[PairCosts, PairCosts]:
    """Measure landmarks with all hosts, then candidate neighbors."""
    every = np.arange(torus.count)
    landmarks = torus.draw.choice(every, LANDMARKS, replace=False)
    grid = np.stack(np.meshgrid(landmarks, every), axis=-1).reshape(-1, 2)
    pairs = grid[grid[:, 0] != grid[:, 1]]
    seconds = torus.seconds(pairs, noise)
    near = find_candidates(make_pair_costs(torus.count, pairs, seconds), every)
    assert len(near) <= 20 * torus.count
    exactly = min(noise, CANDIDATE_ERROR)
    pairs = np.concatenate([pairs, near])
    seconds = np.concatenate([seconds, torus.seconds(near, exactly)])
    errors = np.full(len(pairs), exactly)
    count = torus.count
    return make_pair_costs(count, pairs, seconds), make_pair_costs(count, pairs, errors)


@given(
    st.sampled_from([(12, 12), (6, 7, 8), (5, 6, 7), (20, 9), (100,), (4, 5, 6)]),
    st.floats(0.06, 0.3),
    st.sampled_from([0.0, 0.005, 0.0125]),
)
def test_the_links_of_planted_tori_are_found(
    shape: tuple[int, ...], hop: float, noise: float
) -> None:
    torus = SimulatedTorus(shape, hop, noise)
    found = find_linked_hosts(*measure_pairs(torus, noise), np.arange(torus.count), 0.2)
    assert found is not None
    assert set(found.neighbors) == torus.list_links()
    assert (found.hops == torus.hops).all()
    assert found.hop == pytest.approx(2e-6 * hop, rel=0.05)
    assert found.predicted[0, 1] == pytest.approx(
        2e-6 * (1 + hop * (torus.hops[0, 1] - 1)), rel=0.05
    )


def test_hosts_with_equal_times_have_no_neighbors() -> None:
    alike = SimulatedTorus((200,), 0, 0.0125)
    every = np.arange(200)
    assert find_linked_hosts(*measure_pairs(alike, 0.0125), every, 0.0) is None


def test_hosts_without_landmarks_have_no_neighbors() -> None:
    pairs = np.array([*combinations(range(8), 2)])
    costs = make_pair_costs(40, pairs, np.ones(len(pairs)))
    assert find_linked_hosts(costs, costs, np.arange(40), 0.0) is None


def test_landmarks_find_no_groups_on_a_torus() -> None:
    torus = SimulatedTorus((11, 11, 11), 0.05, 0.0125)
    parts = find_host_groups(torus.count, torus)
    assert all(len(part.members) for part in parts.all_parts())


def test_hop_counts_follow_from_links() -> None:
    hops = count_hops([(0, 1), (1, 2), (4, 3)], 6)
    assert hops[0].tolist() == [0, 1, 2, -1, -1, -1]
    assert hops[3].tolist() == [-1, -1, -1, 0, 1, -1]
    assert hops[5].tolist() == [-1, -1, -1, -1, -1, 0]
