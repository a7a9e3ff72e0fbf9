# SPDX-License-Identifier: BSD-3-Clause
"""From options to an objective: its name, the pattern's phases, what others send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    judge,
    load_phases,
    objective_value,
    place,
    ring,
)
from topoloom.cli.judged import load_judged
from topoloom.cli.problem import Where
from topoloom.files import exists, named
from topoloom.formats.loads import Loads, check_machine, load_loads

HOP_BYTES = "hop-bytes"


class Objective(NamedTuple):
    """What to minimize, in the words of `topoloom.place` and `objective_value`."""

    objective: str
    phases: list[CommGraph]
    background: Loads | None

    @property
    def measure(self) -> str:
        """The name of its value among a placement's values."""
        if self.objective == HOP_BYTES:
            return "hop_bytes"
        plain = not self.phases and self.background is None
        return (
            "congestion_max"
            if plain and self.objective == "congestion"
            else "objective"
        )

    @property
    def title(self) -> str:
        """What it is, for people."""
        phases = " by phase" if self.phases else ""
        others = " beside others" if self.background is not None else ""
        return f"{self.objective}{phases}{others}"

    def values(
        self, graph: CommGraph, allocation: Allocation, placement: Placement
    ) -> dict[str, float]:
        """Evaluate it where no measure of a placement does; empty where one does."""
        if self.measure != "objective":
            return {}
        value = objective_value(graph, allocation, placement, **self._asdict())
        return {"objective": value}


def read_objective(
    name: str, background: Sequence[str] | None, graph_file: str, machine: Machine
) -> Objective:
    """Read the phases of the graph, and loads of others, where they count."""
    if name == HOP_BYTES:
        if background:
            raise Error(
                "--background makes no difference to hop-bytes; name another "
                "--objective, such as congestion"
            )
        return Objective(name, [], None)
    loads = [_background(text, machine) for text in background or []]
    return Objective(name, load_phases(graph_file), sum(loads) if loads else None)


def check_objective(name: str) -> None:
    """Refuse one that is unknown, before anything runs."""
    allocation = Allocation.whole(Machine("torus:1"))
    place(ring(1), allocation, "block", objective=name)


def _background(text: str, machine: Machine) -> Any:
    graph, comma, placement = text.partition(",")
    if not comma or exists(text):
        return load_loads(text, machine)
    judged = load_judged("judge", graph, placement, None, Where())
    with named(placement):
        check_machine(judged.allocation.machine.text, machine)
    placed = judged.placed
    assert placed is not None
    return judge(judged.graph, judged.allocation, placed.placement).loads
