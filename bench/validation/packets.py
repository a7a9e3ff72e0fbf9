# SPDX-License-Identifier: BSD-3-Clause
"""The same cases packet by packet: switches compared with SimGrid and objectives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice

import numpy as np

from correlation import rank_correlation
from topoloom import Allocation, CommGraph, Machine, judge
from topoloom.graphs.phases import add_phases, edge_rows
from topoloom.placements import objective_value
from topoloom.simulate import simgrid, switches
from topoloom.simulate.switch_toml import SwitchModel
from validation.cases import MACHINES, PATTERNS, SHORT, placements

#: Messages are divided by SMALLER, and every third placement is simulated, because the
#: time is proportional to the number of packets.
SMALLER = 16
EVERY = 3
#: Seconds after which a case is omitted.
MAX_SECONDS = 300
#: Switches with flits large enough for long messages.
SWITCH = SwitchModel(flit=256)
_NAMES = ("hop_bytes", "congestion", "time", "simgrid")


@dataclass(frozen=True)
class PacketRun:
    """Results of one placement.

    Attributes
    ----------
    values
        Values by `_NAMES`; all except hop-bytes are seconds.
    switches
        Seconds in our simulated switches.
    busiest
        The busiest channel's share of time with traffic.
    """

    machine: str
    pattern: str
    placement: str
    values: dict[str, float]
    switches: float
    busiest: float


def measure_packets(machine: str, pattern: str) -> list[PacketRun]:
    """Simulate every third placement; return nothing after MAX_SECONDS."""
    phases = PATTERNS[pattern]()
    allocation = Allocation.whole(Machine(MACHINES[machine]))
    kept = islice(placements(phases, allocation), 0, None, EVERY)
    sent = phases if pattern == SHORT else [_scale_down(phase) for phase in phases]
    graph = add_phases(sent)
    host = allocation.machine
    begin = time.monotonic()
    found = []
    for name, placement in kept:
        if time.monotonic() - begin > MAX_SECONDS:
            return []
        on = (graph, allocation, placement)
        nodes = (placement.slots // host.slots_per_node).tolist()
        values = {
            objective: objective_value(*on, objective=objective, phases=sent)
            for objective in ("congestion", "time")
        }
        values["hop_bytes"] = float(judge(*on).hop_bytes)
        values["simgrid"] = sum(simgrid.simulate(host, nodes, sent).seconds)
        packets = switches.simulate(host, nodes, sent, SWITCH)
        busiest = packets.busiest[0].busy if packets.busiest else 0.0
        found.append(
            PacketRun(machine, pattern, name, values, sum(packets.seconds), busiest)
        )
    return found


def _scale_down(phase: CommGraph) -> CommGraph:
    source, target, amount, messages = edge_rows(phase).T
    return CommGraph.from_edges(
        phase.rank_count,
        source.astype(np.uint32),
        target.astype(np.uint32),
        np.ceil(amount / SMALLER),
        messages,
    )


def correlation(runs: Sequence[PacketRun], name: str) -> float | None:
    """Return the rank correlation of a value with the times in switches."""
    times = [run.switches for run in runs]
    return rank_correlation([run.values[name] for run in runs], times)


def compute_loss(runs: Sequence[PacketRun], name: str) -> float:
    """Return the relative excess time of the placement with the best value."""
    chosen = min(runs, key=lambda run: run.values[name])
    return chosen.switches / min(run.switches for run in runs) - 1


def report(runs: Sequence[PacketRun]) -> str:
    """Format a line per machine and pattern."""
    short = {"hop_bytes": "hop bytes", "simgrid": "SimGrid"}
    names = [short.get(name, name) for name in _NAMES]
    head = ["machine", "pattern", *names]
    head += [f"its best: {name}" for name in names]
    head += ["switches / time", "switches / SimGrid", "busiest channel"]
    rows = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    cases = groupby(runs, lambda run: (run.machine, run.pattern))
    rows += [_format_row(list(case)) for _, case in cases]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _format_row(case: list[PacketRun]) -> list[str]:
    found = [correlation(case, name) for name in _NAMES]
    return [
        case[0].machine,
        case[0].pattern,
        *("" if one is None else f"{one:.2f}" for one in found),
        *(f"{100 * compute_loss(case, name):+.0f} %" for name in _NAMES),
        *(
            _format_range([run.switches / run.values[name] for run in case])
            for name in ("time", "simgrid")
        ),
        _format_range([run.busiest for run in case]),
    ]


def _format_range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"
