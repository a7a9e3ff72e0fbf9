# SPDX-License-Identifier: BSD-3-Clause
"""Documents of factorial experiments."""

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
    """Change from the baseline run of the same repetition."""
    predicted_seconds: float | None
    """Predicted communication time of a run, in seconds; null without a prediction."""
    reason: str | None
    """Why a run failed; null if none did."""


class EffectDocument(TypedDict):
    """A main effect, or an interaction of two factors."""

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
    """0, or the exit status of the run that interrupted the study."""
    design: str
    """`full`, `half` or `one-at-a-time`."""
    factors: list[FactorDocument]
    """The factors."""
    cells: list[CellDocument]
    """The cells; the first is the baseline."""
    effects: list[EffectDocument]
    """Main effects; empty if they cannot be estimated."""
    interactions: list[EffectDocument]
    """Interactions of two factors; empty unless the design is full."""
    pairs_in_predicted_order: int
    """Number of pairs of cells in predicted order."""
    compared_pairs: int
    """Number of pairs of cells with a predicted order."""
