# SPDX-License-Identifier: BSD-3-Clause
"""Number of channels of a node, from times of pairs that exchange at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.model.samples import Values

#: The slowdown above which pairs share a channel: the geometric mean of 1 and 2.
SLOWED = 2**0.5
#: The most that the total of c channels may be below c times that of one pair: this, or
#: this share of c if larger, but less than half of the step to the previous number.
#: One channel has 1.5 times the total with two pairs (C. Karlsson 2012, sec. 3.7).
SHORT, SHORT_SHARE = 0.25, 1 / 32
#: The most that pairs may lose with a second pair, for any number of them.
LOSS = 0.1
#: Standard errors by which a time must exceed the slowdown.
ERRORS = 2.0
#: Standard deviation of normal values whose median deviation is 1.
NORMAL_SIGMA = 1.4826
#: Standard error of the median of normal values, relative to that of the mean.
MEDIAN_ERROR = 1.2533


@dataclass(frozen=True)
class PairCurve:
    """Times of the slowest pair by the number of pairs that exchange at once."""

    size: int  # bytes of a message
    pairs: Values  # ascending, from 1 on
    seconds: Values  # of the slowest pair, one way; medians of samples
    sigma: Values  # of the samples, from their median deviation
    samples: NDArray[np.int64]

    @property
    def totals(self) -> Values:
        """Bytes per second of all pairs in one direction, if all are as slow."""
        return self.pairs * self.size / self.seconds

    @cached_property
    def monotone_seconds(self) -> Values:
        """Isotonic regression of the times by least absolute deviation."""
        blocks: list[list[float]] = []
        for value in self.seconds.tolist():
            blocks.append([value])
            while len(blocks) > 1 and _middle(blocks[-2]) > _middle(blocks[-1]):
                blocks[-2:] = [blocks[-2] + blocks[-1]]
        return np.concatenate([np.full(len(of), _middle(of)) for of in blocks])

    @property
    def node_bandwidth(self) -> float:
        """The largest total of any number of pairs, after `monotone_seconds`."""
        return float((self.pairs * self.size / self.monotone_seconds).max())

    @property
    def channels(self) -> int:
        """The largest measured number of pairs that do not slow each other down.

        With it and each smaller number, the slowest pair takes at most 1.41 times as
        long as one pair, or two standard errors more. Since c channels have c times the
        total of one (C. Karlsson 2012, sec. 3.7), some number of pairs must reach
        c - 1/4 or 31/32 c times that of one pair. The loss of the second measured
        number, at most a tenth, is compensated.
        """
        return int(self.pairs[self._end - 1])

    @property
    def most_channels(self) -> int | None:
        """One less than the next number of pairs; None if none was slowed down."""
        return None if self._end == len(self.pairs) else int(self.pairs[self._end]) - 1

    @cached_property
    def _end(self) -> int:
        steady, error = self.monotone_seconds, self._errors
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
    def _errors(self) -> Values:
        errors: Values = MEDIAN_ERROR * self.sigma / np.sqrt(self.samples)
        return errors

    def document(self) -> dict[str, Any]:
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
                    "slowest_s": seconds,
                    "sigma_s": sigma,
                    "bytes_per_second": total,
                }
                for pairs, samples, seconds, sigma, total in rows
            ],
        }


@dataclass(frozen=True)
class PairCurves:
    """Curves by pattern of the pairs; a single one may have no name."""

    by_pattern: dict[str, PairCurve]

    def document(self) -> dict[str, Any]:
        """Make the output of ``--json``."""
        if list(self.by_pattern) == [""]:
            return self.by_pattern[""].document()
        found = self.by_pattern.items()
        return {"patterns": {name: curve.document() for name, curve in found}}


def make_pair_curve(
    pairs: ArrayLike, times: ArrayLike, size: int, runs: ArrayLike | None = None
) -> PairCurve:
    """Make the curve of messages of `size` bytes.

    Parameters
    ----------
    pairs, times
        Number of pairs at once, and seconds from sender to receiver, of shape
        ``(samples,)``: of the slowest pair of a run, or of each pair.
    runs
        The run of each sample, if runs have several; the longest time of a run and
        number of pairs is used.

    Raises `topoloom.Error` if one pair, or more than one, was not measured.
    """
    given, seconds = np.asarray(pairs, float), np.asarray(times, float)
    if runs is not None:
        given, seconds = _slowest(given, seconds, np.asarray(runs))
    counts = np.unique(given)
    if len(counts) < 2 or counts[0] != 1:
        found = ", ".join(f"{count:.0f}" for count in counts)
        raise Error(f"one pair and several must be measured, but there are {found}")
    samples = [seconds[given == count] for count in counts]
    medians = np.array([np.median(of) for of in samples])
    apart = [
        np.median(np.abs(of - median))
        for of, median in zip(samples, medians, strict=True)
    ]
    numbers = np.array([len(of) for of in samples])
    return PairCurve(size, counts, medians, NORMAL_SIGMA * np.array(apart), numbers)


def _middle(values: list[float]) -> float:
    """Return the upper median, since times are rarely too short."""
    return sorted(values)[len(values) // 2]


def _slowest(
    pairs: Values, seconds: Values, runs: NDArray[Any]
) -> tuple[Values, Values]:
    """Keep the longest time of each run and number of pairs."""
    _, number = np.unique(runs, return_inverse=True)
    _, first, of = np.unique(
        np.column_stack([pairs, number]), axis=0, return_index=True, return_inverse=True
    )
    longest = np.zeros(len(first))
    np.maximum.at(longest, of.ravel(), seconds)
    return pairs[first], longest
