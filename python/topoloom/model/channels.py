# SPDX-License-Identifier: BSD-3-Clause
"""How many messages of a node travel at once as fast as one, from exchanging pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.model.samples import Values

#: Times as long as one pair alone above which pairs have slowed each other down: midway
#: between as long and twice as long.
SLOWED = 2**0.5
#: How far the total of c channels may fall short of c times that of one pair: this, or
#: this share of c if that is more, but not halfway to the number of pairs before.
#: One channel carries half as much again with two pairs (C. Karlsson 2012, sec. 3.7).
SHORT, SHORT_SHARE = 0.25, 1 / 32
#: What pairs may lose as soon as there is another, however many there are.
LOSS = 0.1
#: Standard errors by which a time must exceed that.
ERRORS = 2.0
#: Standard deviation of normal values whose median deviation is 1.
NORMAL_SIGMA = 1.4826
#: Standard error of the median of normal values, in those of their mean.
MEDIAN_ERROR = 1.2533


@dataclass(frozen=True)
class PairCurve:
    """How long the slowest of pairs takes that exchange messages at once."""

    size: int  # bytes of a message
    pairs: Values  # ascending, from 1 on
    seconds: Values  # of the slowest pair one way, the median of all samples
    sigma: Values  # of the samples, from their median deviation
    samples: NDArray[np.int64]

    @property
    def totals(self) -> Values:
        """Bytes per second of all pairs in one direction, if all take as long."""
        return self.pairs * self.size / self.seconds

    @cached_property
    def steady_seconds(self) -> Values:
        """The times if more pairs are never faster: isotonic, by least deviation."""
        blocks: list[list[float]] = []
        for value in self.seconds.tolist():
            blocks.append([value])
            while len(blocks) > 1 and _middle(blocks[-2]) > _middle(blocks[-1]):
                blocks[-2:] = [blocks[-2] + blocks[-1]]
        return np.concatenate([np.full(len(of), _middle(of)) for of in blocks])

    @property
    def node_bandwidth(self) -> float:
        """The most that any number of pairs exchanged, after `steady_seconds`."""
        return float((self.pairs * self.size / self.steady_seconds).max())

    @property
    def channels(self) -> int:
        """The largest measured number of pairs that do not slow each other down.

        With it, and with every smaller number that was measured, the slowest pair takes
        at most 1.41 times as long as one pair alone, or longer only by less than two
        standard errors. And c channels carry c times as much as one (C. Karlsson 2012,
        sec. 3.7): some number of pairs exchanges c - 1/4 times what one does, or
        31/32 c, after what the second number lost was given back, a tenth at most.
        """
        return int(self.pairs[self._end - 1])

    @property
    def most_channels(self) -> int | None:
        """One less than the next number of pairs; None if none was slowed down."""
        return None if self._end == len(self.pairs) else int(self.pairs[self._end]) - 1

    @cached_property
    def _end(self) -> int:
        steady, error = self.steady_seconds, self._errors
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
        """Make what ``--json`` prints."""
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
    """Curves by what the pairs have in common; a single one may have no name."""

    by_pattern: dict[str, PairCurve]

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        if list(self.by_pattern) == [""]:
            return self.by_pattern[""].document()
        found = self.by_pattern.items()
        return {"patterns": {name: curve.document() for name, curve in found}}


def pair_curve(
    pairs: ArrayLike, times: ArrayLike, size: int, runs: ArrayLike | None = None
) -> PairCurve:
    """Make the curve of messages of `size` bytes.

    Parameters
    ----------
    pairs, times
        Pairs that exchanged at once, and seconds from sender to receiver, of shape
        ``(samples,)``: of the slowest pair of a run, or of each of its pairs.
    runs
        Which run each was measured in, if there are several times of a run; the
        longest of those with the same number of pairs counts.

    Raises
    ------
    topoloom.Error
        If one pair alone, or more than one, was not measured.
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
    """Return the median, of two the longer, since a time is rarely too short."""
    return sorted(values)[len(values) // 2]


def _slowest(
    pairs: Values, seconds: Values, runs: NDArray[Any]
) -> tuple[Values, Values]:
    """Keep the longest time of every run of every number of pairs."""
    _, number = np.unique(runs, return_inverse=True)
    _, first, of = np.unique(
        np.column_stack([pairs, number]), axis=0, return_index=True, return_inverse=True
    )
    longest = np.zeros(len(first))
    np.maximum.at(longest, of.ravel(), seconds)
    return pairs[first], longest
