# SPDX-License-Identifier: BSD-3-Clause
"""Network simulators, which predict the time of messages.

A simulator is a module of this package with a function `simulate` of type `Simulator`;
`SIMULATORS` lists it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Protocol, cast

from topoloom._core import CommGraph, Error, Machine, OperationGraph
from topoloom.simulate.result import ReportProgress, SimulationResult, ignore_progress
from topoloom.support.name_lookup import describe_unknown_name

#: name -> summary
SIMULATORS = {
    "simgrid": "SMPI of SimGrid: messages are flows that share links fairly",
    "switches": "built-in: packets wait in switch buffers",
}


class Simulator(Protocol):
    """Simulates the messages of each phase.

    Parameters
    ----------
    machine
        Machine with links and bandwidths.
    node_of_rank
        Node of each rank.
    phases
        One graph of all ranks per phase. If a pair has several messages, the phase is
        split into rounds with at most one message per pair.
    progress
        Called with the completed work and the total work.

    Returns
    -------
    SimulationResult
        Seconds from the first send to the last delivery of each phase, and the busiest
        channels if known.

    Raises
    ------
    topoloom.Error
        If the simulator is not installed, fails, or does not support the machine.
    """

    def __call__(
        self,
        machine: Machine,
        node_of_rank: Sequence[int],
        phases: Sequence[CommGraph],
        *,
        progress: ReportProgress = ignore_progress,
    ) -> SimulationResult:
        """Simulate the phases; see the class."""


def load_simulator(name: str) -> Simulator:
    """Import a simulator by name.

    Raises `topoloom.Error` if there is no simulator of this name.
    """
    if name not in SIMULATORS:
        raise Error(describe_unknown_name("simulator", name, SIMULATORS))
    module = importlib.import_module(f"{__name__}.{name}")
    return cast(Simulator, module.simulate)


def bind_switch(
    simulate: Simulator,
    name: str,
    switch: str | None,
    machine: str | None = None,
    operations: OperationGraph | None = None,
) -> Simulator:
    """Bind a switch model, by name or from a switch or machine file, to a simulator.

    With `operations`, the packet-level simulator starts each operation when its
    dependences are complete. SimGrid starts all messages of a phase at once.

    Raises `topoloom.Error` if the simulator has no switches, or the switch model is
    unknown.
    """
    if name != "switches":
        if switch is not None:
            raise Error(f"{name} does not simulate switches, such as '{switch}'")
        return simulate
    from topoloom.simulate import switches
    from topoloom.simulate.switch_toml import load_given_or_machine_switch

    switch_model = load_given_or_machine_switch(switch, machine)
    if operations is None:
        return partial(switches.simulate, switch=switch_model)

    def simulate_operation_graph(
        machine: Machine,
        node_of_rank: Sequence[int],
        phases: Sequence[CommGraph],
        *,
        progress: ReportProgress = ignore_progress,
    ) -> SimulationResult:
        del phases  # `operations` contain the same messages.
        return switches.simulate_graph(
            machine, node_of_rank, operations, switch_model, progress=progress
        )

    return simulate_operation_graph
