# SPDX-License-Identifier: BSD-3-Clause
"""Finds which of many hosts are directly linked, without measuring all pairs.

Two neighbors have nearly the same distance from each landmark. Thus a host's neighbors
are among the hosts whose landmark times are most similar to its own. Only these
candidate pairs are measured more exactly.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.landmarks import Hosts, Pairs
from topoloom.probe.inference.modes import Values, find_valleys
from topoloom.probe.inference.network import (
    DIAMETER,
    MAX_LEFT,
    MIN_EXPLAINED,
    HostNetwork,
    count_hops,
)
from topoloom.probe.inference.pair_costs import Numbers, PairCosts

#: Maximum number of hosts: the hops between all hosts are stored in a matrix.
MAX_LINKED_HOSTS = 4096
#: Minimal ratio of times that differ by one link, and target for the relative error of
#: candidates' times.
LINK_RATIO, CANDIDATE_ERROR = 1.03, 0.006
#: Candidates per host. In a 3-D torus, neighbors are among the nearest 16 if times have
#: errors of 1.25 % and a link adds 5 %.
CANDIDATES = 20
#: Minimal share of hosts that a landmark must be measured with, and maximum number of
#: landmarks.
_ALL, _LANDMARKS = 0.95, 64
_ROWS = 512
#: Minimal share of candidates that must be measured.
_MEASURED = 0.8


class HopTimes:
    """Seconds between hosts, derived from hops; indexed like a matrix."""

    def __init__(self, hops: Numbers, first: float, hop: float) -> None:
        self._hops, self._first, self._hop = hops, first, hop

    def __getitem__(self, at: int | tuple[Hosts, Hosts]) -> Values:
        """Return the times of a host with all hosts, of two hosts, or of pairs."""
        more = np.maximum(self._hops[at] - 1, 0)
        return np.asarray(self._first + self._hop * more)


def find_candidates(costs: PairCosts, first: Hosts) -> Pairs:
    """Find pairs of hosts that may be neighbors, based on landmark times.

    `costs`: seconds between ranks. `first`: the rank of each host that was measured
    with other hosts.
    """
    landmarks = _find_landmarks(costs, first)
    count = len(first)
    if len(landmarks) < 2:
        return np.zeros((0, 2), np.int64)
    times = costs.get_measured(first[:, None], first[landmarks][None, :])
    # A host is no candidate for itself.
    times[landmarks, np.arange(len(landmarks))] = np.nan
    is_known = ~np.isnan(times)
    times, weight = np.where(is_known, times, 0), is_known.astype(np.float64)
    squares = times * times
    found = []
    for begin in range(0, count, _ROWS):
        own = slice(begin, begin + _ROWS)
        apart = squares[own] @ weight.T + weight[own] @ squares.T
        apart -= 2 * times[own] @ times.T
        apart /= np.maximum(weight[own] @ weight.T, 1)
        hosts = np.arange(count)[own]
        apart[np.arange(len(hosts)), hosts] = np.inf
        near = np.argpartition(apart, CANDIDATES, axis=1)[:, :CANDIDATES]
        found.append(np.stack([np.repeat(hosts, CANDIDATES), near.ravel()], axis=1))
    pairs: Pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return np.random.default_rng(1).permutation(pairs)


def _find_landmarks(costs: PairCosts, first: Hosts) -> Hosts:
    """Find hosts that were measured with nearly all others."""
    host = _number_hosts(costs, first)
    a, b, _ = costs.measured_pairs
    between = (host[a] >= 0) & (host[b] >= 0)
    ends = np.concatenate([host[a[between]], host[b[between]]])
    met = np.bincount(ends, minlength=len(first))
    found: Hosts = np.flatnonzero(met >= _ALL * (len(first) - 1))
    return found[:_LANDMARKS]


def _number_hosts(costs: PairCosts, first: Hosts) -> Numbers:
    host = np.full(costs.shape[0], -1)
    host[first] = np.arange(len(first))
    return host


def find_linked_hosts(
    costs: PairCosts, errors: PairCosts, first: Hosts, by_groups: float
) -> HostNetwork | None:
    """Find the graph of neighbors, provided that its hops explain the measured times.

    `errors`: relative errors of costs. `by_groups`: share of the variance of log costs
    that groups explain.
    """
    count = len(first)
    pairs = find_candidates(costs, first)
    # Some landmark pairs were measured again, so the two directions differ slightly.
    pairs = pairs[~np.isnan(costs.get_measured(*first[pairs].T))]
    if len(pairs) < _MEASURED * CANDIDATES / 2 * count:
        return None
    seconds = costs.get_measured(*first[pairs].T)
    error = float(np.median(errors.get_measured(*first[pairs].T)))
    ends = find_valleys(np.log(seconds), error, LINK_RATIO)
    if not ends:
        return None
    near = pairs[np.log(seconds) < ends[0]]
    neighbors = [(int(a), int(b)) for a, b in near[np.lexsort(near.T[::-1])]]
    hops = count_hops(neighbors, count)
    if hops.min() < 0 or hops.max() < DIAMETER:
        return None
    host = _number_hosts(costs, first)
    a, b, measured = costs.measured_pairs
    between = (host[a] >= 0) & (host[b] >= 0)
    apart, measured = hops[host[a[between]], host[b[between]]], measured[between]
    hop, base = np.polyfit(apart - 1, measured, 1)
    if hop <= 0 or base <= 0:
        return None
    explained = _compute_explained(np.log(measured), np.log(base + hop * (apart - 1)))
    if explained < MIN_EXPLAINED or 1 - explained > MAX_LEFT * (1 - by_groups):
        return None
    predicted = HopTimes(hops, float(base), float(hop))
    ends_of = float(base), float(hop), predicted, explained
    return HostNetwork([*range(count)], None, [], neighbors, *ends_of)


def _compute_explained(
    measured: NDArray[np.float64], fitted: NDArray[np.float64]
) -> float:
    total = float(((measured - measured.mean()) ** 2).sum())
    left = float(((measured - fitted) ** 2).sum())
    return 1 - left / total if total and math.isfinite(left) else 0.0
