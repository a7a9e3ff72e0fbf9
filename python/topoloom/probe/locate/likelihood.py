# SPDX-License-Identifier: BSD-3-Clause
"""How likely each part is bad, by how much longer than usual tests took.

A test takes as many times as long as its slowest part needs: the factor of a bad part
times its load, or 1. Logarithms of what is measured vary normally about that, but for a
few tests that are long by chance. Bad parts are added one at a time, and each is fitted
again beside the others, as long as that is more likely than what was known before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.locate.parts import Coverage, Values

#: A smaller factor is not worth a ticket; those that are tried lie this far apart, up
#: to the slowest test, as logarithms.
_MIN_FACTOR, _STEP = 1.25, 0.07
#: Finer steps to each side of the best of them.
_FINE_STEPS = 6
#: Least deviation of the logarithms of tests.
_MIN_SIGMA = 0.02
#: What a test can say at most in favor of a bad part: more may be chance. It says more
#: against one, since nothing is fast by chance.
_MAX_FOR, _MAX_AGAINST = 6.0, 12.0
#: How many bad parts there are beforehand, and at most.
_PRIOR_COUNT, _MAX_BAD = 0.5, 16
#: How likely a part is bad beforehand at most: so that one slow test does not decide.
_MAX_PRIOR = 5e-4
#: A test judges what would have been slow if it were this many times as slow.
_JUDGED_RATIO = 3.0
_PASSES = 4
#: Of normal values: their standard deviation in median deviations.
_SIGMA = 1.4826


@dataclass(frozen=True)
class BadClass:
    """A class of parts of which one is bad: its number, and how many times as slow."""

    number: int
    factor: float


@dataclass(frozen=True)
class Beliefs:
    """What tests say.

    Attributes
    ----------
    bad
        Classes that explain the slow tests, the surest first.
    chances
        By class how likely it is bad, from 0 to 1.
    open
        By class whether no test has judged it so far.
    """

    bad: list[BadClass]
    chances: Values
    open: NDArray[np.bool_]


def estimate_beliefs(tests: Coverage, ratios: Sequence[float], classes: int) -> Beliefs:
    """Say how likely classes of parts are bad.

    Parameters
    ----------
    ratios
        How many times as long as usual each test took.
    classes
        Their number.
    """
    return _Estimator(tests, np.log(np.asarray(ratios, dtype=float)), classes).beliefs()


class _Estimator:
    def __init__(self, tests: Coverage, values: Values, classes: int) -> None:
        self._tests, self._values, self._classes = tests, values, classes
        self._rows = tests.rows
        # Bad parts make no test fast: those below the usual say how much tests vary.
        below = np.abs(values[values < 0])
        sigma = _SIGMA * float(np.median(below)) if len(below) else 0.0
        self._sigma = max(_MIN_SIGMA, sigma)
        top = max(math.log(_MIN_FACTOR), float(values.max(initial=0.0))) + _STEP
        self._factors = np.exp(np.arange(math.log(_MIN_FACTOR), top, _STEP)).tolist()
        prior = min(_MAX_PRIOR, _PRIOR_COUNT / max(classes, 1))
        self._prior = math.log(prior / (1 - prior))

    def beliefs(self) -> Beliefs:
        """Fit bad classes, and weigh all others beside them."""
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
        """Return the class that explains most beside others, and what it is worth."""
        gains, factors = self._gains(bad)
        gains[list(bad)] = -np.inf
        best = int(np.argmax(gains))
        factor, gain = self._finer(bad, best, float(factors[best]))
        return best, factor, max(gain, float(gains[best])) + self._prior

    def _finer(
        self, bad: dict[int, float], number: int, factor: float
    ) -> tuple[float, float]:
        """Return the factor near one that explains most, and what it explains.

        What a coarse one leaves of many tests would look like another bad part.
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
        """Replace each by what explains most beside the others; drop what does not."""
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
        """Return how likely each class is: in place of a bad one, or beside all."""
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
        """Return what each class explains more if it is bad, too, and its factor."""
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
        """Return the logarithms of what tests take where classes are bad."""
        factors = np.ones(self._classes)
        factors[list(bad)] = list(bad.values())
        slow = np.log(np.maximum(1.0, factors[self._tests.classes] * self._tests.loads))
        expected = np.zeros(len(self._values))
        np.maximum.at(expected, self._rows, slow)
        return expected

    def _loss(self, residuals: Values) -> Values:
        squares = (residuals / self._sigma) ** 2 / 2
        return np.minimum(squares, np.where(residuals > 0, _MAX_FOR, _MAX_AGAINST))
