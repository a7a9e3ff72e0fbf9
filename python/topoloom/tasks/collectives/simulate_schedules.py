# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the fastest schedules of a collective in switches, packet by packet."""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error
from topoloom.simulate.simulated import Simulated
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.simulate.switches import simulate_collective
from topoloom.tasks.collectives.collective import RankedCollective
from topoloom.tasks.simulate import MonitorSimulation, unmonitored_simulation

#: Number of schedules that are simulated by default.
FASTEST = 5


class SimulatedSchedules(NamedTuple):
    """Simulation results by schedule, and whether Ctrl-C ended the simulations."""

    simulated: dict[str, Simulated]
    interrupted: bool


def simulate_schedules(
    found: RankedCollective,
    switch: SwitchModel | None = None,
    fastest: int | None = FASTEST,
    monitor: MonitorSimulation = unmonitored_simulation,
) -> SimulatedSchedules:
    """Simulate the schedules with the lowest predicted times, or all with None.

    Messages have the costs of the machine, also if the ranking used a model. Ctrl-C
    omits the running simulation and those after it.

    Raises
    ------
    topoloom.Error
        If the slots of the ranks are unknown, or the machine has no links.
    """
    if found.platform.slots is None:
        raise Error("packets cross a machine; name one")
    allocation, placement = found.platform.slots
    machine = allocation.machine
    nodes = (placement.slots // machine.slots_per_node).tolist()
    chosen = [one.name for one in found.ranked[:fastest]]
    simulated: dict[str, Simulated] = {}
    for number, name in enumerate(chosen, start=1):
        try:
            with monitor(f"{number}/{len(chosen)} {name}"):
                schedule = found.call.schedule(name)
                simulated[name] = simulate_collective(machine, nodes, schedule, switch)
        except KeyboardInterrupt:
            return SimulatedSchedules(simulated, True)
    return SimulatedSchedules(simulated, False)
