# SPDX-License-Identifier: BSD-3-Clause
"""Network simulators, which predict the time of messages.

A simulator is a module here with a function `simulate` of the type `Simulator`, and a
line in `SIMULATORS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Protocol, cast

from topoloom._core import CommGraph, Error, Machine, OperationGraph
from topoloom.simulate.result import ReportProgress, SimulationResult, ignore_progress
from topoloom.support.nearest import unknown_name

#: name -> summary
SIMULATORS = {
    "simgrid": "SMPI of SimGrid: messages are flows that share links fairly",
    "switches": "our own: packets wait in buffers of switches",
}


class Simulator(Protocol):
    """Simulates phases one after another.

    Parameters
    ----------
    machine
        With links and bandwidths.
    node_of_rank
        The node of each rank.
    phases
        One graph of all ranks per phase. Several messages of a pair are sent in as many
        rounds, one message of each pair per round.
    progress
        Called with the work done and the total.

    Returns
    -------
    SimulationResult
        Seconds from the first to the last message of each phase, and the busiest
        channels if known.

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
        progress: ReportProgress = ignore_progress,
    ) -> SimulationResult:
        """Simulate; see the class."""


def load_simulator(name: str) -> Simulator:
    """Import a simulator.

    Raises `topoloom.Error` if there is no simulator of this name.
    """
    if name not in SIMULATORS:
        raise Error(unknown_name("simulator", name, SIMULATORS))
    module = importlib.import_module(f"{__name__}.{name}")
    return cast(Simulator, module.simulate)


def bind_switch(
    simulate: Simulator,
    name: str,
    switch: str | None,
    machine: str | None = None,
    operations: OperationGraph | None = None,
) -> Simulator:
    """Bind a switch model to the simulator: by name or file, or from a machine's file.

    With `operations`, the packet-level simulator starts each when its dependences are
    done. SimGrid sends all messages of a phase at once.

    Raises `topoloom.Error` if the simulator has no switches, or there is no switch
    model of this name.
    """
    if name != "switches":
        if switch is not None:
            raise Error(f"{name} does not simulate switches, such as '{switch}'")
        return simulate
    from topoloom.simulate import switches
    from topoloom.simulate.switch_toml import find_switch

    how = find_switch(switch, machine)
    if operations is None:
        return partial(switches.simulate, switch=how)

    def run_graph(
        machine: Machine,
        node_of_rank: Sequence[int],
        phases: Sequence[CommGraph],
        *,
        progress: ReportProgress = ignore_progress,
    ) -> SimulationResult:
        del phases  # the same messages, without dependences
        return switches.simulate_graph(
            machine, node_of_rank, operations, how, progress=progress
        )

    return run_graph
