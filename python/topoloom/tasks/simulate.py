# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the messages of placements on the network, and predicts their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Placement,
    judge,
    objective_value,
    predicted_time,
    through_proxies,
)
from topoloom.graphs.phases import edge_rows
from topoloom.machines.link_names import format_link
from topoloom.simulate import Simulator
from topoloom.simulate.result import (
    ReportProgress,
    SimulationResult,
    ignore_progress,
)
from topoloom.support.units import counted
from topoloom.tasks.placement_problem import PlacementProblem

if TYPE_CHECKING:
    from topoloom.documents.placements import (
        SimulatedPlacement,
    )

DEFAULT = "block"

#: Context manager that monitors a simulation, given its title.
MonitorSimulation = Callable[[str], AbstractContextManager[ReportProgress]]


@contextmanager
def unmonitored_simulation(_title: str) -> Iterator[ReportProgress]:
    """Run a simulation without progress output."""
    yield ignore_progress


class _PlacementCase(NamedTuple):
    """A placement to simulate, with its file."""

    file: str
    mapper: str
    allocation: Allocation
    placement: Placement

    def node_of_rank(self) -> list[int]:
        per_node = self.allocation.machine.slots_per_node
        nodes: list[int] = (self.placement.slots // per_node).tolist()
        return nodes

    def make_result(
        self,
        given: PlacementProblem,
        phases: list[CommGraph],
        simulated: SimulationResult,
    ) -> SimulatedPlacement:
        seconds = simulated.seconds
        if len(seconds) != len(phases):
            raise Error(
                f"the simulation gave {counted(len(seconds), 'time')} for "
                f"{counted(len(phases), 'phase')}"
            )
        judgement = judge(given.graph, self.allocation, self.placement, hottest=0)
        names = given.vertex_names
        on = (self.allocation, self.placement)
        predicted = [predicted_time(phase, *on) for phase in phases]
        return {
            "placement": self.file or None,
            "mapper": self.mapper,
            "hop_bytes": judgement.hop_bytes,
            "dilation_average": judgement.dilation_average,
            "congestion_seconds": self.compute_congestion(phases),
            "predicted_seconds": sum(predicted),
            "simulated_seconds": sum(seconds),
            "busiest_channels": [
                {"channel": format_link(name, names), "sending": busy}
                for name, busy in simulated.busiest
            ],
            "busiest_switches": [
                {"output": format_link(name, names), "sending": busy}
                for name, busy in simulated.busiest_switches
            ],
            "by_phase": [
                {"predicted_seconds": ours, "simulated_seconds": theirs}
                for ours, theirs in zip(predicted, seconds, strict=True)
            ],
        }

    def compute_congestion(self, phases: list[CommGraph]) -> float:
        # Objectives are defined for one rank per slot: merge ranks that share a slot.
        slots, merged_rank = np.unique(self.placement.slots, return_inverse=True)
        on = (self.allocation, Placement(self.allocation, slots))
        found = 0.0
        for phase in phases:
            source, target, amount, messages = edge_rows(phase).T
            ends = (
                merged_rank[source].astype(np.uint32),
                merged_rank[target].astype(np.uint32),
            )
            merged = CommGraph.from_edges(len(slots), *ends, amount, messages)
            found += objective_value(merged, *on, objective="congestion")
        return found


def check_same_machine(names: Sequence[str], given: Sequence[PlacementProblem]) -> None:
    """Raise an error if placements are on different machines."""
    first = given[0].allocation.machine
    for name, one in zip(names, given, strict=False):
        machine = one.allocation.machine
        if machine.text != first.text:
            raise Error(
                f"{name} is for {machine.text}, but {names[0]} for {first.text}; "
                "simulate placements of one machine at a time"
            )


class Simulations(NamedTuple):
    """Simulation results of placements; `interrupted` is set after Ctrl-C."""

    results: list[SimulatedPlacement]
    interrupted: bool


def simulate_placements(
    names: Sequence[str],
    given: Sequence[PlacementProblem],
    phases: list[CommGraph],
    simulate: Simulator,
    monitor: MonitorSimulation = unmonitored_simulation,
) -> Simulations:
    """Simulate block order, then the placements, each within a `monitor` context.

    Ctrl-C drops the current and all later simulations.
    """
    cases = _list_cases(names, given)
    first = given[0]
    results: list[SimulatedPlacement] = []
    for number, case in enumerate(cases, start=1):
        title = f"{number}/{len(cases)} {case.file or DEFAULT}"
        sent = [
            through_proxies(phase, case.placement) if len(phase.proxied) else phase
            for phase in phases
        ]
        try:
            with monitor(title) as progress:
                found = simulate(
                    first.allocation.machine,
                    case.node_of_rank(),
                    sent,
                    progress=progress,
                )
            results.append(case.make_result(first, sent, found))
        except KeyboardInterrupt:
            return Simulations(results, True)
    return Simulations(results, False)


def _list_cases(
    names: Sequence[str], given: Sequence[PlacementProblem]
) -> list[_PlacementCase]:
    placed = [one for one in given if one.file is not None]
    if not given or len(names) != len(placed):
        raise Error(
            "give a problem, and a name for each placement, not "
            f"{counted(len(placed), 'placement')} and {counted(len(names), 'name')}"
        )
    check_same_machine(names, given)
    first = given[0]
    block = first.place_like_launcher()
    cases = [_PlacementCase("", DEFAULT, first.allocation, block)]
    for name, one in zip(names, placed, strict=True):
        assert one.file is not None
        cases.append(
            _PlacementCase(name, one.file.mapper, one.allocation, one.file.placement)
        )
    return cases
