# SPDX-License-Identifier: BSD-3-Clause
"""How much a probe measures, and its time limit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from topoloom.probe.job.samples import Order
from topoloom.support.units import parse_bytes

#: Maximum seconds that the samples of a pair at one size may take.
_SECONDS = 1.0
#: Minimal number of samples of a pair in the scan. Its intervals may be wider by the
#: second factor, because comparable pairs are averaged.
_FEWEST, _WIDER = 3, 2
#: Relative tolerance within which samples are equal, as they are in simulated time.
_EXACT = 0.001
#: Half width of a 95 % interval in standard errors.
_ERRORS = 1.96
_MAX_BYTES = parse_bytes("4 MiB")


@dataclass(frozen=True)
class Effort:
    """The extent of a measurement."""

    seconds: float  # time limit
    #: `least`, `most`: limits on the number of samples of a pair at one size.
    least: int
    most: int
    #: A pair has enough samples if the 95 % confidence interval of its median has this
    #: relative half width.
    width: float
    #: Minimal difference between log times across and inside groups at which groups of
    #: two ranks must be found.
    apart: float
    pairs: int  # number of representative pairs per level
    sizes: Sequence[int]  # message sizes in bytes, ascending from 1
    #: Minimal number of rounds of long messages, in which each rank of a group has a
    #: partner.
    rounds: int
    long_pairs: int  # number of pairs that exchange long messages in additional rounds
    meetings: int  # number of pairs in rounds that search for shared links


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
    """Build the order to sample until intervals are narrower by a factor."""
    most = round(effort.most * narrower**2)
    width = effort.width / narrower
    return Order("sampling", rest=f"{effort.least} {most} {width:g} {_SECONDS:g}")


def make_scan_order(effort: Effort) -> Order:
    """Build the order that sets the precision of the scan: few samples per pair."""
    width = _ERRORS * compute_scan_error(effort)
    rest = f"{_FEWEST} {effort.most} {width:g} {_SECONDS:g} {_EXACT:g}"
    return Order("sampling", rest=rest)


def compute_scan_error(effort: Effort) -> float:
    """Compute the relative standard error of the scan's medians."""
    return _WIDER * effort.width / _ERRORS


def make_error_order(effort: Effort, error: float) -> Order:
    """Build the order that sets a target standard error for medians."""
    width = _ERRORS * error
    most = round(effort.most * max(1.0, effort.width / width) ** 2)
    return Order("sampling", rest=f"{_FEWEST} {most} {width:.3g} {_SECONDS:g}")


def make_count_order(count: int) -> Order:
    """Build the order that sets a number of samples."""
    return Order("sampling", rest=f"{count} {count} 1 {_SECONDS:g}")


@dataclass
class Clock:
    """A time limit in seconds, measured by this host's clock."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Seconds since the clock started."""
        return time.monotonic() - self.began

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until `share` of the limit has passed, at least 0."""
        return max(0.0, self.seconds * share - self.spent)

    def until(self, spent: float, share: float = 1.0) -> Clock:
        """Return a clock that ends after a share of the time from now until `spent`."""
        return Clock(self.spent + share * (spent - self.spent), self.began)


def choose_window(size: int, most: int = 16, bytes_at_once: int = 1 << 22) -> int:
    """Choose the number of messages per burst: fewer if long, but two or more."""
    return max(2, min(most, bytes_at_once // max(size, 1)))


def format_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    """Format pairs of ranks for an order."""
    return " ".join(f"{first}-{second}" for first, second in pairs)
