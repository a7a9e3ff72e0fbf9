# SPDX-License-Identifier: BSD-3-Clause
"""What a simulator finds, and how it reports what is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: Called with what is done so far, and with all that there is to do.
ReportProgress = Callable[[int, int], None]


def unwatched(_done: int, _all: int) -> None:
    """Report to nobody."""


class BusyChannel(NamedTuple):
    """A channel by name, and for what share of the time it was sending."""

    channel: str
    busy: float


class BusySwitch(NamedTuple):
    """A switch by its busiest output, and what share of its outputs was sending."""

    output: str
    busy: float


class Simulated(NamedTuple):
    """What a simulator found.

    Attributes
    ----------
    seconds
        Of each phase.
    busiest, busiest_switches
        Of all phases together, the busiest first; empty where that is not known.
    """

    seconds: list[float]
    busiest: tuple[BusyChannel, ...] = ()
    busiest_switches: tuple[BusySwitch, ...] = ()
