# SPDX-License-Identifier: BSD-3-Clause
"""Effects of factors and their interactions, from the times of cells.

Effects are differences of logarithms, so that they are changes in percent. Each
repetition of all cells gives one estimate of each effect; the result is their median,
with the 95 % interval of the bootstrap.
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
    """The mean change of the time by a level, over all levels of the other factors.

    `change` has no value without enough repetitions.
    """

    factor: str
    level: str
    change: Change


class Interaction(NamedTuple):
    """How much more two levels change the time together than one after the other."""

    factors: tuple[str, str]
    levels: tuple[str, str]
    change: Change


def estimate_effects(
    factors: Sequence[Factor],
    cells: Sequence[Cell],
    times: Sequence[Mapping[str, float]],
    is_deterministic: bool,
) -> list[Effect]:
    """Estimate the effect of each level but the first by least squares.

    Parameters
    ----------
    cells
        The cells that have times.
    times
        For each repetition, the seconds of every cell, by its name.
    is_deterministic
        Whether one repetition gives exact times.
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
    """Estimate the interactions of two factors; only in a full design without gaps."""
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


def count_right_orders(
    cells: Sequence[Cell],
    predicted: Mapping[str, float | None],
    measured: Mapping[str, float],
    is_comparable: Callable[[Cell, Cell], bool],
) -> tuple[int, int]:
    """Count the pairs of comparable cells whose predicted order is the measured one.

    Also returns the number of these pairs. Pairs with predictions that differ by less
    than 1 % have no predicted order.
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
