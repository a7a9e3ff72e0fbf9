# SPDX-License-Identifier: BSD-3-Clause
"""Raises lower bounds for problems in which some ranks are fixed on slots.

Bounds for all placements stay valid. Messages between two fixed ranks have known costs.
Messages between a fixed rank and the others cost the least if the heaviest partners are
on the nearest slots. Bytes between a fixed rank and the others leave its node, unless
the others fit there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topoloom._core import (
    Allocation,
    Bounds,
    CommGraph,
    Placement,
    judge,
    predicted_time,
)
from topoloom.graphs.phases import edge_rows
from topoloom.placements.fixed_ports import FixedPorts

FIXED = "fixed ranks"
#: Maximum number of pairs of a fixed rank and a slot whose distances are computed.
_MAX_PAIRS = 2**22


class FixedBounds(NamedTuple):
    """Lower bounds with the attributes of `topoloom.Bounds`."""

    hop_bytes: int
    hop_bytes_by: str
    congestion: float
    congestion_by: str
    congestion_where: str
    time: float | None
    time_by: str
    time_where: str


AnyBounds = Bounds | FixedBounds
Edges = npt.NDArray[np.int64]  # rows of source, target, bytes and messages


def raise_bounds(
    found: Bounds,
    graph: CommGraph,
    allocation: Allocation,
    phases: Sequence[CommGraph],
    fixed: Mapping[int, int],
    shared: bool,
    prove: Callable[[CommGraph], Bounds],
) -> AnyBounds:
    """Raise bounds for placements that have the `fixed` ranks on their slots.

    `prove` finds bounds of a part of the graph. With `shared`, ranks may share slots.
    """
    if not fixed or len(graph.proxied):
        return found
    hop_bytes = _bound_hop_bytes(graph, allocation, fixed, shared, prove)
    ranks = np.array(sorted(fixed), dtype=np.int64)
    slots = np.array([fixed[rank] for rank in ranks.tolist()], dtype=np.uint32)
    placement = Placement(allocation, slots, shared=len(np.unique(slots)) < len(slots))
    among = _select_fixed(graph, ranks)
    loads = judge(among, allocation, placement, hottest=0).congestion_max
    ports = FixedPorts(allocation, fixed, graph.rank_count, shared)
    loads, loads_by = max(
        (loads, "messages"), (ports.bound_seconds(graph), "injection")
    )
    best = FixedBounds(
        found.hop_bytes,
        found.hop_bytes_by,
        found.congestion,
        found.congestion_by,
        found.congestion_where,
        found.time,
        found.time_by,
        found.time_where,
    )
    if hop_bytes > found.hop_bytes:
        best = best._replace(hop_bytes=hop_bytes, hop_bytes_by=FIXED)
    if loads > found.congestion:
        best = best._replace(
            congestion=loads, congestion_by=loads_by, congestion_where=FIXED
        )
    if found.time is None:
        return best
    parts = [_select_fixed(phase, ranks) for phase in phases]
    at_ports = sum(ports.bound_seconds(phase) for phase in phases or [graph])
    time, time_by = max(
        (predicted_time(among, allocation, placement, phases=parts), "messages"),
        (at_ports, "injection"),
    )
    if time > found.time:
        best = best._replace(time=time, time_by=time_by, time_where=FIXED)
    return best


def _bound_hop_bytes(
    graph: CommGraph,
    allocation: Allocation,
    fixed: Mapping[int, int],
    shared: bool,
    prove: Callable[[CommGraph], Bounds],
) -> int:
    edges = edge_rows(graph)
    slot_of = np.full(graph.rank_count, -1, dtype=np.int64)
    slot_of[list(fixed)] = list(fixed.values())
    ends = slot_of[edges[:, :2]] >= 0
    between = edges[ends.all(axis=1)]
    distances = allocation.machine.distance(
        slot_of[between[:, 0]], slot_of[between[:, 1]]
    )
    known = int(between[:, 2] @ distances.astype(np.int64))
    rest = _make_graph(graph.rank_count, edges[~ends.all(axis=1)])
    bound = prove(rest).hop_bytes
    if not shared and len(fixed) * allocation.slot_count <= _MAX_PAIRS:
        free = _make_graph(graph.rank_count, edges[~ends.any(axis=1)])
        stars = _bound_stars(edges[ends.any(axis=1)], slot_of, allocation)
        bound = max(bound, stars + prove(free).hop_bytes)
    return known + bound


def _bound_stars(edges: Edges, slot_of: Edges, allocation: Allocation) -> int:
    """Sum the least cost of each fixed rank's messages to and from other ranks.

    A sum of products is smallest if one factor ascends and the other one descends.
    """
    free_slots = np.setdiff1d(allocation.slots, slot_of[slot_of >= 0])
    total = 0
    for rank in np.flatnonzero(slot_of >= 0).tolist():
        amounts = np.zeros(len(slot_of), dtype=np.int64)
        for own, other in ((0, 1), (1, 0)):
            rows = edges[edges[:, own] == rank]
            np.add.at(amounts, rows[:, other], rows[:, 2])
        amounts = -np.sort(-amounts[slot_of < 0])
        distances = _measure_distances(int(slot_of[rank]), free_slots, allocation)
        total += int(amounts @ np.sort(distances)[: len(amounts)])
    return total


def _measure_distances(slot: int, others: Any, allocation: Allocation) -> Edges:
    """Measure the distances between a slot and others; the shorter direction counts."""
    here = np.full(len(others), slot, dtype=np.uint32)
    away = allocation.machine.distance(here, others)
    back = allocation.machine.distance(others, here)
    return np.minimum(away, back).astype(np.int64)


def _select_fixed(graph: CommGraph, ranks: Edges) -> CommGraph:
    """Select the messages between fixed ranks, which are renumbered."""
    number = np.full(graph.rank_count, -1, dtype=np.int64)
    number[ranks] = np.arange(len(ranks))
    edges = edge_rows(graph)
    edges[:, :2] = number[edges[:, :2]]
    return _make_graph(len(ranks), edges[(edges[:, :2] >= 0).all(axis=1)])


def _make_graph(rank_count: int, edges: Edges) -> CommGraph:
    return CommGraph.from_edges(rank_count, *edges.T)
