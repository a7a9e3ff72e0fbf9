# SPDX-License-Identifier: BSD-3-Clause
"""Finds groups of many hosts from few pairs: those of all hosts with some landmarks.

In a machine of nested groups, the hosts whose times to a landmark are below a gap are
one group (C. Karlsson 2012, sec. 4.1, finds gaps by a t-test of all pairs). Hosts that
are far from all landmarks are measured with new landmarks, until each host is in a
group. Then all groups are searched in the same way, concurrently. In small groups all
pairs are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import LEVEL_RATIO
from topoloom.probe.inference.modes import Values, find_valleys

Hosts = NDArray[np.int64]
#: Array of host pairs, shape ``(pairs, 2)``.
Pairs = NDArray[np.int64]

#: Maximum number of hosts of a group in which all pairs are measured.
MAX_ALL_PAIRS = 128
#: Number of landmarks in the first iteration, which doubles in each iteration, and its
#: maximum.
FIRST_LANDMARKS, _MAX_LANDMARKS = 24, 256
#: If a smaller share of hosts is above a gap, they are slow hosts, not another group.
_SLOW_SHARE = 0.02
#: How many hosts the hosts in known other groups count as.
_FAR_HOSTS = 16
#: Size of the sample of near hosts that confirms that they are near each other.
_SAMPLED_HOSTS = 8
#: A host whose distance from a gap is less than this many standard errors is measured
#: with more landmarks; maximum number of landmarks of a group.
_UNSURE_ERRORS, _MAX_SHARED_LANDMARKS = 3.0, 8
#: Minimal share of near hosts that two landmarks have in common if their groups are
#: merged.
_MIN_SHARED = 0.5


class HostPairProbe(Protocol):
    """Interface for measuring pairs of hosts."""

    def measure_pairs(self, pairs: Pairs) -> tuple[Values, float]:
        """Return the seconds of each pair, and their typical relative error."""
        ...

    def measure_inside(self, sets: Sequence[Hosts]) -> None:
        """Measure pairs inside each set of hosts; in small sets, measure all pairs."""
        ...

    @property
    def is_late(self) -> bool:
        """Whether the time for more pairs has run out."""
        ...


@dataclass
class HostGroup:
    """A set of hosts that are nearer to each other than to others."""

    members: Hosts  # ascending
    #: Nested groups found by landmarks; empty if all hosts are equal. Also empty if
    #: there are at most `MAX_ALL_PAIRS` hosts, because then all pairs are measured.
    groups: list[HostGroup]
    is_known: bool = True  # False if time ended before enough landmarks were measured

    def all_parts(self) -> Iterator[HostGroup]:
        """Yield the group and all nested groups."""
        yield self
        for group in self.groups:
            yield from group.all_parts()


#: A generator that requests the times of pairs and returns groups.
_Search = Generator[Pairs, tuple[Values, float], list[Hosts]]


def find_host_groups(
    hosts: int, measuring: HostPairProbe, few: int = MAX_ALL_PAIRS, seed: int = 1
) -> HostGroup:
    """Find nested groups of hosts by landmarks.

    Parameters
    ----------
    hosts
        Number of hosts.
    few
        Maximum number of hosts of a group in which all pairs are measured.

    Returns
    -------
    Part
        The group of all hosts, which has no nested groups if time was too short.
    """
    rng = np.random.default_rng(seed)
    root = HostGroup(np.arange(hosts), [])
    level = [root]
    while level:
        searches = [_search_groups(part.members, rng) for part in level]
        found = _run_searches(searches, measuring)
        for part, groups in zip(level, found, strict=True):
            part.is_known = groups is not None
            part.groups = [HostGroup(np.sort(group), []) for group in groups or []]
        below = [group for part in level for group in part.groups]
        level = [group for group in below if len(group.members) > few]
    smallest = [part.members for part in root.all_parts() if not part.groups]
    measuring.measure_inside(smallest)
    return root


def _run_searches(
    searches: Sequence[_Search], measuring: HostPairProbe
) -> list[list[Hosts] | None]:
    """Run searches concurrently; measure the pairs that they request in common rounds.

    Returns
    -------
    list
        The groups found by each search; None for an unfinished search.
    """
    found: list[list[Hosts] | None] = [None for _ in searches]
    requests: dict[int, Pairs] = {}
    answers: dict[int, tuple[Values, float]] = {}

    def advance_search(number: int) -> None:
        try:
            answer = answers.pop(number, None)
            search = searches[number]
            requests[number] = next(search) if answer is None else search.send(answer)
        except StopIteration as end:
            found[number] = end.value

    for number in range(len(searches)):
        advance_search(number)
    while requests and not measuring.is_late:
        pairs = np.concatenate(list(requests.values()))
        turns = np.concatenate([np.linspace(0, 1, len(p)) for p in requests.values()])
        order = np.argsort(turns, kind="stable")
        seconds = np.empty(len(pairs))
        seconds[order], error = measuring.measure_pairs(pairs[order])
        ends = np.cumsum([len(p) for p in requests.values()])[:-1]
        for number, own in zip(requests, np.split(seconds, ends), strict=True):
            answers[number] = own, error
        numbers = list(requests)
        requests.clear()
        for number in numbers:
            advance_search(number)
    return found


class _LandmarkTimes:
    """Logarithms of times between landmarks and all hosts of a set."""

    def __init__(self, members: Hosts) -> None:
        self.members = members
        self.of: dict[int, Values] = {}
        self.error = 0.0

    def measure_between(
        self, landmarks: NDArray[np.int64], others: NDArray[np.int64]
    ) -> Generator[Pairs, tuple[Values, float], None]:
        """Measure landmarks with other hosts; both are indices into the set."""
        count, turn = len(others), np.arange(len(others))
        apart = max(1, count // len(landmarks))
        met = others[(turn[:, None] + apart * np.arange(len(landmarks))) % count]
        requests = np.broadcast_to(landmarks, met.shape)
        # Measure each pair of landmarks only once.
        is_landmark = np.isin(met, landmarks)
        once = ~is_landmark | (met > requests) | ~np.isin(requests, others)
        pairs = np.stack(
            [met[once & (met != requests)], requests[once & (met != requests)]], 1
        )
        if not len(pairs):
            return
        seconds, self.error = yield self.members[pairs]
        row = np.full(len(self.members), -1)
        row[landmarks] = np.arange(len(landmarks))
        fresh = np.full((len(landmarks), len(self.members)), np.nan)
        for host, landmark in (pairs.T, pairs.T[::-1]):
            own = row[landmark] >= 0
            fresh[row[landmark[own]], host[own]] = np.log(seconds[own])
        for landmark, values in zip(landmarks.tolist(), fresh, strict=True):
            known = self.of.get(landmark, values)
            self.of[landmark] = np.where(np.isnan(values), known, values)

    def compute_margins(
        self, landmarks: Sequence[int], gap: float
    ) -> tuple[Values, Values]:
        """Return each host's mean log distance from a gap, and its number of landmarks.

        Landmarks have distance -inf, and unmeasured hosts NaN.
        """
        rows = np.stack([self.of[landmark] for landmark in landmarks])
        count = (~np.isnan(rows)).sum(axis=0)
        mean = np.where(count, np.nansum(rows, axis=0) / np.maximum(count, 1), np.nan)
        mean[list(landmarks)] = -np.inf
        return mean - gap, count


@dataclass
class _LandmarkGroup:
    """The landmarks of a group, and the maximal log time inside it."""

    landmarks: list[int]
    gap: float


def _search_groups(
    members: Hosts, rng: np.random.Generator
) -> Generator[Pairs, tuple[Values, float], list[Hosts]]:
    """Find the groups of a set of hosts; [] if all hosts are equal."""
    rows = _LandmarkTimes(members)
    left = np.ones(len(members), dtype=bool)
    landmark_groups: list[_LandmarkGroup] = []
    groups: list[NDArray[np.int64]] = []
    count = FIRST_LANDMARKS
    while left.sum() > 1:
        free = np.flatnonzero(left)
        seeds = rng.choice(free, min(count, len(free)), replace=False)
        yield from rows.measure_between(seeds, free)
        known = [
            landmark
            for landmark_group in landmark_groups
            for landmark in landmark_group.landmarks
        ]
        fresh = _find_landmark_groups(rows, seeds.tolist(), left, known)
        fresh = yield from _confirm_groups(rows, fresh, left, rng)
        if not fresh:
            break
        for landmark_group in fresh:
            yield from _decide_near_gap(rows, landmark_group, left, rng)
            margin, _ = rows.compute_margins(
                landmark_group.landmarks, landmark_group.gap
            )
            near = left & (margin < 0)
            if (
                not near.any()
            ):  # all near hosts are in earlier groups, as happens in a torus
                continue
            groups.append(np.flatnonzero(near))
            left &= ~near
            landmark_groups.append(landmark_group)
        for host, number in _find_slow_hosts(
            rows, landmark_groups, np.flatnonzero(left)
        ):
            groups[number] = np.append(groups[number], host)
            left[host] = False
        count = min(2 * count, _MAX_LANDMARKS)
    groups += [np.array([host]) for host in np.flatnonzero(left)]
    if sum(len(group) > 1 for group in groups) < 2:
        return []
    return [members[group] for group in groups]


def _find_landmark_groups(
    rows: _LandmarkTimes,
    seeds: Sequence[int],
    left: NDArray[np.bool_],
    known: Sequence[int],
) -> list[_LandmarkGroup]:
    """Find the group of each landmark from its times.

    `left`: hosts without a group. `known`: landmarks of earlier groups, which are far
    from all remaining hosts.
    """
    found: list[tuple[int, float, NDArray[np.bool_]]] = []
    for seed in seeds:
        measured = left & ~np.isnan(rows.of[seed])
        if not measured.any():
            continue
        far = np.array([rows.of[landmark][seed] for landmark in known])
        gap = _find_gap(rows, rows.of[seed][measured], far[~np.isnan(far)])
        if gap is not None:
            near = measured & (rows.of[seed] < gap)
            near[seed] = True
            found.append((seed, gap, near))
    joined: list[list[tuple[int, float, NDArray[np.bool_]]]] = []
    for each in sorted(found, key=lambda one: -one[2].sum()):
        for others in joined:
            if (each[2] & others[0][2]).sum() >= _MIN_SHARED * each[2].sum():
                others.append(each)
                break
        else:
            joined.append([each])
    return [
        _LandmarkGroup([e[0] for e in of], float(np.mean([e[1] for e in of])))
        for of in joined
    ]


def _find_gap(rows: _LandmarkTimes, values: Values, far: Values) -> float | None:
    """Find the time that limits a landmark's group: the last gap before far hosts."""
    if not len(far):
        gaps = find_valleys(values, rows.error)
        gaps = [gap for gap in gaps if np.mean(values > gap) >= _SLOW_SHARE]
        return gaps[-1] if gaps else None
    beyond = np.repeat(far, math.ceil(_FAR_HOSTS / len(far)))
    gaps = find_valleys(np.concatenate([values, beyond]), rows.error)
    gaps = [gap for gap in gaps if gap < np.median(beyond) and (values < gap).any()]
    return gaps[-1] if gaps else None


