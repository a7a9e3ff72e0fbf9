# SPDX-License-Identifier: BSD-3-Clause
"""Network models from measured times: lines, how many, and where one ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from topoloom._core import Error, NetworkModel
from topoloom.model.samples import Values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Most regimes, and most lines of which the largest counts.
MOST_REGIMES, MOST_LINES = 4, 3
#: Sizes that a line must explain: two lie on any line.
LEAST_SIZES = 3
#: What no measurement repeats; better fits than this are not better.
NOISE = 0.005
#: Sizes at which regimes may end; of more, these are spread evenly.
_MOST_CUTS = 40

Line = tuple[float, float]
Cuts = tuple[int, ...]  # where each part begins, and where the last one ends


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
    errors below `NOISE` count as that: n log(mean squared error) + parameters log n.

    Parameters
    ----------
    sizes, times
        Bytes and seconds, of shape ``(samples,)``; of several samples of a size the
        median counts.

    Raises
    ------
    topoloom.Error
        If there are fewer than three sizes.
    """
    x, t = medians(sizes, times)
    cuts = np.unique(np.linspace(0, len(x), min(len(x), _MOST_CUTS) + 1).astype(int))
    lines = {
        (int(a), int(b)): _line(x[a:b], t[a:b])
        for a, b in combinations(cuts, 2)
        if b - a >= LEAST_SIZES
    }
    found = [
        *_best_regimes(x, t, lines),
        *_best_largest(x, t, lines, [int(cut) for cut in cuts]),
    ]
    return min((Fit(model, x, t) for model in found), key=_criterion)


def fit_split(sizes: ArrayLike, times: ArrayLike, at: int) -> Fit:
    """Fit one line, alpha to the messages of up to `at` bytes, beta to the others.

    Plain least squares of each part, as in the extended ping-pong of L. Karlsson
    (2012, sec. 3.5): alpha is the intercept of the first, beta the slope of the second.

    Raises
    ------
    topoloom.Error
        If a part has fewer than two sizes, or the result is no line of a network.
    """
    x, t = medians(sizes, times)
    small = x <= at
    if min(small.sum(), (~small).sum()) < 2:
        raise Error(f"two sizes up to {at} bytes and two above are needed to fit")
    alpha = float(_least_squares(x[small], t[small])[0])
    beta = float(_least_squares(x[~small], t[~small])[1])
    if alpha < 0 or beta <= 0:
        raise Error(
            f"split at {at} bytes, messages would take {alpha:.3g} s and "
            f"{beta:.3g} s a byte; split elsewhere"
        )
    return Fit(NetworkModel.regimes([(alpha, beta, None)]), x, t)


def medians(sizes: ArrayLike, times: ArrayLike) -> tuple[Values, Values]:
    """Return the sizes, ascending, and the median time of each."""
    all_sizes, all_times = np.asarray(sizes, float), np.asarray(times, float)
    x = np.unique(all_sizes)
    if len(x) < LEAST_SIZES:
        raise Error(f"a fit needs {LEAST_SIZES} sizes or more, but there are {len(x)}")
    return x, np.array([np.median(all_times[all_sizes == size]) for size in x])


def _criterion(fit: Fit) -> float:
    count, lines = len(fit.sizes), len(fit.model.lines)
    ends = 0 if fit.model.takes_largest else lines - 1
    error = float(np.mean(fit.errors**2)) + NOISE**2
    return count * math.log(error) + (2 * lines + ends) * math.log(count)


def _line(x: Values, t: Values) -> tuple[Line, float]:
    """Return alpha and beta of the least squared relative error, and that error."""
    alpha, beta = _least_squares(x / t, np.ones_like(t), 1 / t)
    candidates = [(float(alpha), float(beta))]
    if alpha < 0 or beta < 0:  # then the best that is allowed has one of them 0
        u, v = 1 / t, x / t
        candidates = [
            (float(u.sum() / (u @ u)), 0.0),
            (0.0, float(v.sum() / (v @ v)) if v.any() else 0.0),
        ]

    def error(line: Line) -> float:
        return float(np.sum(((line[0] + line[1] * x) / t - 1) ** 2))

    best = min(candidates, key=error)
    return best, error(best)


def _least_squares(x: Values, t: Values, ones: Values | None = None) -> Values:
    """Return intercept and slope; `ones` is what the intercept is multiplied by."""
    columns = np.column_stack([np.ones_like(x) if ones is None else ones, x])
    scale = np.abs(columns).max(axis=0)
    scale[scale == 0] = 1
    found: Values = np.linalg.lstsq(columns / scale, t, rcond=None)[0] / scale
    return found


Lines = dict[tuple[int, int], tuple[Line, float]]


def _best_regimes(x: Values, t: Values, lines: Lines) -> list[NetworkModel]:
    """Return the best model of each number of regimes, by dynamic programming."""
    best: dict[int, tuple[float, Cuts]] = {0: (0.0, (0,))}  # end -> error, cuts
    models = []
    for _ in range(MOST_REGIMES):
        further: dict[int, tuple[float, Cuts]] = {}
        for (begin, end), (_, error) in lines.items():
            if begin in best:
                whole = (best[begin][0] + error, (*best[begin][1], end))
                further[end] = min(further.get(end, whole), whole)
        best = further
        if len(x) in best:
            models.append(_regimes(x, best[len(x)][1], lines))
    return models


def _regimes(x: Values, cuts: Cuts, lines: Lines) -> NetworkModel:
    """Let a regime end where its line meets the next, else at its last size."""
    parts = [lines[part][0] for part in pairwise(cuts)]
    made: list[tuple[float, float, int | None]] = []
    for line, following, end in zip(parts, parts[1:], cuts[1:], strict=False):
        last, first = x[end - 1], x[end]
        crossing = _crossing(line, following)
        most = crossing if last < crossing < first else last
        made.append((*line, int(most)))
    return NetworkModel.regimes([*made, (*parts[-1], None)])


def _crossing(a: Line, b: Line) -> float:
    return (a[0] - b[0]) / (b[1] - a[1]) if a[1] != b[1] else math.nan


def _best_largest(
    x: Values, t: Values, lines: Lines, cuts: Sequence[int]
) -> list[NetworkModel]:
    """Return the best model of each number of lines, those of consecutive parts."""

    def error(parts: list[Line]) -> float:
        largest = np.max([alpha + beta * x for alpha, beta in parts], axis=0)
        return float(np.sum((largest / t - 1) ** 2))

    models = []
    for count in range(2, MOST_LINES + 1):
        tried = [
            [lines[part][0] for part in pairwise((0, *inner, len(x)))]
            for inner in combinations(cuts[1:-1], count - 1)
            if all(part in lines for part in pairwise((0, *inner, len(x))))
        ]
        if tried:
            best = min(tried, key=error)
            models.append(NetworkModel.largest([(*line, None) for line in best]))
    return models
