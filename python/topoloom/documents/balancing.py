# SPDX-License-Identifier: BSD-3-Clause
"""Documents of task redistributions."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class PlanMeasures(TypedDict):
    """Measures of a plan."""

    messages: int
    """Number of messages."""
    tasks: int
    """Number of tasks that move."""
    max_receives: int
    """Most messages to a rank."""
    max_tasks_received: int
    """Most tasks to a rank."""
    max_sends: int
    """Most messages from a rank."""
    max_tasks_sent: int
    """Most tasks from a rank."""


class LoadRange(TypedDict):
    """The least and the most loaded rank."""

    min: int
    """Tasks of the least loaded rank."""
    max: int
    """Tasks of the most loaded rank."""


class SimulatedMoves(TypedDict):
    """Simulated seconds of the transfers, by simulator."""

    switches: NotRequired[float]
    """Seconds in the built-in switches."""
    simgrid: NotRequired[float]
    """Seconds in SMPI, if SimGrid is installed."""


class TransferCostFields(TypedDict, total=False):
    """The cost of transfers on a machine."""

    machine: str
    """The machine as text; absent without a machine."""
    bytes: int
    """Bytes of a task; absent without a machine."""
    hop_bytes: float
    """Hop-bytes of the transfers; absent without a machine."""
    hops_per_byte: float
    """Hop-bytes divided by all bytes; absent without a machine."""
    congestion_max: float
    """Load of the busiest link: seconds, or bytes without bandwidths."""


class BalanceDocument(TransferCostFields):
    """A redistribution of equal tasks."""

    method: str
    """Name of the balancer."""
    ranks: int
    """Number of ranks."""
    tasks: int
    """Number of tasks."""
    plan: list[list[int]]
    """Transfers: source rank, target rank, number of tasks."""
    measures: PlanMeasures
    """Measures of the plan."""
    at_least: PlanMeasures
    """Lower bounds for all plans with the same final loads."""
    rounds: int
    """Number of rounds; a rank sends only tasks that it already has."""
    loads_before: LoadRange
    """Loads before the redistribution."""
    loads_after: LoadRange
    """Loads after the redistribution."""
    simulated_seconds: NotRequired[SimulatedMoves]
    """Simulated durations; with --simulate."""


class BalanceTasksDocument(TypedDict):
    """A redistribution of weighted tasks."""

    ranks: int
    """Number of ranks."""
    tasks: int
    """Number of tasks."""
    moves: list[tuple[str, int, int]]
    """Tasks that move: name, old rank, new rank."""
    load_max_over_mean: float
    """Load of the busiest rank divided by the mean."""
    moved_bytes: int
    """Bytes of the tasks that move."""
    moved_bytes_at_least: int
    """Lower bound on the bytes of tasks that move."""
    cut_bytes_before: NotRequired[int]
    """Bytes between ranks per period, before; absent without messages."""
    cut_bytes: NotRequired[int]
    """Bytes between ranks per period, after; absent without messages."""
    machine: NotRequired[str]
    """The machine as text; absent without a machine."""
    moved_hop_bytes: NotRequired[float]
    """Hop-bytes of the tasks that move; absent without a machine."""
    hop_bytes_before: NotRequired[float]
    """Hop-bytes per period, before; absent without machine and messages."""
    hop_bytes: NotRequired[float]
    """Hop-bytes per period, after; absent without machine and messages."""
    cost_before: NotRequired[float]
    """Bytes between ranks over all periods, before; with a machine, hop-bytes."""
    cost: NotRequired[float]
    """The same after the redistribution, with the tasks that move."""
    simulated_seconds: NotRequired[SimulatedMoves]
    """Simulated durations; with --simulate."""
