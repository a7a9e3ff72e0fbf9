# SPDX-License-Identifier: BSD-3-Clause
"""The search for an order compares times of NCCL: a reference, group by group."""

from __future__ import annotations

import pytest
from nccl_job_times import make_times, time_by_nccl

from topoloom import Allocation, Machine, load_machine
from topoloom.frameworks import MegatronJob
from topoloom.graphs.axes import order_axes, parse_mesh, parse_traffic
from topoloom.graphs.layouts import Layout, order_layouts

HOSTS = load_machine("rails:4:18:4,bandwidth=25GB/s,bandwidth.nvlink=300GB/s")
RACKS = load_machine("rails:72:4:1,bandwidth=50GB/s,bandwidth.nvlink=900GB/s")


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
        expected = time_by_nccl(allocation, layout, sends, order.slots)
        assert order.total == pytest.approx(expected, rel=1e-9)
    by_line_rates = order_axes(allocation, axes, sends).best
    found = time_by_nccl(allocation, layout, sends, by_line_rates.slots)
    assert orders.best.total <= found * (1 + 1e-9)


@pytest.mark.parametrize("machine", [HOSTS, RACKS])
def test_layouts_have_the_time_of_their_slowest_groups(machine: Machine) -> None:
    job = MegatronJob(tp=4, cp=2, dp=8, pp=2, ep=4, etp=1)
    sends = parse_traffic("tp=1GB,cp=5GB,ep=2GB,pp=1GB,edp=3GB", job.axes)
    allocation = Allocation.whole(machine)
    times = make_times(allocation)
    orders = order_layouts(allocation, job.layouts(), sends, times=times)
    for order in (orders.given, orders.nested, orders.best):
        expected = time_by_nccl(allocation, orders.layout(order), sends, order.slots)
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
    found = time_by_nccl(allocation, layout, sends, line.best.slots)
    assert orders.best.total < 0.81 * found
