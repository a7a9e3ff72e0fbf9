# SPDX-License-Identifier: BSD-3-Clause
"""What a simulator finds, and how it reports what is done."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, cast

from topoloom._core import CommGraph, Machine
from topoloom.simulate import load_simulator, with_switch

#: Called with what is done so far, and with all that there is to do.
ReportProgress = Callable[[int, int], None]


def unwatched(_done: int, _all: int) -> None:
    """Report to nobody."""


class BusyChannel(NamedTuple):
    """A channel by name, and for what share of the time it was sending."""

    channel: str
    busy: float


class Simulated(NamedTuple):
    """What a simulator found.

    Attributes
    ----------
    seconds
        Of each phase.
    busiest
        Of all phases together, the busiest first; empty where that is not known.
    """

    seconds: list[float]
    busiest: tuple[BusyChannel, ...] = ()


class SimulatePlaced(Protocol):
    """Simulates as `topoloom.simulate.Simulate`, and reports messages as they are done.

    Returns what it found.
    """

    def __call__(
        self,
        machine: Machine,
        node_of_rank: Sequence[int],
        phases: Sequence[CommGraph],
        *,
        progress: ReportProgress = unwatched,
    ) -> Simulated:
        """Simulate; see the class."""


def placed_simulator(
    name: str, switch: str | None, machine: str | None = None
) -> SimulatePlaced:
    """Load a simulator with its switches, of a name or a file, or of a machine's file.

    Raises
    ------
    topoloom.Error
        If there is none of this name, or it knows no switches.
    """
    bound = with_switch(load_simulator(name), name, switch, machine)
    found = importlib.import_module(f"topoloom.simulate.{name}").simulate_placed
    return cast(SimulatePlaced, partial(found, **getattr(bound, "keywords", {})))
