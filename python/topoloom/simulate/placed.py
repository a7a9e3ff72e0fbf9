# SPDX-License-Identifier: BSD-3-Clause
"""Simulators that report progress, and say more than times."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Protocol, cast

from topoloom._core import CommGraph, Machine
from topoloom.simulate import load_simulator, with_switch
from topoloom.simulate.simulated import ReportProgress, Simulated, unwatched


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