def _confirm_groups(
    rows: _LandmarkTimes,
    landmark_groups: Sequence[_LandmarkGroup],
    left: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Generator[Pairs, tuple[Values, float], list[_LandmarkGroup]]:
    """Select the groups whose sampled hosts are near each other, too."""
    if not landmark_groups:
        return []
    sampled: list[NDArray[np.int64]] = []
    for landmark_group in landmark_groups:
        margin, _ = rows.compute_margins(landmark_group.landmarks, landmark_group.gap)
        near = np.flatnonzero(left & (margin < 0))
        sampled.append(rng.choice(near, min(_SAMPLED_HOSTS, len(near)), replace=False))
    pairs = [np.array([*combinations(some, 2)]).reshape(-1, 2) for some in sampled]
    seconds, _ = yield rows.members[np.concatenate(pairs)]
    ends = np.cumsum([len(of) for of in pairs])[:-1]
    return [
        landmark_group
        for landmark_group, own in zip(
            landmark_groups, np.split(np.log(seconds), ends), strict=True
        )
        if len(own) and np.median(own) < landmark_group.gap
    ]


def _decide_near_gap(
    rows: _LandmarkTimes,
    landmark_group: _LandmarkGroup,
    left: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Generator[Pairs, tuple[Values, float], None]:
    """Measure hosts near the gap with more landmarks until all are decided."""
    while len(landmark_group.landmarks) < _MAX_SHARED_LANDMARKS:
        margin, count = rows.compute_margins(
            landmark_group.landmarks, landmark_group.gap
        )
        error = rows.error / np.sqrt(np.maximum(count, 1))
        unsure = np.flatnonzero(left & (np.abs(margin) < _UNSURE_ERRORS * error))
        sure = np.flatnonzero(
            left & (margin < -_UNSURE_ERRORS * error) & np.isfinite(margin)
        )
        if not len(unsure) or not len(sure):
            return
        more = rng.choice(
            sure, min(len(sure), len(landmark_group.landmarks)), replace=False
        )
        yield from rows.measure_between(more, np.setdiff1d(unsure, more))
        landmark_group.landmarks += [host for host in more.tolist()]


def _find_slow_hosts(
    rows: _LandmarkTimes,
    landmark_groups: Sequence[_LandmarkGroup],
    left: NDArray[np.int64],
) -> Iterator[tuple[int, int]]:
    """Yield each slow host, and the number of the group that contains it.

    Messages of a slow host take longer by the same factor for all groups.
    """
    if len(landmark_groups) < 2 or not len(left):
        return
    landmarks = [
        landmark
        for landmark_group in landmark_groups
        for landmark in landmark_group.landmarks
    ]
    number = np.repeat(
        np.arange(len(landmark_groups)), [len(b.landmarks) for b in landmark_groups]
    )
    every = np.stack([rows.of[landmark] for landmark in landmarks])
    among = every[:, landmarks]
    among = np.where(np.isnan(among), among.T, among)
    among[number[:, None] == number] = np.nan
    seconds = every[:, left]
    usual = np.nanmedian(seconds, axis=0)
    for place in np.flatnonzero(usual > np.nanmedian(among) + math.log(LEVEL_RATIO)):
        # Ignore landmarks that were not measured with the other group.
        longer = [
            _average_known(row, np.median, math.nan)
            for row in seconds[:, place] - among
        ]
        beyond = seconds[:, place] - longer
        margins = [
            _average_known(beyond[number == n], np.mean, math.inf) - landmark_group.gap
            for n, landmark_group in enumerate(landmark_groups)
        ]
        nearest = int(np.argmin(margins))
        if margins[nearest] < 0:
            yield int(left[place]), nearest


def _average_known(
    values: Values, mean: Callable[[Values], Any], otherwise: float
) -> float:
    known = values[~np.isnan(values)]
    return float(mean(known)) if len(known) else otherwise
