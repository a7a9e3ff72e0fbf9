# SPDX-License-Identifier: BSD-3-Clause
"""Fits network models to measured times: chooses regimes, their ends and parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from topoloom._core import Error, NetworkModel
from topoloom.model.samples import Values

#: Maximum number of regimes, and of lines whose maximum is a model.
MAX_REGIMES, MAX_LINES = 4, 3
#: Minimum number of sizes per line; a line fits any two sizes exactly.
MIN_SIZES = 3
#: Relative error of repeated measurements; fits treat smaller errors as noise.
NOISE = 0.005
#: Maximum number of sizes at which a line can end; if there are more, a subset is used.
_MAX_ENDS = 128

Line = tuple[float, float]  # alpha and beta


@dataclass(frozen=True)
class Fit:
    """A fitted model, and for each size the median of the measured times."""

    model: NetworkModel
    sizes: Values
    measured: Values

    @property
    def predicted(self) -> Values:
        """Predicted seconds at the measured sizes."""
        return np.array([self.model.time(int(size)) for size in self.sizes])

    @property
    def errors(self) -> Values:
        """Relative errors of the predictions."""
        return self.predicted / self.measured - 1


def fit_model(sizes: ArrayLike, times: ArrayLike) -> Fit:
    """Fit regimes, or the maximum of several lines, to times of messages.

    For each number of regimes and lines, the sum of squared relative errors is
    minimized over parameters and ends of regimes. The result minimizes the Bayesian
    information criterion, n log(mean squared error) + p log n, with errors of at least
    `NOISE`. The number of parameters p is two per line, plus three for each end of a
    regime. For a maximum of lines, it is two per line, plus two for each line after the
    first.

    Parameters
    ----------
    sizes, times
        Bytes and seconds, of shape ``(samples,)``; the median per size is used.

    Raises
    ------
    topoloom.Error
        If there are fewer than three sizes, the lengths differ, or a value is invalid.
    """
    x, t = compute_medians_by_size(sizes, times)
    lines = _SizeRunLines(x, t)
    models = [*_find_best_regimes(x, lines), *_find_best_maximum(x, t, lines)]
    best = min(models, key=lambda made: _compute_criterion(len(x), *made))
    return Fit(best[1], x, t)


def fit_split(sizes: ArrayLike, times: ArrayLike, at: int) -> Fit:
    """Fit one line: alpha from messages of up to `at` bytes, beta from larger messages.

    As in the extended ping-pong of C. Karlsson (2012, sec. 3.5), alpha is the intercept
    for small messages, and beta the slope for large messages, both by least squares.
    Raises `topoloom.Error` if a part has fewer than two sizes, or a result is negative.
    """
    x, t = compute_medians_by_size(sizes, times)
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


def compute_medians_by_size(
    sizes: ArrayLike, times: ArrayLike
) -> tuple[Values, Values]:
    """Return the sizes in ascending order, and the median time of each size."""
    try:
        all_sizes, all_times = np.asarray(sizes, float), np.asarray(times, float)
    except (TypeError, ValueError):
        raise Error("sizes and times must be lists of numbers") from None
    if all_sizes.ndim != 1 or all_sizes.shape != all_times.shape:
        raise Error(
            f"sizes are of shape {all_sizes.shape} and times of {all_times.shape}; "
            "give two lists of the same length"
        )
    if not (np.isfinite(all_sizes) & (all_sizes >= 0)).all():
        raise Error("sizes must be finite and not negative")
    if not (np.isfinite(all_times) & (all_times > 0)).all():
        raise Error("times must be finite and positive")
    x = np.unique(all_sizes)
    if len(x) < MIN_SIZES:
        raise Error(f"a fit requires {MIN_SIZES} sizes or more, but there are {len(x)}")
    return x, np.array([np.median(all_times[all_sizes == size]) for size in x])


def _compute_criterion(count: int, squares: float, model: NetworkModel) -> float:
    """Return the Bayesian information criterion for a sum of squared errors.

    The end of a regime counts as several parameters. If it counted as one, the fit
    would split 33 of 200 test cases that are single lines with 3 % noise. With three,
    it splits 4 of them.
    """
    lines = len(model.lines)
    searched = 2 if model.takes_largest else 3
    error = max(0.0, squares) / count + NOISE**2
    parameters = 2 * lines + searched * (lines - 1)
    return count * math.log(error) + parameters * math.log(count)


class _SizeRunLines:
    """Least-squares lines (by relative error) for all runs of consecutive sizes.

    Run (i, j) has the sizes from ends[i] to ends[j] - 1. Its line is alpha[i, j] and
    beta[i, j], both nonnegative; error[i, j] is the sum of squares.
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
                found = _fit_lines(x[begin:], t[begin:], ends - begin - 1)
                self.alpha[i, j:], self.beta[i, j:], self.error[i, j:] = found

    def line(self, i: int, j: int) -> Line:
        """Return alpha and beta of run (i, j)."""
        return float(self.alpha[i, j]), float(self.beta[i, j])


