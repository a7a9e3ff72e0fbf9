# SPDX-License-Identifier: BSD-3-Clause
"""How many messages of a node travel at once as fast as one, from exchanging pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from topoloom._core import Error
from topoloom.model.samples import Values


@dataclass(frozen=True)
class PairCurve:
    """Bytes per second, in one direction, of all pairs that exchange at once."""

    pairs: Values
    totals: Values

    @property
    def node_bandwidth(self) -> float:
        """The most that any number of pairs exchanged."""
        return float(self.totals.max())

    @property
    def channels(self) -> int:
        """That over what one pair exchanged, rounded.

        A single channel carries half as much again with several pairs as with one, and
        c channels carry c times as much (C. Karlsson 2012, sec. 3.7); so below 1.75
        there is one.
        """
        times = self.node_bandwidth / float(self.totals[0])
        return 1 if times < 1.75 else round(times)

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        totals = zip(self.pairs.astype(int).tolist(), self.totals.tolist(), strict=True)
        return {
            "channels": self.channels,
            "node_bandwidth": self.node_bandwidth,
            "totals": [{"pairs": p, "bytes_per_second": t} for p, t in totals],
        }


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
