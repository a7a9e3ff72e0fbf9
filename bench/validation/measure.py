# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates and simulates all placements of a pattern on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from correlation import rank_correlation
from topoloom import Allocation, CommGraph, Machine, judge
from topoloom.graphs.phases import add_phases
from topoloom.placements import objective_value
from topoloom.simulate.simgrid import SETTINGS, simulate
from validation.cases import MACHINES, PATTERNS, NamedPlacement, placements

#: Settings with SimGrid's default network model: TCP over Ethernet.
ETHERNET = tuple(each for each in SETTINGS if each.startswith(("smpi/", "network/o")))

#: Measures of `judge`, then objectives of `topoloom.place`.
JUDGED = ("hop_bytes", "dilation_max", "traffic_average")
PREDICTED = ("congestion", "congestion-soft", "time")


@dataclass(frozen=True)
class Run:
    """Results of one placement.

    Attributes
    ----------
    values
        By measure or objective.
    simulated, ethernet
        Seconds on the described network, and with SimGrid's Ethernet model.
    """

    machine: str
    pattern: str
    placement: str
    values: dict[str, float]
    simulated: float
    ethernet: float


def measure(machine: str, pattern: str) -> list[Run]:
    """Place a pattern by all mappers, and simulate the placements."""
    phases = PATTERNS[pattern]()
    allocation = Allocation.whole(Machine(MACHINES[machine]))
    graph = add_phases(phases)
    return [
        _measure_placement(machine, pattern, each, phases, graph, allocation)
        for each in placements(phases, allocation)
    ]


def _measure_placement(
    machine: str,
    pattern: str,
    placed: NamedPlacement,
    phases: list[CommGraph],
    graph: CommGraph,
    allocation: Allocation,
) -> Run:
    on = (graph, allocation, placed.placement)
    judgement = judge(*on)
    values = {name: float(getattr(judgement, name)) for name in JUDGED}
    values |= {
        name: objective_value(*on, objective=name, phases=phases) for name in PREDICTED
    }
    host = allocation.machine
    nodes = (placed.placement.slots // host.slots_per_node).tolist()
    seconds, ethernet = (
        sum(simulate(host, nodes, phases, settings).seconds)
        for settings in (SETTINGS, ETHERNET)
    )
    return Run(machine, pattern, placed.name, values, seconds, ethernet)


def correlation(
    runs: Sequence[Run], name: str, simulated: str = "simulated"
) -> float | None:
    """Return the rank correlation of a measure with the simulated times."""
    times = [getattr(run, simulated) for run in runs]
    return rank_correlation([run.values[name] for run in runs], times)
