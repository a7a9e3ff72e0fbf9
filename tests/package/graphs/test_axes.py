# SPDX-License-Identifier: BSD-3-Clause
"""Mesh axes of training jobs: texts, orders for launchers and JAX, and gains."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, Error, Machine, load_machine
from topoloom.graphs.axes import (
    MeshOrders,
    Traffic,
    check_fit,
    mesh_graph,
    order_axes,
    parse_mesh,
    parse_traffic,
    rank_order,
)
from topoloom.graphs.phases import edge_rows
from topoloom.placements import objective_value

GB = 10**9


def order_mesh(machine: str, mesh: str, traffic: str) -> MeshOrders:
    axes = parse_mesh(mesh)
    allocation = Allocation.whole(load_machine(machine))
    return order_axes(allocation, axes, parse_traffic(traffic, axes))


def test_a_parsed_mesh_keeps_the_order_of_axes() -> None:
    assert list(parse_mesh("pp=4, tp=8,x=3").items()) == [
        ("pp", 4),
        ("tp", 8),
        ("x", 3),
    ]


def test_traffic_uses_the_usual_collective_by_default() -> None:
    mesh = parse_mesh("tp=2,ep=2,pp=2,dp=2")
    text = "tp=1kB,ep=2,pp=3,dp=halving:4,dp+ep=5,ep+tp=alltoall:6"
    assert parse_traffic(text, mesh) == [
        Traffic(("tp",), "ring", 1000),
        Traffic(("ep",), "alltoall", 2),
        Traffic(("pp",), "chain", 3),
        Traffic(("dp",), "halving", 4),
        Traffic(("dp", "ep"), "ring", 5),
        Traffic(("ep", "tp"), "alltoall", 6),
    ]


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ("", "cannot read '' of the mesh"),
        ("tp=8,", "cannot read '' of the mesh 'tp=8,': write AXIS=SIZE"),
        ("tp:8", "cannot read 'tp:8'"),
        ("tp=8x2", "cannot read 'tp=8x2'"),
        ("tp=1.5", "cannot read 'tp=1.5'"),
        ("tp=8,tp=2", "axis 'tp' of the mesh 'tp=8,tp=2' is given twice"),
        ("tp=0", "axis 'tp' of the mesh has 0 ranks; give it 1 or more"),
        ("tp=" + "9" * 20, "axis 'tp' of the mesh has 9{20} ranks; 999999999 are the"),
        ("tp=-8", "axis 'tp' of the mesh has -8 ranks"),
    ],
)
def test_an_invalid_mesh_is_refused(mesh: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        parse_mesh(mesh)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("tp", "cannot read 'tp' of the traffic: write AXIS=BYTES or"),
        ("pt=1", "no axis of the mesh 'pt'; there are: tp, dp"),
        ("tp=rng:1", r"no collective 'rng' \(did you mean 'ring'\?\); there are: ring"),
        ("tp=ring:-1", "cannot read an amount of bytes '-1'"),
        ("tp=1,tp=ring:2", "traffic tp=ring is given twice; give the sum"),
        ("tp+tp=1", "traffic 'tp\\+tp' names axis 'tp' twice"),
        ("dp=halving:1", "halving needs groups of a power of two, not of 6"),
    ],
)
def test_invalid_traffic_is_refused(traffic: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        order_mesh("torus:4x4", "tp=2,dp=6", traffic)


def test_a_mesh_that_does_not_fit_is_refused_with_a_suggestion() -> None:
    with pytest.raises(Error, match=r"has 32 ranks.* 20 slots; tp=1 or dp=10 fits"):
        order_mesh("torus:4x5", "tp=2,dp=16", "tp=1")
    with pytest.raises(Error, match="axis 'x' has 0 ranks; it needs at least 1"):
        check_fit({"x": 0}, 0, Allocation.whole(Machine("torus:4x4")))


def test_ranks_are_numbered_like_megatron_ranks() -> None:
    assert rank_order(parse_mesh("x=1,pp=1,dp=1,cp=1,tp=1")) == [
        "tp",
        "cp",
        "dp",
        "pp",
        "x",
    ]
    graph, phases = mesh_graph({"dp": 3, "tp": 2}, [Traffic(("tp",), "ring", 10)])
    assert len(phases) == 1
    pairs = edge_rows(graph)[:, :2].tolist()
    assert pairs == [[0, 1], [1, 0], [2, 3], [3, 2], [4, 5], [5, 4]]


def test_the_device_array_has_the_shape_of_the_mesh() -> None:
    # The slots are reversed, so that device numbers differ from slot numbers.
    machine = Machine("torus:2x2x2")
    allocation = Allocation(machine, list(range(8))[::-1])
    mesh = parse_mesh("pp=2,tp=4")
    orders = order_axes(allocation, mesh, [Traffic(("tp",), "ring", 1)])
    assert orders.devices(orders.given).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for order in (orders.given, orders.nested, orders.best):
        devices = orders.devices(order)
        assert sorted(devices.ravel().tolist()) == list(range(8))
        ranks = orders.device_of_rank(order)
        assert np.array_equal(devices, ranks.reshape(2, 4))
        assert np.array_equal(allocation.slots[ranks], order.slots)


def test_a_nested_order_equals_its_definition() -> None:
    """As in Megatron's order names, the first axis is the fastest."""
    orders = order_mesh(
        "rails:4:4:1,bandwidth=1GB/s,bandwidth.nvlink=9GB/s",
        "tp=4,dp=4",
        "tp=1MB,dp=1GB",
    )
    assert orders.text(orders.nested) == "dp-tp"
    tp_of_device = np.argsort(orders.device_of_rank(orders.nested)) % 4
    assert tp_of_device.tolist() == np.repeat(np.arange(4), 4).tolist()


