# SPDX-License-Identifier: BSD-3-Clause
"""Shared links are found from rounds, if any two pairs are in some round together."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
from hypothesis import given, strategies as st

from topoloom.probe.inference.shared_links import ConcurrentRounds, find_conflicts
from topoloom.probe.stages.meetings import choose_meetings, yield_all_meetings
from topoloom.probe.stages.shared_links import choose_rounds


def list_concurrent_pairs(rounds):
    return {frozenset(both) for each in rounds for both in combinations(each, 2)}


def list_disjoint_pairs(pairs):
    return {frozenset((a, b)) for a, b in combinations(pairs, 2) if not set(a) & set(b)}


@given(st.integers(4, 17), st.randoms(use_true_random=False))
def test_every_two_disjoint_host_pairs_are_concurrent_once(count, rng):
    hosts = rng.sample(range(1000), count)
    rounds = list(yield_all_meetings(hosts, rng))
    assert list_concurrent_pairs(
        [tuple(sorted(pair)) for pair in each] for each in rounds
    ) == list_disjoint_pairs(combinations(sorted(hosts), 2))
    assert all(
        len({end for p in each for end in p}) == 2 * len(each) for each in rounds
    )


def test_rounds_of_a_power_of_two_are_close_to_the_fewest():
    count = len(list(yield_all_meetings(range(64), random.Random(1))))
    assert count <= 1.07 * 63 * 61


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_every_two_disjoint_links_are_loaded_concurrently_once(pairs):
    links = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]})
    assert list_concurrent_pairs(choose_meetings(links)) == list_disjoint_pairs(links)


def test_sets_are_measured_concurrently_and_rounds_end_with_the_budget():
    rounds = choose_rounds([range(0, 8), range(8, 12)], 1 << 20)
    assert {len(each) for each in rounds[:3]} == {6}
    few = choose_rounds([range(64)], 320)
    assert sum(map(len, few)) in range(320, 353)


def simulate_rounds(hosts, trunk, lanes, shared, noise, seed):
    """Simulate rounds: a pair takes time 1, or longer if it shares a link."""
    rng = random.Random(seed)
    found = []
    for pairs in yield_all_meetings(hosts, rng):
        crossing = [p for p in pairs if (p[0] in trunk) != (p[1] in trunk)]
        own = {}
        for pair in pairs:
            load = max(1.0, len(crossing) / lanes) if pair in crossing else 1.0
            if pair in shared and set(shared) <= set(pairs):
                load = max(load, 2.0)
            own[pair] = load * max(0.5, rng.gauss(1, noise))
        found.append(own)
    return ConcurrentRounds(hosts, found)


def simulate_shared_pair(seed, noise):
    """Simulate rounds of hosts, two pairs of which share a link."""
    rng = random.Random(seed)
    hosts = list(range(rng.randint(6, 12)))
    a, b, c, d = rng.sample(hosts, 4)
    shared = tuple(sorted([(min(a, b), max(a, b)), (min(c, d), max(c, d))]))
    return shared, simulate_rounds(hosts, (), 1, shared, noise, seed)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.05]))
def test_two_pairs_that_share_a_link_are_the_first_candidates(seed, noise):
    shared, met = simulate_shared_pair(seed, noise)
    assert shared in find_conflicts(met.find_slowed_pairs(), 3)
    seen, every = met.count_meetings()
    assert seen == every


def test_single_samples_with_much_noise_rarely_hide_a_shared_link():
    # A sample of a slowed pair, three deviations below the mean, looks undisturbed.
    samples = [simulate_shared_pair(seed, 0.1) for seed in range(100)]
    found = [
        pair in find_conflicts(met.find_slowed_pairs(), 3) for pair, met in samples
    ]
    assert sum(found) >= 99


@given(st.integers(0, 10**6))
def test_hosts_behind_one_link_are_a_group(seed):
    rng = random.Random(seed)
    hosts = list(range(rng.randint(9, 14)))
    trunk = tuple(sorted(rng.sample(hosts, rng.randint(3, len(hosts) // 3))))
    met = simulate_rounds(hosts, trunk, 1, (), 0.05, seed)
    assert trunk in met.find_groups()


def test_rounds_that_started_late_are_ignored():
    met = ConcurrentRounds([0, 1, 2, 3], [{(0, 1): 1.0, (2, 3): np.nan}])
    assert met.pairs == [(0, 1)]
    assert met.count_meetings() == (0, 0)
