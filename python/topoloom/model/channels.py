# SPDX-License-Identifier: BSD-3-Clause
"""How many messages a node carries at once as fast as one, from pairs that exchange."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from topoloom._core import Error
from topoloom.model.samples import Values


@dataclass(frozen=True)
class PairCurve:
    """Bytes a second that so many pairs exchange in all, in one direction."""

    pairs: Values
    totals: Values

    @property
    def node_bandwidth(self) -> float:
        """What many pairs reach: the median of the upper half of the curve."""
        return float(np.median(self.totals[self.pairs > self.pairs[-1] / 2]))

    @property
    def channels(self) -> int:
        """That of many pairs over that of one, rounded, but 1 or more.

        L. Karlsson (2012, sec. 3.7) reads the same off the curve: a single channel
        still carries half as much again, c channels c times as much.
        """
        return max(1, round(self.node_bandwidth / float(self.totals[0])))


def pair_curve(pairs: ArrayLike, times: ArrayLike, size: int) -> PairCurve:
    """Make the curve of messages of `size` bytes; medians of several samples.

    Parameters
    ----------
    pairs, times
        Pairs that exchanged at once, and seconds from sender to receiver, of shape
        ``(samples,)``.

    Raises
    ------
    topoloom.Error
        If one pair alone, or more than one, was not measured.
    """
    given, seconds = np.asarray(pairs, float), np.asarray(times, float)
    counts = np.unique(given)
    if counts[0] != 1 or len(counts) < 2:
        found = ", ".join(f"{count:.0f}" for count in counts)
        raise Error(f"one pair and several must be measured, but there are {found}")
    medians = np.array([np.median(seconds[given == count]) for count in counts])
    return PairCurve(counts, counts * size / medians)
