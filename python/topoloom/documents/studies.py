# SPDX-License-Identifier: BSD-3-Clause
"""Documents about factorial experiments."""

from __future__ import annotations

from typing_extensions import TypedDict

from topoloom.documents.runs import ChangeDocument


class FactorDocument(TypedDict):
    """A factor of a study."""

    name: str
    """Name of the factor."""
    levels: list[str]
    """Its levels; the first is the baseline."""


class CellDocument(TypedDict):
    """A combination of levels, and its times."""

    levels: list[str]
    """One level of each factor."""
    seconds: list[float]
    """Time of each run, in seconds."""
    median: float | None
    """Median time in seconds; null without a run."""
    change: ChangeDocument
    """Change from the baseline; its pairs are runs of one repetition."""
    predicted_seconds: float | None
    """Predicted seconds of communication of a run; null if the model cannot predict."""
    why_not: str | None
    """Why a run has no time; null if all have one."""


class EffectDocument(TypedDict):
    """The change of the time by a level, or by two levels together."""

    factors: list[str]
    """The factor, or both factors of an interaction."""
    levels: list[str]
    """The level of each factor."""
    change_percent: float | None
    """Change in percent; null if there are not enough runs."""
    low_percent: float | None
    """Lower end of the 95 % interval; null if there are not enough runs."""
    high_percent: float | None
    """Upper end of the 95 % interval; null if there are not enough runs."""


class StudyDocument(TypedDict):
    """A factorial experiment."""

    exit_status: int
    """0, or the exit status of the run that ended the study."""
    design: str
    """`full`, `half` or `one-at-a-time`."""
    factors: list[FactorDocument]
    """The factors."""
    cells: list[CellDocument]
    """The cells; the first is the baseline."""
    effects: list[EffectDocument]
    """Mean change by each level; empty if it cannot be estimated."""
    interactions: list[EffectDocument]
    """How much more two levels change together; only in a full design."""
    right_orders: int
    """Pairs of cells whose predicted order is the measured one."""
    ordered_pairs: int
    """Pairs of cells with a predicted order."""
