# SPDX-License-Identifier: BSD-3-Clause
"""Times of NCCL for a job's traffic on given slots, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom import Allocation, Placement
from topoloom._core import CommGraph, mesh_phases
from topoloom.frameworks.nccl_times import NcclTimes, make_nccl_times
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import Layout, layout_graph
from topoloom.graphs.phases import add_phases
from topoloom.placements import objective_value

Slots = NDArray[np.integer[Any]]


def make_times(allocation: Allocation) -> NcclTimes:
    times = make_nccl_times(allocation)
    assert times is not None
    return times


def time_at_line_rates(
    allocation: Allocation, phases: list[CommGraph], slots: Slots
) -> float:
    graph = add_phases(phases, len(slots))
    placement = Placement(allocation, slots)
    problem = (graph, allocation, placement)
    return objective_value(*problem, objective="time", phases=phases)


def time_by_nccl(
    allocation: Allocation, layout: Layout, traffic: Sequence[Traffic], place: Slots
) -> float:
    """Stretch the time at line rates as the slowest group alone is stretched.

    `place` has the slot of every rank.
    """
    times, sum = make_times(allocation), 0.0
    for one in traffic:
        _, phases = layout_graph(layout, [one])
        taken = time_at_line_rates(allocation, phases, place)
        alone: list[tuple[float, float]] = []
        for group in layout.groups(*one.axes):
            slots = place[group].astype(np.int64)
            if one.collective == "chain" or len(slots) == 1:
                continue
            ring = mesh_phases([len(slots)], ([0], one.collective, one.bytes))
            domains = len(set((slots // times.domain).tolist()))
            predicted = times.predict_seconds(one, len(slots), domains)
            alone.append((time_at_line_rates(allocation, ring, slots), predicted))
        slowest = max((seconds for seconds, _ in alone), default=0.0)
        near = [by for seconds, by in alone if seconds > slowest * (1 - 1e-12)]
        sum += taken * max(near) / slowest if near else taken
    return sum
