# SPDX-License-Identifier: BSD-3-Clause
"""NVLink between nodes: GPU types, bandwidths, and domains as rail networks.

Source: NVIDIA's product pages. GB200 and GB300 NVL72 have 18 links of NVLink 5 per GPU,
1.8 TB/s bidirectional; GH200 NVL32 has 18 links of NVLink 4, 900 GB/s bidirectional.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.nodes.host_text import format_vacant_name
from topoloom.support.units import format_bandwidth

#: NVLink bandwidth per GPU and direction in bytes/s, for NVLink between nodes.
NVLINK = {"GB300": 900e9, "GB200": 900e9, "GH200": 450e9}
#: GPU type that is assumed if no label names the GPU.
_ASSUMED = "GB200"
_INSIDE_NODES = re.compile(r"\b[ABHL][0-9]{2,3}\b|MI[0-9]{3}", re.I)
_ACROSS_NODES = re.compile("|".join(NVLINK), re.I)
#: Labels with the GPU name: of operators of NVIDIA and AMD, CoreWeave, Google, clouds.
_PRODUCTS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "gpu.nvidia.com/model",
    "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type",
)


class NvlinkLocation(NamedTuple):
    """The scalable unit, NVLink domain, and number of GPUs of a node."""

    unit: tuple[str, ...]
    domain: str
    gpus: int


def find_gpu_product(labels: Mapping[str, str]) -> str:
    """Return the GPU type if its NVLink connects nodes; empty if no label names it."""
    for label in _PRODUCTS:
        if match := _ACROSS_NODES.search(labels.get(label, "")):
            return match[0].upper()
    return ""


def can_connect_nodes(labels: Mapping[str, str]) -> bool:
    """Return whether NVLink can connect this node to other nodes."""
    if find_gpu_product(labels):
        return True
    return not any(_INSIDE_NODES.search(labels.get(label, "")) for label in _PRODUCTS)


def describe_rails(
    racks: Mapping[str, NvlinkLocation],
    products: set[str],
    usable: Callable[[str], bool],
) -> MachineDescription:
    """Describe NVLink domains as a rail network of equally large domains.

    All domains have the size of the largest one; positions without a node are vacant.
    GPUs that are missing or belong to unusable nodes are down.
    """
    gpus = max(rack.gpus for rack in racks.values())
    units: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, rack in sorted(racks.items(), key=lambda item: (*item[1][:2], item[0])):
        units.setdefault(rack.unit, {}).setdefault(rack.domain, []).append(name)
    domains = max(map(len, units.values()))
    hosts = max(len(names) for unit in units.values() for names in unit.values())
    places: list[str] = []
    for number, unit in enumerate(units.values()):
        for names in unit.values():
            places += names
            places += map(
                format_vacant_name, range(len(places), _round_up(len(places), hosts))
            )
        end = (number + 1) * domains * hosts
        places += map(format_vacant_name, range(len(places), end))
    down = [
        place * gpus + gpu
        for place, name in enumerate(places)
        if name in racks
        for gpu in range(racks[name].gpus if usable(name) else 0, gpus)
    ]
    product = min(products, key=lambda one: (NVLINK.get(one, 0), one), default="")
    speed = NVLINK[product or _ASSUMED]
    text = f"rails:{hosts * gpus}:{domains}:{len(units)},rails={gpus},host={gpus}"
    text += f",bandwidth.nvlink={speed / 1e9:.9g}GB/s"
    if down:
        text += f"+down:{','.join(map(str, down))}"
    nvlink = f"NVLink of {format_bandwidth(speed)} per GPU and direction"
    remarks = [f"assumed: {nvlink}, which {product} has between nodes"]
    if not product:
        remarks = [f"assumed: {nvlink}, that of {_ASSUMED}; no label names the GPU"]
    if len(products) > 1:
        named = ", ".join(one or "those without a label" for one in sorted(products))
        remarks = [f"assumed: {nvlink}, the slowest of {named}"]
    return MachineDescription(text, tuple(places), network="", remarks=tuple(remarks))


def count_levels_above_domains(
    paths: Mapping[str, Sequence[str]], domains: Mapping[str, str]
) -> int:
    """Count the top levels of switches in which no domain spans several switches."""
    depth = len(next(iter(paths.values())))
    for level in range(depth):
        above: dict[str, Sequence[str]] = {}
        for name, path in paths.items():
            own = path[: level + 1]
            if above.setdefault(domains[name], own) != own:
                return level
    return depth


def _round_up(count: int, step: int) -> int:
    return -(-count // step) * step
