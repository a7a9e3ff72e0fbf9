# SPDX-License-Identifier: BSD-3-Clause
"""Estimates how likely each part is bad, from the relative times of tests.

The relative time of a test is that of its slowest part: the factor of a bad part times
its load, or 1. Log times are normal around it, but for a few outliers. Bad parts are
added one at a time and refitted, as long as the likelihood grows enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.locate.parts import Coverage, Values

#: Minimal factor worth reporting, and log step of the factors that are tried.
_MIN_FACTOR, _STEP = 1.25, 0.07
#: Finer steps to each side of the best factor.
_FINE_STEPS = 6
#: Minimal deviation of log times of tests.
_MIN_SIGMA = 0.02
#: Limits on the log likelihood that a test contributes for and against a bad part;
#: higher against, since nothing is fast by chance.
_MAX_FOR, _MAX_AGAINST = 6.0, 12.0
#: Prior number of bad parts, and limit.
_PRIOR_COUNT, _MAX_BAD = 0.5, 16
#: Limit on the prior probability, so that one slow test does not decide.
_MAX_PRIOR = 5e-4
#: Factor at which a test would detect a bad part, and thus judges it.
_JUDGED_RATIO = 3.0
_PASSES = 4
#: For normal values: standard deviation / median deviation.
_SIGMA = 1.4826


@dataclass(frozen=True)
class BadClass:
    """A class with a bad part: its number and slowdown factor."""

    number: int
    factor: float


@dataclass(frozen=True)
class Beliefs:
    """The conclusions from tests."""

    bad: list[BadClass]  # classes that explain slow tests, the most certain first
    chances: Values  # probability that a class is bad
    open: NDArray[np.bool_]  # whether no test has judged a class


def estimate_beliefs(tests: Coverage, ratios: Sequence[float], classes: int) -> Beliefs:
    """Estimate how likely each class of parts is bad.

    `ratios`: time of each test relative to the typical one. `classes`: number of
    classes.
    """
    return _Estimator(tests, np.log(np.asarray(ratios, dtype=float)), classes).beliefs()


class _Estimator:
    def __init__(self, tests: Coverage, values: Values, classes: int) -> None:
        self._tests, self._values, self._classes = tests, values, classes
        self._rows = tests.rows
        # Bad parts make no test fast, so tests below the typical time show the noise.
        below = np.abs(values[values < 0])
        sigma = _SIGMA * float(np.median(below)) if len(below) else 0.0
        self._sigma = max(_MIN_SIGMA, sigma)
        top = max(math.log(_MIN_FACTOR), float(values.max(initial=0.0))) + _STEP
        self._factors = np.exp(np.arange(math.log(_MIN_FACTOR), top, _STEP)).tolist()
        prior = min(_MAX_PRIOR, _PRIOR_COUNT / max(classes, 1))
        self._prior = math.log(prior / (1 - prior))

    def beliefs(self) -> Beliefs:
        """Fit bad classes, and estimate the probability of all others."""
        bad: dict[int, float] = {}
        for _ in range(_MAX_BAD):
            number, factor, worth = self._best(bad)
            if worth <= 0:
                break
            bad[number] = factor
            bad = self._refitted(bad)
        chances = self._chances(bad)
        judged, _ = self._gains(bad, (_JUDGED_RATIO,))
        found = [BadClass(number, factor) for number, factor in bad.items()]
        found.sort(key=lambda each: (-chances[each.number], each.number))
        return Beliefs(found, chances, judged >= 0)

    def _best(self, bad: dict[int, float]) -> tuple[int, float, float]:
        """Find the class that explains most in addition, its factor and its gain."""
        gains, factors = self._gains(bad)
        gains[list(bad)] = -np.inf
        best = int(np.argmax(gains))
        factor, gain = self._finer(bad, best, float(factors[best]))
        return best, factor, max(gain, float(gains[best])) + self._prior

    def _finer(
        self, bad: dict[int, float], number: int, factor: float
    ) -> tuple[float, float]:
        """Refine a factor; return it with its gain.

        Residuals of a coarse factor would look like another bad part.
        """
        entries = self._tests.classes == number
        rows, loads = self._rows[entries], self._tests.loads[entries]
        values, usual = self._values[rows], self._expected(bad)[rows]
        fine = factor * np.exp(
            np.arange(-_FINE_STEPS, _FINE_STEPS + 1) * _STEP / (_FINE_STEPS + 1)
        )
        slow = np.log(np.maximum(1.0, loads * fine[:, None]))
        after = self._loss(values - np.maximum(usual, slow)).sum(axis=1)
        best = int(np.argmin(after))
        return float(fine[best]), float(self._loss(values - usual).sum() - after[best])

    def _refitted(self, bad: dict[int, float]) -> dict[int, float]:
        """Refit each bad class given the others; drop those without gain."""
        for _ in range(_PASSES):
            before = dict(bad)
            for number in list(bad):
                others = {n: f for n, f in bad.items() if n != number}
                best, factor, worth = self._best(others)
                bad = others | {best: factor} if worth > 0 else others
            if bad == before:
                break
        return bad

    def _chances(self, bad: dict[int, float]) -> Values:
        """Compute the probability of each class, replacing a bad one or in addition."""
        gains, _ = self._gains(bad)
        odds = gains + self._prior
        odds[list(bad)] = -np.inf
        chances: Values = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        for number in bad:
            others = {n: f for n, f in bad.items() if n != number}
            gains, _ = self._gains(others)
            odds = gains + self._prior
            odds[list(others)] = -np.inf
            top = max(0.0, float(odds.max()))
            weights = np.exp(odds - top)
            chances += weights / (weights.sum() + np.exp(-top))
        return np.minimum(chances, 1.0)

    def _gains(
        self, bad: dict[int, float], tried: Sequence[float] = ()
    ) -> tuple[Values, Values]:
        """Compute the gain and the factor of each class in addition to bad ones."""
        usual = self._expected(bad)
        tests = self._tests
        values = self._values[self._rows]
        before = self._loss(values - usual[self._rows])
        best = np.full(self._classes, -np.inf)
        factors = np.ones(self._classes)
        for factor in tried or self._factors:
            slow = np.log(np.maximum(1.0, tests.loads * factor))
            after = self._loss(values - np.maximum(usual[self._rows], slow))
            gain = np.bincount(tests.classes, before - after, self._classes)
            better = gain > best
            best[better], factors[better] = gain[better], factor
        return best, factors

    def _expected(self, bad: dict[int, float]) -> Values:
        """Compute the expected log times of tests with these bad classes."""
        factors = np.ones(self._classes)
        factors[list(bad)] = list(bad.values())
        slow = np.log(np.maximum(1.0, factors[self._tests.classes] * self._tests.loads))
        expected = np.zeros(len(self._values))
        np.maximum.at(expected, self._rows, slow)
        return expected

    def _loss(self, residuals: Values) -> Values:
        squares = (residuals / self._sigma) ** 2 / 2
        return np.minimum(squares, np.where(residuals > 0, _MAX_FOR, _MAX_AGAINST))
