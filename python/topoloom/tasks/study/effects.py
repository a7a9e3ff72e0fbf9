# SPDX-License-Identifier: BSD-3-Clause
"""Estimates main effects and two-factor interactions from the times of cells.

Effects are differences of mean logarithms of times, converted to changes in percent.
Each repetition is a block that gives one estimate of each effect; the result is the
median of these estimates with its 95 % bootstrap interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.tasks.runs.gain_estimate import Change, estimate_change
from topoloom.tasks.study.design import FULL, Cell
from topoloom.tasks.study.factors import Factor

Floats = NDArray[np.float64]


class Effect(NamedTuple):
    """A main effect: the mean change in time due to a level of a factor.

    The mean is over all levels of the other factors. Without enough repetitions, the
    fields of `change` are None.
    """

    factor: str
    level: str
    change: Change


class Interaction(NamedTuple):
    """The joint change of two levels, beyond the product of their separate changes."""

    factors: tuple[str, str]
    levels: tuple[str, str]
    change: Change


def estimate_effects(
    factors: Sequence[Factor],
    cells: Sequence[Cell],
    times: Sequence[Mapping[str, float]],
    is_deterministic: bool,
) -> list[Effect]:
    """Estimate the main effect of each level except the first by least squares.

    Parameters
    ----------
    cells
        Cells with times.
    times
        For each repetition, the seconds of every cell by name.
    is_deterministic
        Whether all runs of a cell take exactly the same time.
    """
    columns = [
        (number, index)
        for number, factor in enumerate(factors)
        for index in range(1, len(factor.levels))
    ]
    rows = [
        [1.0, *(float(cell.indices[number] == index) for number, index in columns)]
        for cell in cells
    ]
    matrix: Floats = np.array(rows)
    if not len(times) or not rows or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return []
    logs = np.array([[math.log(block[cell.name]) for cell in cells] for block in times])
    found = np.linalg.lstsq(matrix, logs.T, rcond=None)[0]
    return [
        Effect(
            factors[number].name,
            factors[number].levels[index].name,
            _estimate(found[1 + at], is_deterministic),
        )
        for at, (number, index) in enumerate(columns)
    ]


def estimate_interactions(
    factors: Sequence[Factor],
    cells: Sequence[Cell],
    times: Sequence[Mapping[str, float]],
    design: str,
    is_deterministic: bool,
) -> list[Interaction]:
    """Estimate two-factor interactions; none unless all cells of a full design ran."""
    expected = math.prod(len(factor.levels) for factor in factors)
    if design != FULL or len(cells) != expected or not len(times):
        return []
    shape = [len(times), *(len(factor.levels) for factor in factors)]
    logs = np.empty(shape)
    for repetition, block in enumerate(times):
        for cell in cells:
            logs[repetition][cell.indices] = math.log(block[cell.name])
    found = []
    for one, other in combinations(range(len(factors)), 2):
        rest = tuple(1 + n for n in range(len(factors)) if n not in (one, other))
        means = logs.mean(axis=rest)
        both = means - means[:, :1, :] - means[:, :, :1] + means[:, :1, :1]
        found += [
            Interaction(
                (factors[one].name, factors[other].name),
                (factors[one].levels[i].name, factors[other].levels[j].name),
                _estimate(both[:, i, j], is_deterministic),
            )
            for i in range(1, means.shape[1])
            for j in range(1, means.shape[2])
        ]
    return found


def count_pairs_in_order(
    cells: Sequence[Cell],
    predicted: Mapping[str, float | None],
    measured: Mapping[str, float],
    is_comparable: Callable[[Cell, Cell], bool],
) -> tuple[int, int]:
    """Count the pairs of comparable cells that are predicted in their measured order.

    Also returns the number of compared pairs. Pairs whose predictions differ by less
    than 1 % are not compared.
    """
    right = pairs = 0
    for one, other in combinations(cells, 2):
        first, second = predicted.get(one.name), predicted.get(other.name)
        if not first or not second or not is_comparable(one, other):
            continue
        if one.name not in measured or other.name not in measured:
            continue
        if abs(math.log(first / second)) < math.log(1.01):
            continue
        pairs += 1
        right += (first < second) == (measured[one.name] < measured[other.name])
    return right, pairs


def _estimate(logs: Floats, is_deterministic: bool) -> Change:
    percent = (100 * np.expm1(logs)).tolist()
    if is_deterministic:
        return Change(len(percent), percent[0], percent[0], percent[0])
    return estimate_change(percent)
