# SPDX-License-Identifier: BSD-3-Clause
"""Ranks the schedules of a collective, and orders its ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from topoloom._core import CommGraph, Error, NetworkModel
from topoloom.graphs.graph_file import load_graph
from topoloom.machines.node_toml import write_nic
from topoloom.model.model_names import load_model
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.schedules.choose import (
    Call,
    RankedSchedule,
    RankSlots,
    find_default_schedule,
    find_operation,
    rank_schedules,
)
from topoloom.schedules.decisions import find_decisions_by_ranks, make_decision_table
from topoloom.schedules.exports.request import ExportRequest
from topoloom.schedules.joint_search import JointResult, optimize_jointly
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.units import counted
from topoloom.tasks.problem import (
    AllocationSpec,
    check_fit,
    load_nodes,
    place_like_launcher,
    select_launched_slots,
)
from topoloom.tasks.search import MonitorSearch, Search, run_unmonitored

if TYPE_CHECKING:
    from topoloom.documents.collectives import ImprovementStep, RankedCollectiveFields


@dataclass(frozen=True)
class CollectivePlatform:
    """Message costs and rank slots for predictions, with names for output."""

    model: NetworkModel | None  # None if the machine defines the message costs
    slots: RankSlots | None = None
    model_name: str = ""
    machine_title: str = ""  # the machine as the user typed it
    hosts: tuple[str, ...] | None = None
    node: NodeParts = NO_PARTS
    unused: str = ""  # which slots of a larger allocation the launcher uses

    @property
    def machine_name(self) -> str:
        """The machine as text; empty without a machine."""
        return self.slots.allocation.machine.text if self.slots is not None else ""


@dataclass(frozen=True)
class RankedCollective:
    """The schedules of a collective from fastest to slowest, and the rank order."""

    call: Call
    platform: CollectivePlatform
    ranked: list[RankedSchedule]
    together: JointResult | None = None
    interrupted: bool = False

    @property
    def default_schedule(self) -> str | None:
        """The schedule that MPICH uses by default."""
        return find_default_schedule(self.call)

    @property
    def has_receive_overhead(self) -> bool:
        """Whether the model contains the receive overhead; else it is assumed."""
        model = self.platform.model
        if model is None:
            return False
        costs = model.costs
        return max(costs.receive_cpu, costs.receive_cpu_per_byte) > 0

    def document(self) -> RankedCollectiveFields:
        """Return the fields of the ``--json`` output."""
        call, demand = self.call, self.call.demand
        document: RankedCollectiveFields = {
            "operation": call.operation,
            "ranks": call.ranks,
            "bytes": call.bytes,
            "root": call.root,
            "degree": call.degree,
            "model": self.platform.model_name,
            "machine": self.platform.machine_name or None,
            "usual": self.default_schedule,
            "schedules": [
                {
                    "name": one.name,
                    "predicted_seconds": one.cost.time,
                    "cpu_seconds": one.cost.cpu,
                    "congestion_seconds": one.cost.congestion,
                    "rounds": one.cost.rounds,
                    "messages": one.cost.messages,
                    "bytes": one.cost.bytes,
                }
                for one in self.ranked
            ],
        }
        if demand is not None:
            document["pairs"] = demand.edge_count
        if self.together is not None:
            turns = [turn._asdict() for turn in self.together.steps]
            document["turns"] = cast("list[ImprovementStep]", turns)
        return document

    def placement_file(self, **about: Any) -> PlacementFile:
        """Return the placement file of the rank order; `about` adds fields to it."""
        assert self.together is not None
        assert self.platform.slots is not None
        best = self.together.best
        return PlacementFile.measured(
            self.call.schedule(best.name).graph(),
            *self.platform.slots,
            best.cost.time,
            hosts=self.platform.hosts,
            node=self.platform.node,
            objective="time",
            mapper="collective",
            **about,
        )

    def graph(self) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graphs of the best schedule and of each round."""
        call, name = self.call, self.ranked[0].name
        schedule = call.schedule(name)
        if call.ranks * schedule.rounds > 1 << 25:
            raise Error(
                f"{name} has {schedule.rounds} rounds of up to {call.ranks} messages, "
                "more than a pattern may contain; use fewer ranks, or another schedule"
            )
        rounds = [schedule.phase(number) for number in range(schedule.rounds)]
        return schedule.graph(), rounds

    def decisions(self) -> dict[str, Any]:
        """Make the decision table for 2, 4, 8, ... ranks up to the number of ranks."""
        platform = self.platform
        if self.call.demand is not None:
            raise Error("a graph defines all sizes, so there are no decisions by size")
        found = find_decisions_by_ranks(self.call, platform.model, platform.slots)
        return make_decision_table(
            self.call.operation, found, platform.model_name, platform.machine_name
        )

    def export_request(self) -> ExportRequest:
        """Make the request to export the call with its best schedule."""
        model, slots = self.platform.model, self.platform.slots
        return ExportRequest(self.call, self.ranked[0].name, model, slots)


