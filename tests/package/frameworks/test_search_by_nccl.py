# SPDX-License-Identifier: BSD-3-Clause
"""The search for an order compares times of NCCL: a reference, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from topoloom import Allocation, Machine, Placement, load_machine
from topoloom._core import AxisOrder, CommGraph, mesh_phases
from topoloom.frameworks import MegatronJob
from topoloom.frameworks.nccl_times import NcclTimes, make_nccl_times
from topoloom.graphs.axes import (
    Traffic,
    order_axes,
    parse_mesh,
    parse_traffic,
)
from topoloom.graphs.layouts import Layout, layout_graph, order_layouts
from topoloom.graphs.phases import add_phases
from topoloom.placements import objective_value

HOSTS = load_machine("rails:4:18:4,bandwidth=25GB/s,bandwidth.nvlink=300GB/s")
RACKS = load_machine("rails:72:4:1,bandwidth=50GB/s,bandwidth.nvlink=900GB/s")


def make_times(allocation: Allocation) -> NcclTimes:
    times = make_nccl_times(allocation)
    assert times is not None
    return times


def time_at_line_rates(
    allocation: Allocation, phases: list[CommGraph], slots: NDArray[np.integer[Any]]
) -> float:
    graph = add_phases(phases, len(slots))
    placement = Placement(allocation, slots)
    problem = (graph, allocation, placement)
    return objective_value(*problem, objective="time", phases=phases)


def time_by_nccl(
    allocation: Allocation, layout: Layout, traffic: list[Traffic], order: AxisOrder
) -> float:
    """Stretch the time at line rates as the slowest group alone is stretched."""
    times, sum = make_times(allocation), 0.0
    for one in traffic:
        _, phases = layout_graph(layout, [one])
        taken = time_at_line_rates(allocation, phases, order.slots)
        alone: list[tuple[float, float]] = []
        for group in layout.groups(*one.axes):
            slots = order.slots[group].astype(np.int64)
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


@pytest.mark.parametrize("machine", [HOSTS, RACKS])
@pytest.mark.parametrize(
    ("mesh", "traffic"),
    [
        ("tp=4,dp=18", "tp=1GB,dp=9GB"),
        ("tp=2,ep=4,dp=36", "tp=1GB,ep=1GB,dp=20GB"),
        ("tp=8,dp=16,pp=2", "tp=1GB,dp=halving:1GB,pp=100MB"),
    ],
)
def test_orders_of_a_mesh_have_the_time_of_their_slowest_groups(
    machine: Machine, mesh: str, traffic: str
) -> None:
    axes = parse_mesh(mesh)
    sends = parse_traffic(traffic, axes)
    allocation = Allocation.whole(machine)
    layout = Layout("", (tuple(axes.items()),))
    orders = order_axes(allocation, axes, sends, times=make_times(allocation))
    for order in (orders.given, orders.nested, orders.best):
        expected = time_by_nccl(allocation, layout, sends, order)
        assert order.total == pytest.approx(expected, rel=1e-9)
    by_line_rates = order_axes(allocation, axes, sends).best
    found = time_by_nccl(allocation, layout, sends, by_line_rates)
    assert orders.best.total <= found * (1 + 1e-9)


@pytest.mark.parametrize("machine", [HOSTS, RACKS])
def test_layouts_have_the_time_of_their_slowest_groups(machine: Machine) -> None:
    job = MegatronJob(tp=4, cp=2, dp=8, pp=2, ep=4, etp=1)
    sends = parse_traffic("tp=1GB,cp=5GB,ep=2GB,pp=1GB,edp=3GB", job.axes)
    allocation = Allocation.whole(machine)
    times = make_times(allocation)
    orders = order_layouts(allocation, job.layouts(), sends, times=times)
    for order in (orders.given, orders.nested, orders.best):
        expected = time_by_nccl(allocation, orders.layout(order), sends, order)
        assert order.total == pytest.approx(expected, rel=1e-9)


def test_the_search_finds_orders_that_are_slower_at_line_rates() -> None:
    # At line rates a group has one ring, so pairs of dp share a host of 4 GPUs; NCCL's
    # ring through 4 GPUs of a host uses 4 NICs.
    axes = parse_mesh("tp=4,dp=18")
    sends = parse_traffic("tp=1GB,dp=9GB", axes)
    allocation = Allocation.whole(HOSTS)
    layout = Layout("", (tuple(axes.items()),))
    orders = order_axes(allocation, axes, sends, times=make_times(allocation))
    line = order_axes(allocation, axes, sends)
    assert (line.text(line.best), orders.text(orders.best)) == ("dp2-tp-dp9", "dp-tp")
    found = time_by_nccl(allocation, layout, sends, line.best)
    assert orders.best.total < 0.81 * found
