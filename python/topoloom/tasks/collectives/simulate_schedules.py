# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the packets of the fastest schedules of a collective in switches."""

from __future__ import annotations

from typing import NamedTuple

from topoloom.simulate.result import SimulationResult
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.simulate.switches import simulate_collective
from topoloom.support.parameter_error import ParameterError
from topoloom.tasks.collectives.collective import RankedCollective
from topoloom.tasks.simulate import MonitorSimulation, unmonitored_simulation

#: Default number of simulated schedules.
FASTEST = 5


class SimulatedSchedules(NamedTuple):
    """Simulation results by schedule; Ctrl-C sets `interrupted`."""

    simulated: dict[str, SimulationResult]
    interrupted: bool


def simulate_schedules(
    found: RankedCollective,
    switch: SwitchModel | None = None,
    fastest: int | None = FASTEST,
    monitor: MonitorSimulation = unmonitored_simulation,
) -> SimulatedSchedules:
    """Simulate the `fastest` schedules by predicted time; None simulates all.

    Message costs are taken from the machine, even if the ranking used a model. Ctrl-C
    drops the current and all later simulations.

    Raises
    ------
    topoloom.Error
        If the slots of the ranks are unknown, or the machine has no links.
    """
    if found.platform.slots is None:
        raise ParameterError("machine", "is missing, which the simulation requires")
    allocation, placement = found.platform.slots
    machine = allocation.machine
    nodes = (placement.slots // machine.slots_per_node).tolist()
    chosen = [one.name for one in found.ranked[:fastest]]
    simulated: dict[str, SimulationResult] = {}
    for number, name in enumerate(chosen, start=1):
        try:
            with monitor(f"{number}/{len(chosen)} {name}"):
                schedule = found.call.schedule(name)
                simulated[name] = simulate_collective(machine, nodes, schedule, switch)
        except KeyboardInterrupt:
            return SimulatedSchedules(simulated, True)
    return SimulatedSchedules(simulated, False)