def test_printed_seconds_equal_the_time_objective() -> None:
    orders = order_mesh(
        "tpu-v4-cube", "tp=4,ep=4,dp=4", "tp=1GB,ep=2GB,dp=halving:1GB,dp+ep=1GB"
    )
    for order in (orders.given, orders.nested, orders.best):
        graph, phases = orders.graph(order)
        assert len(phases) == 5
        value = objective_value(
            graph,
            orders.allocation,
            orders.placement(order),
            objective="time",
            phases=phases,
        )
        assert value == pytest.approx(order.total)
        assert sum(order.seconds) == pytest.approx(order.total)


@pytest.mark.parametrize(
    ("torus", "rings"), [("4x4", [4, 4]), ("8x4", [4, 8]), ("4x4x4", [4, 4, 4])]
)
def test_a_ring_along_a_whole_torus_uses_all_links(
    torus: str, rings: list[int]
) -> None:
    ranks = np.prod(rings)
    orders = order_mesh(f"torus:{torus},bandwidth=50GB/s", f"tp={ranks}", "tp=12GB")
    assert orders.given.ring_shapes == [rings]
    assert orders.given.total == pytest.approx(12 / 50 / (2 * len(rings)), rel=1e-3)


def test_groups_of_16_leave_8_gpus_of_a_72_gpu_domain_idle() -> None:
    orders = order_mesh("nvl72-row", "tp=16,dp=32", "tp=16GB,dp=1GB")
    domains = orders.best.slots.reshape(32, 16) // 72
    assert (domains == domains[:, :1]).all()
    # A ring of 16 GB per rank over NVLinks of 900 GB/s; startup is microseconds.
    assert orders.best.seconds[0] == pytest.approx(16 / 900, rel=1e-4)
    assert orders.given.seconds[0] == pytest.approx(16 / 50 / 2, rel=1e-4)


def test_an_axis_larger_than_a_torus_axis_is_split() -> None:
    orders = order_mesh("torus:4x4x4", "ep=8,dp=8", "ep=7GB,dp=1GB")
    best = orders.text(orders.best)
    assert "ep2" in best or "ep4" in best
    assert orders.best.total < orders.nested.total


def test_a_mesh_without_traffic_takes_no_time() -> None:
    orders = order_mesh("torus:4", "tp=1,dp=4", "tp=1GB")
    assert orders.best.total == 0
    assert mesh_graph(orders.mesh, orders.traffic)[0].edge_count == 0
