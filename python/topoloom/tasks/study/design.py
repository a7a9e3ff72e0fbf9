# SPDX-License-Identifier: BSD-3-Clause
"""Designs of a study: which combinations of levels are run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.tasks.study.factors import Factor, Level, Settings, find_repeated

FULL, HALF, ONE_AT_A_TIME = DESIGNS = ("full", "half", "one-at-a-time")
#: With fewer factors, a half confounds main effects with two-factor interactions.
_MIN_FACTORS_OF_HALF = 4
#: More than any study has; a few bytes of text can state any number.
_MAX_CELLS = 10_000


class Cell(NamedTuple):
    """A combination of levels: the index of one level for each factor."""

    indices: tuple[int, ...]
    levels: tuple[Level, ...]

    @property
    def name(self) -> str:
        """The levels, separated by commas."""
        return ", ".join(level.name for level in self.levels)

    def merge_settings(self) -> Settings:
        """Merge the settings of all levels; raise an error if two set the same one."""
        merged = Settings()
        for level in self.levels:
            merged = _merge(merged, level, self.name)
        return merged


def _merge(merged: Settings, level: Level, name: str) -> Settings:
    changed: dict[str, Any] = {}
    for key in ("mapper", "collectives", "machine", "allocation"):
        value = getattr(level.settings, key)
        if value is None:
            continue
        if getattr(merged, key) is not None:
            raise Error(f"two factors set the {key} of the cell '{name}'")
        changed[key] = value
    for key, value in level.settings.environment.items():
        if merged.environment.get(key, value) != value:
            raise Error(f"two factors set the variable {key} of the cell '{name}'")
    return merged._replace(
        arguments=(*merged.arguments, *level.settings.arguments),
        environment={**merged.environment, **level.settings.environment},
        **changed,
    )


def list_cells(factors: Sequence[Factor], design: str) -> list[Cell]:
    """List the cells of a design, the baseline first.

    ``full`` has all combinations, ``one-at-a-time`` the baseline and each other level
    alone. ``half`` has the combinations of two-level factors in which an even number of
    factors is at its second level: a fraction of resolution IV or higher (Box, Hunter
    and Hunter, Statistics for Experimenters, 2005, chapter 6).

    Raises
    ------
    topoloom.Error
        If the design is unknown or impossible or has more than 10,000 cells, or two
        levels set the same setting.
    """
    if design not in DESIGNS:
        raise Error(f"there is no design '{design}'; designs are {', '.join(DESIGNS)}")
    twice = find_repeated([factor.name for factor in factors])
    if twice is not None:
        raise Error(f"the factor '{twice}' is given twice")
    if design == HALF:
        _check_half(factors)
    _check_count([len(factor.levels) for factor in factors], design)
    chosen = [
        Cell(indices, tuple(f.levels[i] for f, i in zip(factors, indices, strict=True)))
        for indices in _list_indices([len(factor.levels) for factor in factors], design)
    ]
    names: set[str] = set()
    for cell in chosen:
        if cell.name in names:
            raise Error(
                f"two cells have the name '{cell.name}': rename a level that contains "
                "a comma"
            )
        names.add(cell.name)
        cell.merge_settings()
    return chosen


def _check_count(levels: Sequence[int], design: str) -> None:
    logs = sum(map(math.log, levels)) - (math.log(2) if design == HALF else 0)
    if design == ONE_AT_A_TIME:
        logs = math.log(1 + sum(levels) - len(levels))
    if logs > math.log(_MAX_CELLS) + 1e-9:  # the product can have many digits
        raise Error(
            f"the design has more than {_MAX_CELLS:,} cells; use the design "
            f"{ONE_AT_A_TIME}, or fewer factors or levels"
        )


def _list_indices(levels: Sequence[int], design: str) -> Iterator[tuple[int, ...]]:
    """Yield the indices of the levels of each cell, the baseline first."""
    if design != ONE_AT_A_TIME:
        for indices in product(*map(range, levels)):
            if design == FULL or sum(indices) % 2 == 0:
                yield indices
        return
    baseline = (0,) * len(levels)
    yield baseline
    for number in reversed(range(len(levels))):
        for index in range(1, levels[number]):
            yield (*baseline[:number], index, *baseline[number + 1 :])


def _check_half(factors: Sequence[Factor]) -> None:
    for factor in factors:
        if len(factor.levels) != 2:
            raise Error(
                f"the factor '{factor.name}' has {len(factor.levels)} levels; a half "
                "needs two levels of each; use the full design"
            )
    if len(factors) < _MIN_FACTORS_OF_HALF:
        raise Error(
            f"a half of {len(factors)} factors confounds effects with interactions; "
            f"use the full design, or {_MIN_FACTORS_OF_HALF} factors or more"
        )
