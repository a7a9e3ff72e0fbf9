# SPDX-License-Identifier: BSD-3-Clause
"""Links inside nodes: GPUs on HGX boards and AMD's OAM boards, and their bandwidth.

NVSwitches connect all GPUs of a board with each other. Source: NVIDIA's product pages,
which state the bidirectional bandwidth per GPU: 600 GB/s for A100, 900 GB/s for H100
and H200, 1.8 TB/s for B200 and B300. PCIe cards have no NVLink; bridges between two
cards are not modelled. AMD's boards have an xGMI link between any two of 8 GPUs; data
sheets state both directions: 128 GB/s for MI300X and MI325X, 153.6 GB/s for MI350X and
MI355X.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from topoloom.support.units import format_bandwidth

#: NVLink bandwidth per GPU and direction in bytes/s.
HGX = {"A100": 300e9, "H100": 450e9, "H200": 450e9, "B200": 900e9, "B300": 900e9}
#: xGMI bandwidth per GPU and direction in bytes/s, to all 7 others.
OAM = {"MI300X": 448e9, "MI325X": 448e9, "MI350X": 537.6e9, "MI355X": 537.6e9}
_BOARDS = HGX | OAM
#: Instance types in the cloud with these boards.
_INSTANCES = {
    "p4d.24xlarge": "A100",
    "p4de.24xlarge": "A100",
    "p5.48xlarge": "H100",
    "p5e.48xlarge": "H200",
    "p5en.48xlarge": "H200",
    "p6-b200.48xlarge": "B200",
    "a2-highgpu-8g": "A100",
    "a3-highgpu-8g": "H100",
    "a3-megagpu-8g": "H100",
    "a3-ultragpu-8g": "H200",
    "a4-highgpu-8g": "B200",
    "BM.GPU4.8": "A100",
    "BM.GPU.A100-v2.8": "A100",
    "BM.GPU.MI300X.8": "MI300X",
    "BM.GPU.MI355X.8": "MI355X",
}
#: The lookbehind excludes GB200 and GH200.
_BOARD = re.compile(rf"(?<!g)({'|'.join(_BOARDS)})(?![0-9])", re.I)
_CARD = re.compile(r"PCIE|\bNVL\b|_NC[0-9]|\b(?:L4|L40S?|A10|A16|A40|T4)\b", re.I)
#: A MIG slice of a GPU, which has no NVLink to other slices.
_SLICE = re.compile(r"\bMIG\b")
#: Labels with the GPU name: of NVIDIA's operator, CoreWeave, Google, any cloud.
_LABELS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "gpu.nvidia.com/class",
    "gpu.nvidia.com/model",
    "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type",
    "node.coreweave.cloud/type",
)


def find_board_gpu(labels: Mapping[str, str]) -> str:
    """Return the GPU of a node's HGX board, a key of `HGX`; empty if unknown."""
    named = [labels[label] for label in _LABELS if labels.get(label)]
    if find_card_gpu(labels) or any(map(_SLICE.search, named)):
        return ""
    for value in named:
        if value in _INSTANCES:
            return _INSTANCES[value]
        if match := _BOARD.search(value):
            return match[1].upper()
    return ""


def find_card_gpu(labels: Mapping[str, str]) -> str:
    """Return the label value of a PCIe card; empty for other GPUs."""
    named = filter(None, map(labels.get, _LABELS))
    return next((value for value in named if _CARD.search(value)), "")


def format_intra_node_nvlink(
    boards: Collection[str], cards: Collection[str], gpus: int
) -> tuple[str, tuple[str, ...]]:
    """Format the NVLink bandwidth of nodes with `gpus` GPUs; also return remarks.

    `boards` and `cards` are the results of `find_board_gpu` and `find_card_gpu` for all
    nodes. The slowest board determines the bandwidth of all nodes. If a node has no
    board, NVLink is omitted.
    """
    if gpus == 1:
        return "", ()
    if "" in boards:
        if any(boards):
            what = "NVLink inside nodes, since some have none or no label of their GPU"
        elif any(cards):
            named = ", ".join(sorted(filter(None, set(cards))))
            what = f"no NVLink inside nodes, whose GPUs are PCIe cards: {named}"
            return "", (f"assumed: {what}",)
        else:
            what = "NVLink inside nodes, since no label names a GPU that has it"
        return "", (f"left out: {what}",)
    slowest = min(boards, key=lambda one: (_BOARDS[one], one))
    speed = _BOARDS[slowest]
    link, board = ("xGMI", "") if slowest in OAM else ("NVLink", "HGX ")
    remark = f"assumed: {link} of {format_bandwidth(speed)} per GPU and direction"
    memory = f"memory={speed * gpus / 1e9:.9g}GB/s"
    return memory, (f"{remark} inside nodes, as {board}{slowest} has",)
