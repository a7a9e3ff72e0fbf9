# SPDX-License-Identifier: BSD-3-Clause
"""Slices of TPUs from Kubernetes nodes: shapes, links and distances by hand."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from topoloom import Error, Machine
from topoloom.importers.cloud.kubernetes import read_kubernetes_nodes
from topoloom.importers.machine_description import MachineDescription

LABEL = "cloud.google.com/gke-"


def make_nodes(
    pool: str, kind: str, shape: str, nodes: int, chips: int = 4
) -> list[dict[str, Any]]:
    return [
        {
            "kind": "Node",
            "metadata": {
                "name": f"{pool}-{at}",
                "labels": {
                    f"{LABEL}nodepool": pool,
                    f"{LABEL}tpu-accelerator": kind,
                    f"{LABEL}tpu-topology": shape,
                },
            },
            "status": {
                "capacity": {"cpu": "24", "google.com/tpu": str(chips)},
                "allocatable": {"cpu": "23", "google.com/tpu": str(chips)},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for at in range(nodes)
    ]


def read(nodes: list[dict[str, Any]]) -> MachineDescription:
    return read_kubernetes_nodes(json.dumps({"kind": "List", "items": nodes}))


@pytest.mark.parametrize(
    ("kind", "shape", "nodes", "network", "link", "diameter"),
    [
        ("tpu-v5-lite-podslice", "4x8", 8, "mesh:4x8", 50e9, 3 + 7),
        ("tpu-v5-lite-podslice", "16x16", 64, "torus:16x16", 50e9, 8 + 8),
        ("tpu-v6e-slice", "8x16", 32, "torus:8x16,wrap=01", 100e9, 7 + 8),
        ("tpu-v5p-slice", "4x4x8", 32, "torus:4x4x8", 100e9, 2 + 2 + 4),
        ("tpu-v4-podslice", "2x2x4", 4, "mesh:2x2x4", 50e9, 1 + 1 + 3),
        ("tpu7x", "2x4x4", 8, "mesh:2x4x4", 100e9, 1 + 3 + 3),
    ],
)
def test_a_slice_is_a_grid_of_chips(
    kind: str, shape: str, nodes: int, network: str, link: float, diameter: int
) -> None:
    described = read(make_nodes("p", kind, shape, nodes))
    machine = Machine(described.text)
    assert described.text.startswith(f"{network},bandwidth=")
    assert machine.node_count == 4 * nodes
    assert machine.hop_matrix().max() == diameter
    assert machine.bandwidth(0) == link
    assert any(f"{nodes} nodes" in remark for remark in described.remarks)


def test_slices_exchange_messages_over_the_data_center_network() -> None:
    """Routes within a slice of 4x8 chips have at most 10 hops, those between 12."""
    nodes = make_nodes("a", "tpu-v6e-slice", "4x8", 8)
    nodes += make_nodes("b", "tpu-v6e-slice", "4x8", 8)
    described = read(nodes)
    machine = Machine(described.text)
    alone = Machine("mesh:4x8").hop_matrix()
    hops = machine.hop_matrix()
    assert (hops[:32, :32] == alone).all()
    assert (hops[32:, 32:] == alone).all()
    assert (hops[:32, 32:] == 12).all()
    rates = {machine.bandwidth(each) for each, _ in machine.route(5, 40)}
    assert rates == {12.5e9}
    assert "assumed: 100 Gbit/s per chip between 2 slices" in described.remarks[-1]


def test_nodes_with_all_chips_are_slices_of_their_own() -> None:
    described = read(make_nodes("p", "tpu-v5-lite-podslice", "2x4", 3, chips=8))
    hops = Machine(described.text).hop_matrix()
    for a, b in itertools.product(range(3), repeat=2):
        block = hops[8 * a : 8 * a + 8, 8 * b : 8 * b + 8]
        assert block.max() == (4 if a == b else 6)
        assert (block.min() == 6) == (a != b)


def test_what_nodes_say_besides_is_counted() -> None:
    nodes = make_nodes("p", "tpu-v5p-slice", "4x4x8", 32)
    nodes[3]["spec"] = {"unschedulable": True}
    nodes[4]["status"]["allocatable"]["google.com/tpu"] = "3"
    nodes.append({"kind": "Node", "metadata": {"name": "cpu"}, "status": {}})
    remarks = read(nodes).remarks
    assert remarks[2:] == (
        "assumed: no twisted torus, which 1 slice may be",
        "2 nodes cordoned, not ready or without all chips, whose chips are not known: "
        "p-3, p-4",
        "left out: 1 node without TPUs",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (f"{LABEL}tpu-topology", "x", "'p-0' lacks the label .*gke-tpu-topology"),
        (f"{LABEL}nodepool", "x", "'p-0' lacks the label .*gke-nodepool"),
        ("tpu-v6e-slice", "tpu-v9", "type tpu-v9, which is not known; known are"),
        ('"4x4"', '"4x4x4"', "topology 4x4x4; expected 2 sizes, such as 4x4"),
        ('"4x4"', '"4x8"', "have 16 TPU chips, but a slice of 4x8 has 32"),
        ('tpu": "4"', 'tpu": "-4"', "has '-4' TPU chips"),
        ('"p-1"', '"p-0"', "appears twice"),
    ],
)
def test_slices_that_do_not_fit_are_refused(old: str, new: str, message: str) -> None:
    nodes = make_nodes("p", "tpu-v6e-slice", "4x4", 4)
    text = json.dumps({"kind": "List", "items": nodes}).replace(old, new)
    with pytest.raises(Error, match=message):
        read_kubernetes_nodes(text)
