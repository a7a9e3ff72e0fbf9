# SPDX-License-Identifier: BSD-3-Clause
"""Places a case by all mappers, predicts and simulates the times."""

from __future__ import annotations

import time
from dataclasses import dataclass

from correlation import rank_correlation
from defaults.cases import Case, merge_phases
from defaults.scotch import scotch
from topoloom import Allocation, CommGraph, Placement, place
from topoloom.placements import predicted_time
from topoloom.simulate.simgrid import simulate

BLOCK, OURS, SCOTCH, HOP_BYTES = "launcher", "ours", "Scotch", "hop-bytes"
#: Further placements, which a correlation needs.
_MORE = {"random": "hop-bytes", "time": "time", "congestion": "congestion"}


@dataclass(frozen=True)
class Run:
    """A case.

    Attributes
    ----------
    predicted, simulated
        Seconds by mapper.
    seconds
        Wall-clock seconds of our search.
    """

    machine: str
    program: str
    job: str
    size: str
    predicted: dict[str, float]
    simulated: dict[str, float]
    seconds: float

    @property
    def case(self) -> Case:
        """The case of this run."""
        return Case(self.machine, self.program, self.job, self.size)

    def ratio(self, other: str) -> float | None:
        """Return our simulated time divided by that of another mapper."""
        if other not in self.simulated:
            return None
        return self.simulated[OURS] / self.simulated[other]

    def correlation(self) -> float | None:
        """Correlate the ranks of predicted and simulated times of all placements."""
        return rank_correlation(
            [self.predicted[way] for way in self.simulated],
            list(self.simulated.values()),
        )


def measure(case: Case) -> Run:
    """Place a case by all mappers; simulate equal placements once."""
    phases = case.phases()
    graph = merge_phases(phases)
    allocation = case.allocation()
    start = time.perf_counter()
    ours = place(graph, allocation, phases=phases).placement
    seconds = time.perf_counter() - start
    placed = {
        BLOCK: place(graph, allocation, "block").placement,
        OURS: ours,
        HOP_BYTES: place(graph, allocation, objective="hop-bytes").placement,
    }
    theirs = scotch(graph, allocation)
    if theirs is not None:
        placed[SCOTCH] = theirs
    for name, objective in _MORE.items():
        mapper = "random" if name == "random" else "auto"
        placed[name] = place(
            graph, allocation, mapper, objective=objective, phases=phases
        ).placement
    known: dict[bytes, tuple[float, float]] = {}
    for placement in placed.values():
        key = placement.slots.tobytes()
        if key not in known:
            known[key] = times(graph, phases, allocation, placement)
    both = {name: known[each.slots.tobytes()] for name, each in placed.items()}
    return Run(
        *(case.machine, case.program, case.job, case.size),
        {name: predicted for name, (predicted, _) in both.items()},
        {name: simulated for name, (_, simulated) in both.items()},
        seconds,
    )


def times(
    graph: CommGraph,
    phases: list[CommGraph],
    allocation: Allocation,
    placement: Placement,
) -> tuple[float, float]:
    """Return predicted and simulated seconds of a placement."""
    machine = allocation.machine
    predicted = predicted_time(graph, allocation, placement, phases=phases)
    nodes = (placement.slots // machine.slots_per_node).tolist()
    return predicted, sum(simulate(machine, nodes, phases).seconds)
