# SPDX-License-Identifier: BSD-3-Clause
"""The results and the progress reports of simulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: Called with the work done and the total.
ReportProgress = Callable[[int, int], None]


def ignore_progress(_done: int, _all: int) -> None:
    """Report no progress."""


class BusyChannel(NamedTuple):
    """A channel, and the share of the time in which it was sending."""

    channel: str
    busy: float


class BusySwitch(NamedTuple):
    """A switch, named by its busiest output, and the share of its outputs sending."""

    output: str
    busy: float


class SimulationResult(NamedTuple):
    """Simulated times."""

    seconds: list[float]  # of each phase
    #: `busiest`, `busiest_switches`: over all phases, in descending order; empty if
    #: unknown.
    busiest: tuple[BusyChannel, ...] = ()
    busiest_switches: tuple[BusySwitch, ...] = ()
