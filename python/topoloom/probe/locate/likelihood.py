# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the probability that parts are bad from relative times of tests.

The expected relative time of a test is the time of its slowest part: the factor of a
bad part times its load, or 1. Log times are normally distributed, except for a few
outliers. Bad parts are added one at a time, and all are refitted, as long as the
likelihood increases sufficiently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.locate.machine_parts import PartCoverage, Values

#: Minimal slowdown factor that is reported, and step between candidate factors in log
#: units.
_MIN_FACTOR, _STEP = 1.25, 0.07
#: Number of finer steps on each side of the best factor.
_FINE_STEPS = 6
#: Minimal standard deviation that is assumed for the log times of tests.
_MIN_SIGMA = 0.02
#: Maximum log likelihood that a single test contributes for a bad part, and against it.
#: The second is higher, because no test is fast by chance.
_MAX_FOR, _MAX_AGAINST = 6.0, 12.0
#: Number of bad parts that the prior expects, and maximum number of bad parts.
_PRIOR_COUNT, _MAX_BAD = 0.5, 16
#: Maximum prior probability, so that one slow test does not decide.
_MAX_PRIOR = 5e-4
#: A test of a part must be able to detect this slowdown factor.
_JUDGED_RATIO = 3.0
_PASSES = 4
#: For normal values: standard deviation / median deviation.
_SIGMA = 1.4826


@dataclass(frozen=True)
class BadPartClass:
    """A class that contains a bad part: the class's number, and its slowdown factor."""

    number: int
    factor: float


@dataclass(frozen=True)
class BadPartEstimate:
    """Probabilities of bad parts, inferred from tests."""

    bad: list[
        BadPartClass
    ]  # bad classes that explain slow tests, the most certain first
    chances: Values  # probability of each class to be bad
    open: NDArray[
        np.bool_
    ]  # for each class, whether it lacks a test that covers it sufficiently


def estimate_bad_parts(
    tests: PartCoverage, ratios: Sequence[float], classes: int
) -> BadPartEstimate:
    """Estimate the probability that each class of parts is bad.

    `ratios`: time of each test relative to the typical time. `classes`: number of
    classes.
    """
    return _BadPartEstimator(
        tests, np.log(np.asarray(ratios, dtype=float)), classes
    ).fit()


class _BadPartEstimator:
    def __init__(self, tests: PartCoverage, values: Values, classes: int) -> None:
        self._tests, self._values, self._classes = tests, values, classes
        self._rows = tests.rows
        # Bad parts make no test faster, so noise is estimated from tests below the
        # typical time.
        below = np.abs(values[values < 0])
        sigma = _SIGMA * float(np.median(below)) if len(below) else 0.0
        self._sigma = max(_MIN_SIGMA, sigma)
        top = max(math.log(_MIN_FACTOR), float(values.max(initial=0.0))) + _STEP
        self._factors = np.exp(np.arange(math.log(_MIN_FACTOR), top, _STEP)).tolist()
        prior = min(_MAX_PRIOR, _PRIOR_COUNT / max(classes, 1))
        self._prior = math.log(prior / (1 - prior))

    def fit(self) -> BadPartEstimate:
        """Fit the bad classes, and estimate the probabilities of all classes."""
        bad: dict[int, float] = {}
        for _ in range(_MAX_BAD):
            number, factor, worth = self._find_best_class(bad)
            if worth <= 0:
                break
            bad[number] = factor
            bad = self._refit(bad)
        chances = self._compute_probabilities(bad)
        judged, _ = self._compute_gains(bad, (_JUDGED_RATIO,))
        found = [BadPartClass(number, factor) for number, factor in bad.items()]
        found.sort(key=lambda each: (-chances[each.number], each.number))
        return BadPartEstimate(found, chances, judged >= 0)

    def _find_best_class(self, bad: dict[int, float]) -> tuple[int, float, float]:
        """Find the additional bad class of highest gain; return factor and gain."""
        gains, factors = self._compute_gains(bad)
        gains[list(bad)] = -np.inf
        best = int(np.argmax(gains))
        factor, gain = self._refine_factor(bad, best, float(factors[best]))
        return best, factor, max(gain, float(gains[best])) + self._prior

    def _refine_factor(
        self, bad: dict[int, float], number: int, factor: float
    ) -> tuple[float, float]:
        """Refine the factor of a class; return the factor and its gain.

        With a coarse factor, residuals would indicate another bad part.
        """
        entries = self._tests.classes == number
        rows, loads = self._rows[entries], self._tests.loads[entries]
        values, usual = self._values[rows], self._compute_expected(bad)[rows]
        fine = factor * np.exp(
            np.arange(-_FINE_STEPS, _FINE_STEPS + 1) * _STEP / (_FINE_STEPS + 1)
        )
        slow = np.log(np.maximum(1.0, loads * fine[:, None]))
        after = self._compute_loss(values - np.maximum(usual, slow)).sum(axis=1)
        best = int(np.argmin(after))
        return float(fine[best]), float(
            self._compute_loss(values - usual).sum() - after[best]
        )

    def _refit(self, bad: dict[int, float]) -> dict[int, float]:
        """Refit each bad class, given the others; drop classes without gain."""
        for _ in range(_PASSES):
            before = dict(bad)
            for number in list(bad):
                others = {n: f for n, f in bad.items() if n != number}
                best, factor, worth = self._find_best_class(others)
                bad = others | {best: factor} if worth > 0 else others
            if bad == before:
                break
        return bad

    def _compute_probabilities(self, bad: dict[int, float]) -> Values:
        """Compute the probability that each class is bad, or replaces a bad class."""
        gains, _ = self._compute_gains(bad)
        odds = gains + self._prior
        odds[list(bad)] = -np.inf
        chances: Values = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        for number in bad:
            others = {n: f for n, f in bad.items() if n != number}
            gains, _ = self._compute_gains(others)
            odds = gains + self._prior
            odds[list(others)] = -np.inf
            top = max(0.0, float(odds.max()))
            weights = np.exp(odds - top)
            chances += weights / (weights.sum() + np.exp(-top))
        return np.minimum(chances, 1.0)

    def _compute_gains(
        self, bad: dict[int, float], tried: Sequence[float] = ()
    ) -> tuple[Values, Values]:
        """Compute the gain and factor of each class as an additional bad class."""
        usual = self._compute_expected(bad)
        tests = self._tests
        values = self._values[self._rows]
        before = self._compute_loss(values - usual[self._rows])
        best = np.full(self._classes, -np.inf)
        factors = np.ones(self._classes)
        for factor in tried or self._factors:
            slow = np.log(np.maximum(1.0, tests.loads * factor))
            after = self._compute_loss(values - np.maximum(usual[self._rows], slow))
            gain = np.bincount(tests.classes, before - after, self._classes)
            better = gain > best
            best[better], factors[better] = gain[better], factor
        return best, factors

    def _compute_expected(self, bad: dict[int, float]) -> Values:
        """Compute the expected log times of tests with these bad classes."""
        factors = np.ones(self._classes)
        factors[list(bad)] = list(bad.values())
        slow = np.log(np.maximum(1.0, factors[self._tests.classes] * self._tests.loads))
        expected = np.zeros(len(self._values))
        np.maximum.at(expected, self._rows, slow)
        return expected

    def _compute_loss(self, residuals: Values) -> Values:
        squares = (residuals / self._sigma) ** 2 / 2
        return np.minimum(squares, np.where(residuals > 0, _MAX_FOR, _MAX_AGAINST))
