# SPDX-License-Identifier: BSD-3-Clause
"""Estimates a node's number of channels from the times of concurrent pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.model.samples import Values

if TYPE_CHECKING:
    from topoloom.documents.models import ChannelCurve, ChannelPatterns

#: Slowdown above which pairs share a channel: the geometric mean of 1 and 2.
SLOWED = 2**0.5
#: By how much the total bandwidth of c channels may fall short, in multiples of one
#: pair's bandwidth: `SHORT`, or c times `SHORT_SHARE` if larger, but at most half of
#: the step from the previous number of pairs. Two pairs on one channel reach 1.5 times
#: the bandwidth of one pair (C. Karlsson 2012, sec. 3.7).
SHORT, SHORT_SHARE = 0.25, 1 / 32
#: Largest relative slowdown by a second pair that `channels` compensates.
LOSS = 0.1
#: A time must exceed the limit by this number of standard errors.
ERRORS = 2.0
#: Standard deviation of a normal distribution whose median absolute deviation is 1.
NORMAL_SIGMA = 1.4826
#: Standard error of the median relative to that of the mean, for a normal distribution.
MEDIAN_ERROR = 1.2533


@dataclass(frozen=True)
class PairCurve:
    """The time of the slowest pair, by number of concurrent pairs."""

    size: int  # bytes per message
    pairs: Values  # numbers of pairs, ascending from 1
    seconds: Values  # one-way time of the slowest pair: median of samples
    sigma: Values  # standard deviation of the samples, from their MAD
    samples: NDArray[np.int64]

    @property
    def totals(self) -> Values:
        """One-way bytes per second of all pairs, if all are as slow as the slowest."""
        return self.pairs * self.size / self.seconds

    @cached_property
    def monotone_seconds(self) -> Values:
        """Isotonic regression of the times by least absolute deviation."""
        blocks: list[list[float]] = []
        for value in self.seconds.tolist():
            blocks.append([value])
            while len(blocks) > 1 and _upper_median(blocks[-2]) > _upper_median(
                blocks[-1]
            ):
                blocks[-2:] = [blocks[-2] + blocks[-1]]
        return np.concatenate([np.full(len(of), _upper_median(of)) for of in blocks])

    @property
    def node_bandwidth(self) -> float:
        """Total bandwidth of the best number of pairs, from `monotone_seconds`."""
        return float((self.pairs * self.size / self.monotone_seconds).max())

    @property
    def channels(self) -> int:
        """Largest measured number of pairs without mutual slowdown.

        Up to this number, the slowest pair takes at most 1.41 times as long as a single
        pair, or two standard errors more. Because c channels have c times the bandwidth
        of one (C. Karlsson 2012, sec. 3.7), some number of pairs must also reach c -
        1/4 or 31/32 c times the bandwidth of one pair. For this test, the slowdown at
        the second measured number is compensated, up to a tenth.
        """
        return int(self.pairs[self._slowed_index - 1])

    @property
    def most_channels(self) -> int | None:
        """Upper bound of the number of channels; None if no pairs were slowed down."""
        return (
            None
            if self._slowed_index == len(self.pairs)
            else int(self.pairs[self._slowed_index]) - 1
        )

    @cached_property
    def _slowed_index(self) -> int:
        steady, error = self.monotone_seconds, self._standard_errors
        excess = steady - SLOWED * steady[0]
        slowed = excess > ERRORS * np.hypot(error, SLOWED * error[0])
        most = self.node_bandwidth * float(steady[0]) / self.size
        most *= min(float(steady[1] / steady[0]), 1 + LOSS)
        halfway = np.diff(self.pairs, prepend=0) / 2
        short = np.maximum(SHORT, np.minimum(SHORT_SHARE * self.pairs, halfway))
        slowed |= self.pairs > most + short
        slowed[0] = False
        return int(np.argmax(slowed)) if slowed.any() else len(slowed)

    @property
    def _standard_errors(self) -> Values:
        errors: Values = MEDIAN_ERROR * self.sigma / np.sqrt(self.samples)
        return errors

    def document(self) -> ChannelCurve:
        """Make the output of ``--json``."""
        rows = zip(
            self.pairs.astype(int).tolist(),
            self.samples.tolist(),
            self.seconds.tolist(),
            self.sigma.tolist(),
            self.totals.tolist(),
            strict=True,
        )
        return {
            "channels": self.channels,
            "channels_at_most": self.most_channels,
            "node_bandwidth": self.node_bandwidth,
            "totals": [
                {
                    "pairs": pairs,
                    "samples": samples,
                    "slowest_seconds": seconds,
                    "sigma_seconds": sigma,
                    "bytes_per_second": total,
                }
                for pairs, samples, seconds, sigma, total in rows
            ],
        }


@dataclass(frozen=True)
class PairCurves:
    """Curves by pattern of the pairs; the name of a single curve can be empty."""

    by_pattern: dict[str, PairCurve]

    def document(self) -> ChannelCurve | ChannelPatterns:
        """Make the output of ``--json``."""
        if list(self.by_pattern) == [""]:
            return self.by_pattern[""].document()
        found = self.by_pattern.items()
        return {"patterns": {name: curve.document() for name, curve in found}}


def make_pair_curve(
    pairs: ArrayLike, times: ArrayLike, size: int, runs: ArrayLike | None = None
) -> PairCurve:
    """Make the curve for messages of `size` bytes.

    Parameters
    ----------
    pairs, times
        Number of concurrent pairs, and one-way seconds: either of each pair or only of
        the slowest pair of a run; shape ``(samples,)``.
    runs
        Identifies the run of each sample if a run has several; for each run and number
        of pairs, the longest time is used.

    Raises `topoloom.Error` unless one pair and several pairs were measured.
    """
    given, seconds = np.asarray(pairs, float), np.asarray(times, float)
    if runs is not None:
        given, seconds = _select_slowest(given, seconds, np.asarray(runs))
    counts = np.unique(given)
    if len(counts) < 2 or counts[0] != 1:
        found = ", ".join(f"{count:.0f}" for count in counts)
        raise Error(f"one pair and several must be measured, but there are {found}")
    samples = [seconds[given == count] for count in counts]
    medians = np.array([np.median(of) for of in samples])
    deviations = [
        np.median(np.abs(of - median))
        for of, median in zip(samples, medians, strict=True)
    ]
    numbers = np.array([len(of) for of in samples])
    return PairCurve(
        size, counts, medians, NORMAL_SIGMA * np.array(deviations), numbers
    )


def _upper_median(values: list[float]) -> float:
    """Return the upper median, because measured times are rarely too short."""
    return sorted(values)[len(values) // 2]


def _select_slowest(
    pairs: Values, seconds: Values, runs: NDArray[Any]
) -> tuple[Values, Values]:
    """Return the longest time per run and number of pairs."""
    _, number = np.unique(runs, return_inverse=True)
    _, first, of = np.unique(
        np.column_stack([pairs, number]), axis=0, return_index=True, return_inverse=True
    )
    longest = np.zeros(len(first))
    np.maximum.at(longest, of.ravel(), seconds)
    return pairs[first], longest
