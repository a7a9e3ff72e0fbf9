# SPDX-License-Identifier: BSD-3-Clause
"""Kubernetes nodes with GPUs on HGX boards, joined by NVLink, or on PCIe cards."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_nvlink import LEAF, PRODUCT, TYPE, format_items, make_item

from topoloom.importers.network_speeds import GivenSpeeds
from topoloom.machines.machine_file import load_machine_and_description

MODEL = "node.coreweave.cloud/type"


def format_hosts(labels: dict[str, str], gpus: int = 8) -> str:
    return format_items(
        [make_item(f"n{i}", labels | {LEAF: f"l{i // 2}"}, gpus) for i in range(4)]
    )


@pytest.mark.parametrize(
    ("labels", "nvlink", "network"),
    [
        ({PRODUCT: "NVIDIA-A100-SXM4-80GB"}, 300, 200),
        ({PRODUCT: "NVIDIA-H100-80GB-HBM3"}, 450, 400),
        ({PRODUCT: "NVIDIA-H200"}, 450, 400),
        ({PRODUCT: "NVIDIA-B200"}, 900, 400),
        ({PRODUCT: "NVIDIA-B300-SXM6-AC"}, 900, 800),
        ({TYPE: "p5.48xlarge"}, 450, 400),
        ({TYPE: "p4d.24xlarge"}, 300, 50),
        ({TYPE: "a3-megagpu-8g"}, 450, 225),
        ({TYPE: "Standard_ND96isr_H100_v5"}, 450, 400),
        ({MODEL: "gd-8xh100ib-i128"}, 450, 400),
        ({"gpu.nvidia.com/class": "H100_NVLINK"}, 450, 400),
    ],
)
def test_nvlink_inside_nodes_has_the_speed_of_the_board(
    labels: dict[str, str], nvlink: float, network: float, tmp_path: Path
) -> None:
    (tmp_path / "nodes.json").write_text(format_hosts(labels))
    machine, described = load_machine_and_description(tmp_path / "nodes.json")
    assert machine.text == (
        f"tree:2:2,bandwidth={network}GB/s:{2 * network}GB/s"
        f"+node:8,memory={8 * nvlink}GB/s"
    )
    assert any(
        one.startswith(f"assumed: NVLink of {nvlink} GB/s per GPU")
        for one in described.remarks
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({PRODUCT: "NVIDIA-H100-PCIe"}, "PCIe cards: NVIDIA-H100-PCIe"),
        ({PRODUCT: "NVIDIA-L40S"}, "PCIe cards: NVIDIA-L40S"),
        ({"gpu.nvidia.com/class": "A100_PCIE_80GB"}, "PCIe cards: A100_PCIE_80GB"),
        ({TYPE: "Standard_NC96ads_A100_v4"}, "PCIe cards: Standard_NC96ads_A100_v4"),
        ({PRODUCT: "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}, "no label names a GPU"),
        ({}, "no label names a GPU"),
    ],
)
def test_gpus_without_nvlink_are_reported_by_a_remark(
    labels: dict[str, str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "nodes.json").write_text(format_hosts(labels))
    machine, described = load_machine_and_description(tmp_path / "nodes.json")
    assert machine.text.endswith("+node:8")
    assert any("NVLink inside nodes" in o and message in o for o in described.remarks)


def test_mixed_boards_count_as_the_slowest(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    own = [{PRODUCT: "NVIDIA-H100-80GB-HBM3"}, {PRODUCT: "NVIDIA-A100-SXM4-40GB"}]
    items = [
        make_item(f"n{i}", {LEAF: "l0"} | own[i % 2], 8 - i // 3) for i in range(4)
    ]
    path.write_text(format_items(items))
    assert load_machine_and_description(path)[0].text == (
        "tree:4,bandwidth=200GB/s+node:8,memory=2400GB/s"
    )
    items[0]["metadata"]["labels"].pop(PRODUCT)
    path.write_text(format_items(items))
    _, described = load_machine_and_description(path)
    assert any("since some have none or no label" in o for o in described.remarks)


def test_given_speeds_of_nvlink_and_network_are_used(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(format_hosts({PRODUCT: "NVIDIA-H100-80GB-HBM3"}))
    machine, described = load_machine_and_description(
        path, speeds=GivenSpeeds(200e9, 400e9)
    )
    assert machine.text == ("tree:2:2,bandwidth=200GB/s:400GB/s+node:8,memory=3200GB/s")
    assert described.remarks[0].startswith("NVLink of 400 GB/s per GPU")
    assert not any("450 GB/s" in one for one in described.remarks)
