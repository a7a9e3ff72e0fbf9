# SPDX-License-Identifier: BSD-3-Clause
"""How much a probe measures, and how long it may take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from topoloom.probe.job.samples import Order
from topoloom.support.units import parse_bytes

#: Seconds after which a pair takes no more samples of one size.
_SECONDS = 1.0
#: Samples of a pair of the scan, at least, and how many times as wide its intervals may
#: be: pairs that are alike say together how long they take.
_FEWEST, _WIDER = 3, 2
#: Samples that differ by less, as a part of them, are the same: as in simulated time.
_EXACT = 0.001
#: Intervals of 95 % in standard errors, to both sides.
_ERRORS = 1.96
_MAX_BYTES = parse_bytes("4 MiB")


@dataclass(frozen=True)
class Effort:
    """What is measured.

    Attributes
    ----------
    seconds
        After which no more is asked.
    least, most
        Samples of a pair at one size.
    width
        Half of the 95 % confidence interval of the median, as a part of it, at which a
        pair has samples enough.
    apart
        By how much the logarithms of times across groups exceed those inside at least,
        so that groups of two are found.
    pairs
        Pairs of ranks on behalf of all that are alike.
    sizes
        Bytes of messages, ascending from 1.
    rounds
        In which every rank of a group exchanges long messages with another one, at
        least.
    long_pairs
        Pairs that do so in more rounds.
    meetings
        Pairs that exchange long messages in rounds, so that shared links show.
    """

    seconds: float
    least: int
    most: int
    width: float
    apart: float
    pairs: int
    sizes: Sequence[int]
    rounds: int
    long_pairs: int
    meetings: int


def _list_powers(base: int) -> list[int]:
    sizes = [1]
    while sizes[-1] * base <= _MAX_BYTES:
        sizes.append(sizes[-1] * base)
    return sizes


_TWOS = _list_powers(2)
_BETWEEN = [3 * size // 2 for size in _TWOS[1:-1]]

EFFORTS = {
    "quick": Effort(60, 3, 20, 0.1, 0.1, 1, _list_powers(4), 3, 0, 1 << 12),
    "default": Effort(600, 5, 100, 0.05, 0.085, 2, _TWOS, 6, 2048, 1 << 18),
    "thorough": Effort(
        *(3600, 10, 1000, 0.02, 0.05, 4, sorted([*_TWOS, *_BETWEEN])),
        *(16, 1 << 16, 1 << 21),
    ),
}


def make_sampling_order(effort: Effort, narrower: float = 1) -> Order:
    """Ask for samples until intervals are `narrower` times as narrow."""
    most = round(effort.most * narrower**2)
    width = effort.width / narrower
    return Order("sampling", rest=f"{effort.least} {most} {width:g} {_SECONDS:g}")


def make_scan_order(effort: Effort) -> Order:
    """Ask for few samples of all pairs."""
    width = _ERRORS * compute_scan_error(effort)
    rest = f"{_FEWEST} {effort.most} {width:g} {_SECONDS:g} {_EXACT:g}"
    return Order("sampling", rest=rest)


def compute_scan_error(effort: Effort) -> float:
    """Return the standard error of medians of the scan, as a part of them."""
    return _WIDER * effort.width / _ERRORS


def make_error_order(effort: Effort, error: float) -> Order:
    """Ask for few samples, until the standard error of their median is small enough."""
    width = _ERRORS * error
    most = round(effort.most * max(1.0, effort.width / width) ** 2)
    return Order("sampling", rest=f"{_FEWEST} {most} {width:.3g} {_SECONDS:g}")


def make_count_order(count: int) -> Order:
    """Ask for a number of samples."""
    return Order("sampling", rest=f"{count} {count} 1 {_SECONDS:g}")


@dataclass
class Clock:
    """Time that is left, in seconds of this host."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    def left(self, share: float = 1.0) -> float:
        """Return what is left until a share of all has passed; not below 0."""
        return max(0.0, self.seconds * share - self.spent)

    def until(self, spent: float, share: float = 1.0) -> Clock:
        """Return a clock that ends when a share of the time until then has passed."""
        return Clock(self.spent + share * (spent - self.spent), self.began)


def choose_window(size: int, most: int = 16, bytes_at_once: int = 1 << 22) -> int:
    """Return how many messages a burst has: fewer of long ones, but two."""
    return max(2, min(most, bytes_at_once // max(size, 1)))


def format_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    """Write pairs as orders have them."""
    return " ".join(f"{first}-{second}" for first, second in pairs)