def read_call(
    operation: str,
    ranks: int,
    size: int,
    root: int = 0,
    degree: int | None = None,
    graph: str | Path | None = None,
) -> Call:
    """Check the arguments of a collective call, and return its description.

    For a many-to-many, `graph` is the file of a communication graph, which replaces
    size and degree.
    """
    check_int64("ranks", ranks, 1)
    check_int64("root", root, 0)
    name = find_operation(operation)
    many = name.startswith("many-to-many")
    if graph is not None:
        return _read_demand(name, ranks, degree, graph)
    if many and degree is None:
        raise ParameterError(
            "degree",
            f"is missing: {name} requires the number of next ranks to send to, or a "
            "graph",
        )
    if degree is not None:
        check_int64("degree", degree, 1)
        if not many:
            raise ParameterError("degree", f"is for many-to-many, not for {name}")
    return Call(name, ranks, 0 if name == "barrier" else size, root, degree)


def _read_demand(name: str, ranks: int, degree: int | None, file: str | Path) -> Call:
    if not name.startswith("many-to-many"):
        raise ParameterError("graph", f"is for many-to-many, not for {name}")
    if degree is not None:
        raise ParameterError(
            ("graph", "degree"), "are mutually exclusive; give one of them"
        )
    graph = load_graph(file)
    if graph.rank_count != ranks:
        raise Error(
            f"{file} has {counted(graph.rank_count, 'rank')}, not {ranks}; give "
            f"{graph.rank_count} ranks"
        )
    return Call(name, ranks, 0, demand=graph)


def read_platform(
    call: Call,
    model: str | None,
    machine: str | None = None,
    where: AllocationSpec | None = None,
    placement: str | Path | None = None,
) -> CollectivePlatform:
    """Read the message costs and the slots of the ranks.

    Raises
    ------
    topoloom.Error
        If the message costs are unknown, or the ranks do not fit the placement or the
        machine.
    """
    found = load_model(model).model if model is not None else None
    if machine is not None and placement is not None:
        raise ParameterError(
            ("machine", "placement"),
            "are mutually exclusive; a placement contains its machine",
        )
    where = where or AllocationSpec()
    if machine is None and where._replace(seed=1) != AllocationSpec():
        raise ParameterError("machine", "is missing, which an allocation requires")
    given = "of the machine" if model is None else model
    if placement is not None:
        platform = _load_placed_platform(call, found, given, placement)
    elif machine is not None:
        platform = _load_machine_platform(call, found, given, machine, where)
    elif found is not None:
        return CollectivePlatform(found, model_name=given)
    else:
        raise Error(
            "message costs are unknown; name a model (see 'topoloom list "
            "models') or a machine"
        )
    _check_costs(platform)
    return platform


def _check_costs(platform: CollectivePlatform) -> None:
    """Raise an error for a machine without bandwidths or without startup cost."""
    assert platform.slots is not None
    machine = platform.slots.allocation.machine
    if machine.link_count and not machine.has_bandwidths:
        raise Error(
            f"the links of {machine.name} have no bandwidth; add one, as in "
            "torus:8x8x8,bandwidth=10GB/s"
        )
    if platform.model is None and "startup" not in write_nic(machine):
        raise Error(
            f"the startup cost of a message on {machine.name} is unknown, and the "
            "order of schedules depends on it; append +node:1,startup=1us to the "
            "machine, or name a model if the command takes one"
        )


def _load_placed_platform(
    call: Call, model: NetworkModel | None, name: str, placement: str | Path
) -> CollectivePlatform:
    file = load_placement(placement)
    ranks = len(file.placement.slots)
    if ranks != call.ranks:
        raise Error(
            f"{placement} places {ranks} ranks, not {call.ranks}; give {ranks} ranks"
        )
    slots = RankSlots(file.allocation, file.placement)
    return CollectivePlatform(
        model, slots, name, file.machine.name, file.hosts, file.node
    )


def _load_machine_platform(
    call: Call,
    model: NetworkModel | None,
    name: str,
    machine: str,
    where: AllocationSpec,
) -> CollectivePlatform:
    given, described = load_nodes(machine, where)
    no_messages = CommGraph.from_edges(call.ranks, [], [], [])
    check_fit(no_messages, given.allocation, f"the {call.operation}")
    at, unused = select_launched_slots(given, described, where, call.ranks)
    slots = RankSlots(at.allocation, place_like_launcher(no_messages, at.allocation))
    return CollectivePlatform(
        model, slots, name, machine, at.hosts, described.node, unused
    )


def rank_collective(
    call: Call,
    platform: CollectivePlatform,
    schedules: Sequence[str] = (),
    *,
    order_ranks: bool = False,
    seed: int = 1,
    threads: int = 0,
    monitor: MonitorSearch = run_unmonitored,
) -> RankedCollective:
    """Rank all schedules, or the named ones, by predicted time.

    With `order_ranks`, the ranks are first ordered for the fastest schedule.
    """
    together, interrupted = None, False
    if order_ranks:
        if platform.slots is None:
            raise ParameterError("machine", "is missing, which ordering ranks requires")
        at = platform.slots.allocation
        with monitor("ordering", Search(seed, threads=threads)) as progress:
            together = optimize_jointly(
                call, at, platform.model, seed, threads, progress
            )
            interrupted = not progress(0)
        platform = replace(platform, slots=RankSlots(at, together.placement))
    ranked = rank_schedules(call, platform.model, platform.slots, schedules)
    return RankedCollective(call, platform, ranked, together, interrupted)
