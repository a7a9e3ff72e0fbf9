# SPDX-License-Identifier: BSD-3-Clause
"""Network models from measured times: lines, how many, and where one ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from topoloom._core import Error, NetworkModel
from topoloom.model.samples import Values

#: Most regimes, and most lines of which the largest counts.
MAX_REGIMES, MAX_LINES = 4, 3
#: Sizes that a line must explain: two lie on any line.
MIN_SIZES = 3
#: What no measurement repeats; better fits than this are not better.
NOISE = 0.005
#: Places where a line may end; of more sizes, this number is spread evenly.
_MAX_ENDS = 128

Line = tuple[float, float]  # alpha and beta


@dataclass(frozen=True)
class Fit:
    """A model beside the measured times, of each size their median."""

    model: NetworkModel
    sizes: Values
    measured: Values

    @property
    def predicted(self) -> Values:
        """Seconds of the model at the measured sizes."""
        return np.array([self.model.time(int(size)) for size in self.sizes])

    @property
    def errors(self) -> Values:
        """What is predicted too much, as a part of what was measured."""
        return self.predicted / self.measured - 1


def fit_model(sizes: ArrayLike, times: ArrayLike) -> Fit:
    """Fit regimes, or the largest of lines, to times of messages.

    The sum of squared relative errors is minimized for each number of regimes, over
    all places where they may end, and for each number of lines whose largest counts.
    Of these models that of the least Bayesian information criterion is taken, where
    errors below `NOISE` count as that: n log(mean squared error) + p log n, with p two
    for each line, and three more for each end of a regime, or two for each other line.

    Parameters
    ----------
    sizes, times
        Bytes and seconds, of shape ``(samples,)``; of several samples of a size the
        median counts.

    Raises
    ------
    topoloom.Error
        If there are fewer than three sizes, or not as many times, or what is given is
        no size or time.
    """
    x, t = medians(sizes, times)
    lines = _Lines(x, t)
    models = [*_best_regimes(x, lines), *_best_largest(x, t, lines)]
    best = min(models, key=lambda made: _criterion(len(x), *made))
    return Fit(best[1], x, t)


def fit_split(sizes: ArrayLike, times: ArrayLike, at: int) -> Fit:
    """Fit one line, alpha to the messages of up to `at` bytes, beta to the others.

    Plain least squares of each part, as in the extended ping-pong of C. Karlsson
    (2012, sec. 3.5): alpha is the intercept of the first, beta the slope of the second.

    Raises
    ------
    topoloom.Error
        If a part has fewer than two sizes, or the result is not a line of a network.
    """
    x, t = medians(sizes, times)
    small = x <= at
    if min(small.sum(), (~small).sum()) < 2:
        raise Error(f"two sizes up to {at} bytes and two above are needed to fit")
    alpha = float(np.polyfit(x[small], t[small], 1)[1])
    beta = float(np.polyfit(x[~small], t[~small], 1)[0])
    if alpha < 0 or beta <= 0:
        raise Error(
            f"split at {at} bytes, messages would take {alpha:.3g} s and "
            f"{beta:.3g} s per byte; split elsewhere"
        )
    return Fit(NetworkModel.regimes([(alpha, beta, None)]), x, t)


def medians(sizes: ArrayLike, times: ArrayLike) -> tuple[Values, Values]:
    """Return the sizes, ascending, and the median time of each."""
    try:
        all_sizes, all_times = np.asarray(sizes, float), np.asarray(times, float)
    except (TypeError, ValueError):
        raise Error("sizes and times are two lists of numbers") from None
    if all_sizes.ndim != 1 or all_sizes.shape != all_times.shape:
        raise Error(
            f"sizes are of shape {all_sizes.shape} and times of {all_times.shape}; "
            "give two lists of the same length"
        )
    if not (np.isfinite(all_sizes) & (all_sizes >= 0)).all():
        raise Error("a fit needs sizes that are finite and not negative")
    if not (np.isfinite(all_times) & (all_times > 0)).all():
        raise Error("a fit needs times that are finite and above 0")
    x = np.unique(all_sizes)
    if len(x) < MIN_SIZES:
        raise Error(f"a fit needs {MIN_SIZES} sizes or more, but there are {len(x)}")
    return x, np.array([np.median(all_times[all_sizes == size]) for size in x])


def _criterion(count: int, squares: float, model: NetworkModel) -> float:
    """Weigh the error of lines, a sum of squares, against parameters.

    Where lines end was searched, which makes up for more than one parameter of a least
    squares fit: counted as one, of 200 single lines with 3 % noise 33 were cut up, and
    so 4.
    """
    lines = len(model.lines)
    searched = 2 if model.takes_largest else 3
    error = max(0.0, squares) / count + NOISE**2
    parameters = 2 * lines + searched * (lines - 1)
    return count * math.log(error) + parameters * math.log(count)


class _Lines:
    """The lines of least squared relative error through all runs of sizes.

    `ends` are where runs begin and end; of run (i, j), sizes ends[i] to ends[j] - 1,
    are alpha[i, j], beta[i, j], neither below 0, and the sum of squares error[i, j].
    """

    def __init__(self, x: Values, t: Values) -> None:
        count = len(x)
        spread = np.linspace(0, count, min(count, _MAX_ENDS) + 1)
        self.ends = np.unique(spread.astype(int))
        shape = (len(self.ends), len(self.ends))
        self.alpha, self.beta = np.zeros(shape), np.zeros(shape)
        self.error = np.full(shape, np.inf)
        for i, begin in enumerate(self.ends):
            ends = self.ends[self.ends >= begin + MIN_SIZES]
            if len(ends):
                j = len(self.ends) - len(ends)
                found = _lines_from(x[begin:], t[begin:], ends - begin - 1)
                self.alpha[i, j:], self.beta[i, j:], self.error[i, j:] = found

    def line(self, i: int, j: int) -> Line:
        """Return alpha and beta of a run."""
        return float(self.alpha[i, j]), float(self.beta[i, j])


def _lines_from(x: Values, t: Values, last: Values) -> tuple[Values, Values, Values]:
    """Fit lines to sizes 0 to `last`: alpha, beta and the errors of each."""

    def sums(values: Values) -> Values:
        found: Values = np.cumsum(values)[last]
        return found

    # Of alpha u + beta v = 1; measured from the first size, close sizes keep digits.
    u, v = 1 / t, x / t
    w = (x - x[0]) / t
    uu, uw, ww, su, sw = sums(u * u), sums(u * w), sums(w * w), sums(u), sums(w)
    beta = (uu * sw - uw * su) / (uu * ww - uw * uw)
    alpha = (su - beta * uw) / uu - beta * x[0]
    uv, vv, sv = sums(u * v), sums(v * v), sums(v)
    alpha = np.where(beta < 0, su / uu, alpha)  # what is negative is 0 at best
    beta = np.where(alpha < 0, sv / vv, np.maximum(beta, 0))
    alpha = np.maximum(alpha, 0)
    squares = alpha**2 * uu + 2 * alpha * beta * uv + beta**2 * vv
    return alpha, beta, squares - 2 * (alpha * su + beta * sv) + last + 1


def _best_regimes(x: Values, lines: _Lines) -> list[tuple[float, NetworkModel]]:
    """Return the best model of each number of regimes, by dynamic programming.

    Each with the sum of squared errors of its lines.
    """
    error = np.full(len(lines.ends), np.inf)  # of regimes up to each end
    error[0] = 0
    before: list[Values] = []  # where the last of `count` regimes begins
    models = []
    for count in range(1, MAX_REGIMES + 1):
        totals = error[:, None] + lines.error
        before.append(totals.argmin(axis=0))
        error = totals.min(axis=0)
        if not np.isfinite(error[-1]):
            break
        cuts = [len(lines.ends) - 1]
        for begins in reversed(before[:count]):
            cuts.append(int(begins[cuts[-1]]))
        models.append((float(error[-1]), _regimes(x, lines, cuts[::-1])))
    return models


def _regimes(x: Values, lines: _Lines, cuts: Sequence[int]) -> NetworkModel:
    """Let a regime end where its line meets the next, else at its last size.

    If the next line is below there, the regime goes on to the first size of the next:
    so long a message takes what that size does, to which it may be padded.
    """
    parts = [lines.line(*run) for run in pairwise(cuts)]
    made: list[tuple[float, float, int | None]] = []
    for cut, line, following in zip(cuts[1:], parts, parts[1:], strict=False):
        end = lines.ends[cut]
        last, first = x[end - 1], x[end]
        crossing = _crossing(line, following)
        if last < crossing < first:
            last = crossing
        elif _at(line, last) > _at(following, last):
            last = first - 1
        made.append((*line, int(last)))
    return NetworkModel.regimes([*made, (*parts[-1], None)])


def _at(line: Line, size: float) -> float:
    return line[0] + line[1] * size


def _crossing(a: Line, b: Line) -> float:
    return (a[0] - b[0]) / (b[1] - a[1]) if a[1] != b[1] else math.nan


def _best_largest(
    x: Values, t: Values, lines: _Lines
) -> list[tuple[float, NetworkModel]]:
    """Return the best model of each number of lines, which are those of runs."""

    def error(parts: list[Line]) -> float:
        largest = np.max([alpha + beta * x for alpha, beta in parts], axis=0)
        return float(np.sum((largest / t - 1) ** 2))

    last = len(lines.ends) - 1
    models = []
    for count in range(2, MAX_LINES + 1):
        tried = [
            [lines.line(*run) for run in pairwise((0, *inner, last))]
            for inner in combinations(range(1, last), count - 1)
            if all(np.isfinite(lines.error[run]) for run in pairwise((0, *inner, last)))
        ]
        if tried:
            best = min(tried, key=error)
            model = NetworkModel.largest([(*line, None) for line in best])
            models.append((error(best), model))
    return models
