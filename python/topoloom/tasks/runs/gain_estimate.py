# SPDX-License-Identifier: BSD-3-Clause
"""Estimates from wall times of runs what placement has gained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.support.optional_imports import import_optional
from topoloom.support.units import counted

if TYPE_CHECKING:
    from topoloom.documents.runs import ChangeDocument, GainEstimate

#: Runs of each kind below which no interval is computed: with fewer, the bootstrap of a
#: median covers the true value in much less than 95 of 100 cases.
MIN_RUNS = 5
#: Pairs below which no interval is computed: the interval of a median of fewer values
#: cannot have a confidence of 95 %.
MIN_PAIRS = 6
_RESAMPLES = 9999
_CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """The change of the median wall time by placement, in percent.

    `change`, `low` and `high` (the 95 % interval) are None without enough runs.
    """

    placed: int
    unplaced: int
    change: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes that placement changes nothing."""
        return (
            self.low is not None
            and self.high is not None
            and (self.high < 0 or self.low > 0)
        )

    def sentence(self) -> str:
        """Say what placement has gained."""
        counts = (
            f"placed {_times(self.placed)} against {_runs(self.unplaced)} in launcher "
            "order"
        )
        if self.change is None or self.low is None or self.high is None:
            return f"{counts}: not enough runs"
        interval = f"{self.change:+.1f} % (95 % interval {self.low:+.1f} to "
        interval += f"{self.high:+.1f} %)"
        if not self.is_significant:
            return f"{counts}: {interval}, which may be chance"
        return f"{counts}: {interval}"

    def document(self) -> GainEstimate:
        """Return the fields of the ``--json`` output."""
        return {
            "placed": self.placed,
            "unplaced": self.unplaced,
            "change_percent": self.change,
            "low_percent": self.low,
            "high_percent": self.high,
        }


class Change(NamedTuple):
    """Median change in percent over pairs of runs, with its 95 % interval.

    `change`, `low` and `high` are None without enough pairs.
    """

    pairs: int
    change: float | None = None
    low: float | None = None
    high: float | None = None

    def sentence(self, cause: str = "placement") -> str:
        """Say how much `cause` changes, or that it may be chance."""
        pairs = counted(self.pairs, "pair")
        if self.change is None or self.low is None or self.high is None:
            return f"not enough runs: {pairs}, but {MIN_PAIRS} are needed"
        text = (
            f"{self.change:+.1f} % by {cause} (95 % interval {self.low:+.1f} to "
            f"{self.high:+.1f} %, {pairs})"
        )
        if self.low > 0 or self.high < 0:
            return text
        return f"no difference beyond chance: {text}"

    def document(self) -> ChangeDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "pairs": self.pairs,
            "change_percent": self.change,
            "low_percent": self.low,
            "high_percent": self.high,
        }


def estimate_gain(records: Iterable[dict[str, Any]]) -> Estimate:
    """Compare the wall times of placed runs with those in launcher order.

    Only runs that ended with status 0, and not by a signal, are compared. The interval
    is that of the ratio of medians, from the bootstrap.

    Raises `topoloom.Error` if there are enough runs, but no SciPy.
    """
    placed: list[float] = []
    unplaced: list[float] = []
    for record in records:
        seconds = record.get("wall_seconds")
        if is_complete(record) and seconds:
            (placed if record.get("kind") == "placed" else unplaced).append(seconds)
    return compare_times(placed, unplaced)


def is_complete(record: Mapping[str, Any]) -> bool:
    """Return whether a run succeeded, and no signal ended it.

    Hydra can return 0 after it has killed its ranks.
    """
    return record.get("exit_status") == 0 and not record.get("interrupted")


def compare_times(placed: Sequence[float], unplaced: Sequence[float]) -> Estimate:
    """Compare the medians of two lists of times."""
    counts = len(placed), len(unplaced)
    if min(counts) < MIN_RUNS:
        return Estimate(*counts)
    after, before = np.array(placed), np.array(unplaced)
    change = float(_change(after, before))
    if np.ptp(after) == 0 and np.ptp(before) == 0:
        return Estimate(*counts, change, change, change)
    low, high = _bootstrap((after, before), _change)
    return Estimate(*counts, change, low, high)


def estimate_paired_change(times: Sequence[tuple[float, float]]) -> Change:
    """Estimate the median change from the first to the second time of each pair.

    Raises `topoloom.Error` if there are enough pairs, but no SciPy.
    """
    return estimate_change(
        [100 * (after / before - 1) for before, after in times if before > 0]
    )


def estimate_change(changes: Sequence[float]) -> Change:
    """Estimate the median of independent changes in percent.

    Raises `topoloom.Error` if there are enough changes, but no SciPy.
    """
    if len(changes) < MIN_PAIRS:
        return Change(len(changes))
    return Change(len(changes), *estimate_median(changes))


def estimate_median(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of `MIN_PAIRS` values or more, and its 95 % interval."""
    sample = np.array(values)
    median = float(np.median(sample))
    if np.ptp(sample) == 0:
        return median, median, median
    return median, *_bootstrap((sample,), np.median)


def _bootstrap(
    samples: Sequence[NDArray[np.float64]], statistic: Callable[..., Any]
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of independent samples.

    Percentile intervals of few values are too narrow. They are expanded by Hesterberg,
    What Teachers Should Know About the Bootstrap, The American Statistician 69 (2015).
    """
    stats = import_optional("scipy.stats", "comparing run times")
    count = min(map(len, samples))
    quantile = stats.t.ppf((1 + _CONFIDENCE) / 2, count - 1)
    level = 2 * stats.norm.cdf(quantile * math.sqrt(count / (count - 1))) - 1
    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=_RESAMPLES,
        confidence_level=level,
        method="percentile",
        vectorized=True,
        random_state=1,
    ).confidence_interval
    return float(found.low), float(found.high)


def _change(
    after: NDArray[np.float64], before: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    ratio = np.median(after, axis=axis) / np.median(before, axis=axis)
    changes: NDArray[np.float64] = 100 * (ratio - 1)
    return changes


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"
