# SPDX-License-Identifier: BSD-3-Clause
"""Types for the results and the progress of simulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: Called with the completed work and the total work.
ReportProgress = Callable[[int, int], None]


def ignore_progress(_done: int, _all: int) -> None:
    """Ignore progress reports."""


class BusyChannel(NamedTuple):
    """A channel, and the fraction of time in which it was sending."""

    channel: str
    busy: float


class BusySwitch(NamedTuple):
    """A switch, named by its busiest output; mean busy fraction of all its outputs."""

    output: str
    busy: float


class SimulationResult(NamedTuple):
    """Simulated seconds per phase, and the busiest channels and switches."""

    seconds: list[float]  # per phase
    #: Busiest channels and switches over all phases, busiest first; empty if unknown.
    busiest: tuple[BusyChannel, ...] = ()
    busiest_switches: tuple[BusySwitch, ...] = ()