def _fit_lines(x: Values, t: Values, last: Values) -> tuple[Values, Values, Values]:
    """For each end in `last`, fit a line to the sizes; return alpha, beta, errors."""

    def sum_up_to_last(values: Values) -> Values:
        found: Values = np.cumsum(values)[last]
        return found

    # Least squares of alpha u + beta v - 1; sizes relative to the first size avoid
    # cancellation.
    u, v = 1 / t, x / t
    w = (x - x[0]) / t
    uu, uw, ww, su, sw = (
        sum_up_to_last(u * u),
        sum_up_to_last(u * w),
        sum_up_to_last(w * w),
        sum_up_to_last(u),
        sum_up_to_last(w),
    )
    beta = (uu * sw - uw * su) / (uu * ww - uw * uw)
    alpha = (su - beta * uw) / uu - beta * x[0]
    uv, vv, sv = sum_up_to_last(u * v), sum_up_to_last(v * v), sum_up_to_last(v)
    alpha = np.where(beta < 0, su / uu, alpha)  # best nonnegative fit
    beta = np.where(alpha < 0, sv / vv, np.maximum(beta, 0))
    alpha = np.maximum(alpha, 0)
    squares = alpha**2 * uu + 2 * alpha * beta * uv + beta**2 * vv
    return alpha, beta, squares - 2 * (alpha * su + beta * sv) + last + 1


def _find_best_regimes(
    x: Values, lines: _SizeRunLines
) -> list[tuple[float, NetworkModel]]:
    """Find the best model for each number of regimes, by dynamic programming.

    Returns pairs: the sum of squared errors, and the model.
    """
    error = np.full(len(lines.ends), np.inf)  # squared errors up to each end
    error[0] = 0
    before: list[Values] = []  # start index of the last regime
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
        models.append((float(error[-1]), _make_regimes(x, lines, cuts[::-1])))
    return models


def _make_regimes(x: Values, lines: _SizeRunLines, cuts: Sequence[int]) -> NetworkModel:
    """End each regime at the crossing with the next line, or else at its last size.

    If the next line is lower, the regime ends just before the next regime's first size,
    because libraries can pad messages to this size.
    """
    parts = [lines.line(*run) for run in pairwise(cuts)]
    made: list[tuple[float, float, int | None]] = []
    for cut, line, following in zip(cuts[1:], parts, parts[1:], strict=False):
        end = lines.ends[cut]
        last, first = x[end - 1], x[end]
        crossing = _find_crossing(line, following)
        if last < crossing < first:
            last = crossing
        elif _evaluate_line(line, last) > _evaluate_line(following, last):
            last = first - 1
        made.append((*line, int(last)))
    return NetworkModel.regimes([*made, (*parts[-1], None)])


def _evaluate_line(line: Line, size: float) -> float:
    return line[0] + line[1] * size


def _find_crossing(a: Line, b: Line) -> float:
    return (a[0] - b[0]) / (b[1] - a[1]) if a[1] != b[1] else math.nan


def _find_best_maximum(
    x: Values, t: Values, lines: _SizeRunLines
) -> list[tuple[float, NetworkModel]]:
    """Find the best maximum of lines, for each number of lines."""

    def compute_error(parts: list[Line]) -> float:
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
            best = min(tried, key=compute_error)
            model = NetworkModel.largest([(*line, None) for line in best])
            models.append((compute_error(best), model))
    return models
