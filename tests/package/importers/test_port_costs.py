# SPDX-License-Identifier: BSD-3-Clause
"""Checks the cost of the route from each core to the nearest NIC."""

from __future__ import annotations

import pytest

from topoloom.nodes.node_levels import (
    Container,
    NearDevice,
    NodeCores,
    format_levels,
    format_nodes,
)
from topoloom.nodes.node_parts import compress_port_costs

CORES = [1 << cpu for cpu in range(8)]
PACKAGES = [Container("Package", 0x0F), Container("Package", 0xF0)]
DOMAINS = [Container("NUMANode", 0x03 << shift) for shift in (0, 2, 4, 6)]
CACHES = [Container("L2Cache", core) for core in CORES]


def make_nic(cpus: int, name: str = "mlx5_0") -> NearDevice:
    return NearDevice(name, "nic", cpus)


@pytest.mark.parametrize(
    ("devices", "port"),
    [
        ([], ""),
        ([make_nic(0x0F)], ",port=0:8"),
        ([make_nic(0xF0)], ",port=8:0"),
        ([make_nic(0x0F), make_nic(0xF0, "mlx5_1")], ""),
        # A GPU is not a NIC; an interface that is near all cores adds no cost.
        ([NearDevice("cuda0", "gpu", 0x0F)], ""),
        ([make_nic(0xF0), make_nic(0xFF, "eth0")], ",port=8:0"),
        ([make_nic(0xFF, "eth0")], ""),
    ],
)
def test_cores_far_from_all_interfaces_pay_a_port_cost(
    devices: list[NearDevice], port: str
) -> None:
    levels = format_levels(NodeCores(CORES, PACKAGES, devices))
    assert levels == f"+node:4:2,distance=8:16{port}"
    assert format_nodes(3, levels) == f"tree:3+node:4:2,distance=8:16:16{port}"


def test_the_port_cost_of_a_core_follows_the_objects_shared_with_the_nic() -> None:
    inside = NodeCores(CORES, [*CACHES, *DOMAINS, *PACKAGES], [make_nic(0x0C)])
    assert format_levels(inside) == "+node:2:2:2,distance=4:8:16,port=4:0:8:8"
    some = format_levels(inside.restrict_to(0x77))
    # The fourth core of each package, in a domain of its own, is a vacant place.
    assert some == "+node:2:2:2,distance=4:8:16,port=4:0:8:8"
    # If no core near an interface is usable, the interface's location is unknown.
    assert "port" not in format_levels(inside.restrict_to(0xF3))


@pytest.mark.parametrize(
    ("costs", "shortest"),
    [
        ([], []),
        ([0, 0, 0], []),
        ([3, 3, 3], [3]),
        ([0, 0, 8, 8], [0, 8]),
        ([0, 8, 8, 0], [0, 8, 8, 0]),
        ([1, 1, 2, 2, 2, 2], [1, 2, 2]),
    ],
)
def test_costs_are_written_with_the_fewest_runs(
    costs: list[int], shortest: list[int]
) -> None:
    assert compress_port_costs(costs) == shortest
