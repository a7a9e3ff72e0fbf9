# SPDX-License-Identifier: BSD-3-Clause
"""Selects and evaluates an objective with phases and traffic of other jobs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    choose_objective,
    judge,
    objective_value,
    place,
    predicted_time,
    ring,
)
from topoloom.graphs.phases import load_phases
from topoloom.placements.measures import collect_measures
from topoloom.support.file_kinds import GRAPH, PLACEMENT, find_file_kind
from topoloom.support.files import exists, prefix_errors
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.tasks.problem import AllocationSpec

AUTO, HOP_BYTES = "auto", "hop-bytes"

#: Names of objectives; the text `weighted(NAME=WEIGHT,...)` combines several.
OBJECTIVES = (AUTO, HOP_BYTES, "congestion", "congestion-soft", "time")
PROVEN = "the mapper exact proves these"


class Objective(NamedTuple):
    """The objective to minimize, with its phases and background traffic."""

    objective: str = AUTO
    phases: Sequence[CommGraph] = ()
    background: NDArray[np.float64] | None = None
    reason: str = ""  # reason for an automatic choice

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `topoloom.place` that define the objective."""
        return {
            "objective": self.objective,
            "phases": self.phases,
            "background": self.background,
        }

    @property
    def is_automatic(self) -> bool:
        """Whether the objective was chosen automatically."""
        return bool(self.reason)

    @property
    def measure(self) -> str:
        """The key of the objective in the values of a placement."""
        if self.objective == HOP_BYTES:
            return "hop_bytes"
        if self.background is not None:
            return "objective"
        if self.objective == "time":
            return "predicted_seconds"
        plain = not self.phases and self.objective == "congestion"
        return "congestion_max" if plain else "objective"

    @property
    def title(self) -> str:
        """The name of the objective, with notes about phases and other jobs."""
        by_phase = self.phases and self.objective != HOP_BYTES
        phases = " by phase" if by_phase else ""
        others = " with other jobs" if self.background is not None else ""
        return f"{self.objective}{phases}{others}"

    @property
    def improvement_text(self) -> str:
        """Text about a better placement, such as "fewer hop-bytes"."""
        if self.objective == HOP_BYTES:
            return "fewer hop-bytes"
        if self.objective == "time":
            return "less predicted time"
        if self.objective == "congestion":
            return "less congestion"
        return "a lower value"

    def values(
        self, graph: CommGraph, allocation: Allocation, placement: Placement
    ) -> dict[str, float]:
        """Measure a placement; predicted time is first if bandwidths are known.

        The value of the objective is last, unless it is one of the measures.
        """
        on = (graph, allocation, placement)
        found = predict_time(*on, self.phases)
        found |= collect_measures(judge(*on), placement.shared)
        if self.measure == "objective":
            found["objective"] = objective_value(*on, **self.options)
        return found

    def choose_for(
        self, graph: CommGraph, allocation: Allocation, why_hop_bytes: str = ""
    ) -> Objective:
        """Choose an objective for the problem if the objective is ``auto``."""
        if self.objective != AUTO:
            return self
        if self.background is not None:
            if why_hop_bytes:
                raise Error(
                    "background traffic does not affect hop-bytes, the objective "
                    f"because {why_hop_bytes}"
                )
            name, reason = choose_shared_objective(allocation.machine)
            return Objective(name, self.phases, self.background, reason)
        name, reason = HOP_BYTES, why_hop_bytes
        spare = allocation.slot_count > graph.rank_count
        if not reason and spare and allocation.machine.slots_per_node > 1:
            # Minimizing time would spread the job over all nodes, although none are
            # allocated.
            reason = "no nodes are allocated; few hop-bytes keep the job on few nodes"
        if not reason:
            chosen, reason = choose_objective(graph, allocation, phases=self.phases)
            name = chosen.name
        return Objective(name, self.phases, self.background, reason)


def choose_shared_objective(machine: Machine) -> tuple[str, str]:
    """Choose an objective given traffic of other jobs; also return the reason.

    Hop-bytes are never chosen: they do not depend on the traffic of other jobs.
    """
    if machine.has_bandwidths:
        return "time", "other jobs load links, whose bandwidths are known"
    return "congestion", "other jobs load links; the machine gives no bandwidths"


def proves_optimality(mapper: str) -> bool:
    """Return whether a mapper proves that its placements are optimal."""
    return re.match(r"\s*exact\b", mapper) is not None


def predict_time(
    graph: CommGraph,
    allocation: Allocation,
    placement: Placement,
    phases: Sequence[CommGraph],
    background: NDArray[np.float64] | None = None,
) -> dict[str, float]:
    """Return the predicted communication time in seconds; empty without bandwidths.

    With a background, also return the time with the traffic of other jobs.
    """
    if not allocation.machine.has_bandwidths:
        return {}
    on = (graph, allocation, placement)
    found = {"predicted_seconds": predicted_time(*on, phases=phases)}
    if background is not None:
        found["predicted_seconds_with_background"] = predicted_time(
            *on, phases=phases, background=background
        )
    return found


def read_objective(
    name: str, background: Sequence[str] | None, graph_file: str, machine: Machine
) -> Objective:
    """Read an objective with the phases of the graph and the background traffic."""
    _check_name(name)
    if name == HOP_BYTES and background:
        raise Error(
            "background traffic does not affect hop-bytes; choose another objective, "
            "such as congestion"
        )
    loads = read_background(background, machine)
    return Objective(name, load_phases(graph_file), loads)


def read_background(
    texts: Sequence[str] | None, machine: Machine
) -> NDArray[np.float64] | None:
    """Add up the traffic of other jobs, in bytes by link; None without texts.

    A text is a file of link loads, or another job's ``GRAPH,PLACEMENT``.
    """
    if not texts:
        return None
    loads: NDArray[np.float64]
    loads = np.sum([_read_background(text, machine) for text in texts], axis=0)
    return loads


def check_objective(name: str, machine: Machine | None = None) -> None:
    """Raise an error if an objective is unknown, or the machine does not support it."""
    _check_name(name)
    if machine is None:
        machine = Machine("torus:2,bandwidth=1GB/s")
    place(ring(1), Allocation.whole(machine), "block", objective=name)


def _check_name(name: str) -> None:
    """Raise an error for an unknown objective; the core does not accept ``auto``."""
    if name not in OBJECTIVES and not name.startswith("weighted("):
        known = (*OBJECTIVES, "weighted(NAME=WEIGHT,...)")
        raise Error(describe_unknown_name("objective", name, known))


def _read_background(text: str, machine: Machine) -> Any:
    from topoloom.machines.link_loads import check_machine_text, load_link_loads

    graph, comma, placement = text.partition(",")
    if not comma or exists(text):
        if (kind := find_file_kind(text)) in (GRAPH, PLACEMENT):
            raise Error(
                f"{text} is {kind.name}; another job is a graph and its placement: "
                "GRAPH,PLACEMENT"
            )
        return load_link_loads(text, machine)
    if not graph or not placement:
        raise Error(f"'{text}' is not GRAPH,PLACEMENT")
    from topoloom.tasks.placement_problem import load_placement_problem

    given = load_placement_problem("judge", graph, placement, None, AllocationSpec())
    with prefix_errors(placement):
        check_machine_text(given.allocation.machine.text, machine)
    assert given.file is not None
    return judge(given.graph, given.allocation, given.file.placement).loads
