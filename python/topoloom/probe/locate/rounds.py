# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the most informative pairs of hosts or GPUs for the next round.

The worth of a pair is the entropy of its outcome, which is highest if slow and fast are
equally likely. Pairs of a round share no end and no full link.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.locate.likelihood import BadPartEstimate
from topoloom.probe.locate.machine_parts import MachineParts, Pair, Values

#: Factor on the worth of testing a class that another pair of the round already covers.
_REPEAT_WORTH = 0.02
#: A pair is chosen only if earlier pairs of the round leave at least this share of its
#: worth.
_MIN_WORTH_SHARE = 0.5
#: How many concurrent messages a cable can carry, with a tolerance for rounding.
_MAX_CABLE_LOAD = 1 + 1e-9
#: How many pairs per host one pass considers.
_PASSES_PER_HOST = 8
#: Minimal probability at which a class is suspect, and at which it is certain.
SUSPECT, SURE = 0.01, 0.98
#: Minimal load of a class, relative to its maximum in any test, at which a pair tests
#: the class. Classes that never reach this load cannot be tested by pairs.
_MIN_VISIBLE_LOAD = 0.5
#: Minimal number of pairs at each distance in a round without suspects.
_CONTROLS = 3


def compute_uncertainty(parts: MachineParts, estimate: BadPartEstimate) -> Values:
    """Compute the probability of each class; 0 for classes that need no more tests."""
    tests = parts.tests
    visible, busiest = _find_visible(parts)
    chances: Values = estimate.chances.copy()
    is_open = (estimate.open & (busiest >= _MIN_VISIBLE_LOAD)) | (chances > SUSPECT)
    sure = _find_sure(estimate)
    chances[~is_open | sure] = 0.0
    # A class cannot be tested if all its tests also cover a bad part.
    of_bad = _mark_tests_with(parts, sure[tests.classes] & visible)
    seen = visible & ~of_bad[tests.rows]
    chances[np.bincount(tests.classes, seen, len(chances)) == 0] = 0.0
    return chances


def choose_next_round(
    parts: MachineParts, estimate: BadPartEstimate, controls: bool
) -> list[Pair]:
    """Choose the next pairs of ends; [] if more pairs give no information."""
    worth = compute_uncertainty(parts, estimate)
    if not worth.any():
        return []
    tests = parts.tests
    visible, _ = _find_visible(parts)
    unsure: Values = np.bincount(
        tests.rows, estimate.chances[tests.classes], len(parts.pairs)
    ).astype(np.float64)
    spoiled = _mark_tests_with(parts, _find_sure(estimate)[tests.classes] & visible)
    taken = _RoundUsage(parts)
    least = 0.5 * float(worth[worth > 0].min())
    chosen: list[Pair] = []
    while True:
        # Mostly, only one of several suspects is bad, so their probabilities are added.
        of_entries = worth[tests.classes] * visible
        sums = np.bincount(tests.rows, of_entries, len(parts.pairs))
        scores = _compute_entropy(np.minimum(sums, 1.0))
        scores[spoiled | (sums < least) | ~taken.find_free_pairs()] = 0.0
        order = np.argsort(-scores, kind="stable")[
            : _PASSES_PER_HOST * len(parts.nodes)
        ]
        order = order[scores[order] > 0]
        if not len(order):
            if controls:
                chosen += _choose_controls(parts, chosen, unsure, taken)
            return sorted(chosen)
        for test in order.tolist():
            entries = slice(*tests.starts[test : test + 2])
            classes = tests.classes[entries][visible[entries]]
            kept = float(worth[classes].sum()) >= _MIN_WORTH_SHARE * float(sums[test])
            if kept and taken.try_add(test):
                chosen.append(parts.pairs[test])
                worth[classes] *= _REPEAT_WORTH


def _choose_controls(
    parts: MachineParts, chosen: Sequence[Pair], unsure: Values, taken: _RoundUsage
) -> list[Pair]:
    """Choose pairs that are probably normal, at the distances of suspects.

    Without them, all pairs at a distance could be slow, and thus seem typical.
    """
    rows = [parts.row_of[pair] for pair in chosen]
    controls: list[Pair] = []
    for distance in np.unique(parts.distances[rows]).tolist():
        alike = parts.distances == distance
        have = int(np.sum(alike[rows] & (unsure[rows] < SUSPECT)))
        fit = np.flatnonzero(alike & (unsure < SUSPECT) & taken.find_free_pairs())
        for row in fit[np.argsort(unsure[fit], kind="stable")].tolist():
            if have >= _CONTROLS:
                break
            if taken.try_add(row):
                controls.append(parts.pairs[row])
                have += 1
    return controls


def _find_visible(parts: MachineParts) -> tuple[NDArray[np.bool_], Values]:
    """Find entries whose load suffices for a test, and each class's maximal load."""
    tests = parts.tests
    busiest = np.zeros(len(parts.classes))
    np.maximum.at(busiest, tests.classes, tests.loads)
    return tests.loads >= _MIN_VISIBLE_LOAD * busiest[tests.classes], busiest


def _find_sure(estimate: BadPartEstimate) -> NDArray[np.bool_]:
    sure = np.zeros(len(estimate.chances), dtype=bool)
    sure[[b.number for b in estimate.bad if estimate.chances[b.number] >= SURE]] = True
    return sure


def _mark_tests_with(
    parts: MachineParts, entries: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return a mask of the tests with at least one of the entries."""
    counts: NDArray[np.bool_] = (
        np.bincount(parts.tests.rows, entries, len(parts.pairs)) > 0
    )
    return counts


def _compute_entropy(chances: Values) -> Values:
    """Compute the entropy of a binary outcome with these probabilities, in nats."""
    p = np.clip(chances, 1e-300, 1 - 1e-12)
    entropy: Values = -(p * np.log(p) + (1 - p) * np.log1p(-p))
    return entropy


class _RoundUsage:
    """The ends and links that the pairs of a round use."""

    def __init__(self, parts: MachineParts) -> None:
        self._parts = parts
        self._busy = np.zeros(len(parts.ends), dtype=bool)
        self._used = np.zeros(len(parts.classes))
        self._first, self._second = np.array(parts.pairs).T
        cables = [any(map(parts.is_cable, one)) for one in parts.classes]
        self._limited = np.array(cables)[parts.tests.classes]

    def find_free_pairs(self) -> NDArray[np.bool_]:
        """Return a mask of the pairs that can be added to the round."""
        tests = self._parts.tests
        full = self._limited & (
            self._used[tests.classes] + tests.loads > _MAX_CABLE_LOAD
        )
        busy = self._busy[self._first] | self._busy[self._second]
        room: NDArray[np.bool_] = ~(busy | _mark_tests_with(self._parts, full))
        return room

    def try_add(self, test: int) -> bool:
        """Add a pair if its ends and links are free; return whether it was added."""
        pair = list(self._parts.pairs[test])
        tests = self._parts.tests
        entries = slice(*tests.starts[test : test + 2])
        classes, loads = tests.classes[entries], tests.loads[entries]
        full = self._limited[entries] & (self._used[classes] + loads > _MAX_CABLE_LOAD)
        if self._busy[pair].any() or full.any():
            return False
        self._used[classes] += loads
        for end in pair:
            self._busy[self._parts.list_busy_ends(end)] = True
        return True
