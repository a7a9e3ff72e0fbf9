# SPDX-License-Identifier: BSD-3-Clause
"""Simulates in-switch collectives, and the same collectives as messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topoloom._core import (
    Allocation,
    Error,
    Placement,
    ProgramMeasure,
    SwitchWiring,
    simulate_in_switches,
    simulate_messages,
    simulate_schedule,
    spanning_trees,
)
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    find_operation,
    rank_schedules,
)
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.tasks.collectives.multicast_trees import MulticastTrees
from topoloom.tasks.search import UNLIMITED, MonitorSearch, run_unmonitored

if TYPE_CHECKING:
    from topoloom.documents.collectives import TreeSeconds, TreeTimesFields

#: MPI operations, and the in-switch operation that implements each.
IN_SWITCHES = {
    "bcast": "multicast",
    "reduce": "reduce",
    "allreduce": "allreduce",
    "barrier": "allreduce",
}


@dataclass(frozen=True)
class SizeTimes:
    """Seconds of an operation on all trees concurrently, for one message size."""

    bytes: int
    in_switches: dict[str, float]  # seconds by kind of tree
    messages: float | None  # seconds as messages; None for allreduces of several groups
    how: str  # name of the schedule, or direct messages


@dataclass(frozen=True)
class TreeTimes:
    """Simulated times of an operation by message size."""

    operation: str
    sizes: list[SizeTimes]
    interrupted: bool

    def document(self) -> TreeTimesFields:
        """Return the fields of the ``--json`` output."""
        sizes: list[TreeSeconds] = [
            {
                "bytes": size.bytes,
                "in_switches_seconds": size.in_switches,
                "messages_seconds": size.messages,
                "messages_by": size.how,
            }
            for size in self.sizes
        ]
        return {"operation": self.operation, "sizes": sizes}


def time_trees(
    allocation: Allocation,
    found: MulticastTrees,
    operation: str,
    sizes: Sequence[int],
    switch: SwitchModel | None = None,
    *,
    monitor: MonitorSearch = run_unmonitored,
) -> TreeTimes:
    """Simulate an operation on all trees concurrently in output-queued switches.

    Each root is a member of its group. Several trees of one root each transfer a part
    of its message. The operation is also simulated as messages. With one group, the
    schedule with the lowest predicted time is used; with several groups, roots and
    members exchange messages directly.

    Raises
    ------
    Error
        For operations without in-switch support, groups of one node, switches that are
        not output-queued, and machines without bandwidths.
    """
    operation = _read_operation(operation)
    if operation == "barrier":
        sizes = (0,)
    machine = found.machine
    if not machine.has_bandwidths or not machine.link_count:
        raise Error(
            f"{machine.name} has no links with bandwidths, which the simulation "
            "requires; describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )
    simulation = _TreeSimulation(allocation, found, operation, switch or SwitchModel())
    times: list[SizeTimes] = []
    interrupted = False
    for number, size in enumerate(sizes, start=1):
        title = f"{number}/{len(sizes)} {operation} of {size} B"
        with monitor(title, UNLIMITED) as progress:
            one = simulation.simulate_size(size, progress)
            interrupted = not progress(0)
        if interrupted:
            break
        times.append(one)
    return TreeTimes(operation, times, interrupted)


def _read_operation(text: str) -> str:
    """Parse the name of an in-switch operation; MPI names are accepted."""
    try:
        operation = find_operation(text)
    except Error:
        operation = text
    if operation not in IN_SWITCHES:
        raise Error(
            describe_unknown_name("operation in switches", text, list(IN_SWITCHES))
        )
    return operation


def _require_output_queued(switch: SwitchModel) -> None:
    if switch.router != "output-queued":
        raise Error(
            f"{switch.router} switches do not combine packets; trees require "
            "output-queued routers"
        )


class _TreeSimulation:
    """A collective operation on several groups, with its trees and switches."""

    def __init__(
        self,
        allocation: Allocation,
        found: MulticastTrees,
        operation: str,
        switch: SwitchModel,
    ) -> None:
        self._allocation = allocation
        self._operation = operation
        _require_output_queued(switch)
        self._model = switch
        self._wiring = SwitchWiring(found.machine, switch.routing)
        self._groups = [
            (root, list(dict.fromkeys([root, *members])))
            for root, members in found.groups
        ]
        self._trees = {
            kind: spanning_trees(found.machine, kind, self._groups)
            for kind in found.trees
        }

    def simulate_size(self, size: int, progress: Any) -> SizeTimes:
        """Simulate the operation in switches and as messages, for one message size."""
        in_switches = {
            kind: self._simulate_in_switches(kind, size, progress).seconds
            for kind in self._trees
        }
        if len(self._groups) == 1:
            done, how = self._simulate_by_schedule(size, progress)
            return SizeTimes(size, in_switches, done.seconds, how)
        if IN_SWITCHES[self._operation] == "allreduce":
            return SizeTimes(size, in_switches, None, "of one root only")
        return SizeTimes(
            size,
            in_switches,
            self._simulate_by_messages(size, progress).seconds,
            "each member",
        )

    def _make_settings(self, size: int) -> Any:
        return self._model.settings(self._wiring.classes, size)

    def _simulate_in_switches(
        self, kind: str, size: int, progress: Any
    ) -> ProgramMeasure:
        trees = self._trees[kind]
        share = len(trees) // len(self._groups)
        return simulate_in_switches(
            self._wiring,
            IN_SWITCHES[self._operation],
            trees,
            [members for _, members in self._groups for _ in range(share)],
            -(-size // share),
            settings=self._make_settings(size),
            progress=progress,
        )

    def _simulate_by_schedule(
        self, size: int, progress: Any
    ) -> tuple[ProgramMeasure, str]:
        """Simulate the fastest schedule; the root is rank 0, other members follow."""
        members = self._groups[0][1]
        a_node = self._allocation.machine.slots_per_node
        first: dict[int, int] = {}
        for slot in self._allocation.slots.tolist():
            first.setdefault(slot // a_node, slot)
        slots = [first[node] for node in members]
        where = RankSlots(self._allocation, Placement(self._allocation, slots))
        call = Call(self._operation, len(members), size)
        best = rank_schedules(call, None, where)[0]
        done = simulate_schedule(
            self._wiring,
            members,
            call.schedule(best.name),
            settings=self._make_settings(size),
            progress=progress,
        )
        return done, best.name

    def _simulate_by_messages(self, size: int, progress: Any) -> ProgramMeasure:
        pairs = [
            (root, member)
            for root, members in self._groups
            for member in members
            if member != root
        ]
        if self._operation == "reduce":
            pairs = [(member, root) for root, member in pairs]
        nodes = list(range(self._allocation.machine.node_count))
        return simulate_messages(
            self._wiring,
            nodes,
            [sender for sender, _ in pairs],
            [receiver for _, receiver in pairs],
            [size] * len(pairs),
            settings=self._make_settings(size),
            progress=progress,
        )
