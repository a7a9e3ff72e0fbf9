# SPDX-License-Identifier: BSD-3-Clause
"""Network simulators, which predict the time that messages take.

A simulator is a file here with a function `simulate`, of the type `Simulate`, and a
line in `SIMULATORS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Protocol, cast

from topoloom._core import CommGraph, Error, Machine, OperationGraph
from topoloom.simulate.simulated import ReportProgress, Simulated, unwatched
from topoloom.support.nearest import unknown_name

#: name -> what it is
SIMULATORS = {
    "simgrid": "SMPI of SimGrid: messages are flows that share links fairly",
    "switches": "our own: packets wait in buffers of switches",
}


class Simulate(Protocol):
    """Simulates phases one after the other.

    Parameters
    ----------
    machine
        What the messages cross, and how fast.
    node_of_rank
        Where the ranks are.
    phases
        What is sent, all ranks in each. Where a rank has several messages for another,
        there are as many rounds, one message of each pair in each.
    progress
        Called with what is done so far, and with all that there is to do.

    Returns
    -------
    Simulated
        Seconds from the first to the last message of each phase, and what else is
        known.

    Raises
    ------
    topoloom.Error
        If the simulator is not installed, fails, or cannot describe the machine.
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


def load_simulator(name: str) -> Simulate:
    """Import a simulator.

    Raises
    ------
    topoloom.Error
        If there is none of this name.
    """
    if name not in SIMULATORS:
        raise Error(unknown_name("simulator", name, SIMULATORS))
    module = importlib.import_module(f"{__name__}.{name}")
    return cast(Simulate, module.simulate)


def with_switch(
    simulate: Simulate,
    name: str,
    switch: str | None,
    machine: str | None = None,
    operations: OperationGraph | None = None,
) -> Simulate:
    """Give the simulator its switches: of a name or a file, or of a machine's file.

    Switches play `operations`, each when what it waits for is done, where there are
    any; other simulators send all messages of a phase at once.

    Raises
    ------
    topoloom.Error
        If it knows no switches, or there are none of this name.
    """
    if name != "switches":
        if switch is not None:
            raise Error(f"{name} does not simulate switches, such as '{switch}'")
        return simulate
    from topoloom.simulate import switches
    from topoloom.simulate.switch_toml import switch_of

    how = switch_of(switch, machine)
    if operations is None:
        return partial(switches.simulate, switch=how)

    def play(
        machine: Machine,
        node_of_rank: Sequence[int],
        phases: Sequence[CommGraph],
        *,
        progress: ReportProgress = unwatched,
    ) -> Simulated:
        del phases  # which say the same, but nothing of what waits for what
        return switches.play(machine, node_of_rank, operations, how, progress=progress)

    return play
