# SPDX-License-Identifier: BSD-3-Clause
"""NVLink between nodes: GPUs that have it, its bandwidth, and domains as rails.

Source: NVIDIA's pages. GB200 and GB300 NVL72 have 18 links of NVLink 5 per GPU, 1.8
TB/s in both directions together; GH200 NVL32 has 18 of NVLink 4, 900 GB/s together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.nodes.host_text import vacant_name
from topoloom.support.units import format_bandwidth

#: Bytes per second and GPU, each way, of GPUs joined across nodes.
NVLINK = {"GB300": 900e9, "GB200": 900e9, "GH200": 450e9}
#: The GPU that is assumed if no label names it.
_ASSUMED = "GB200"
_INSIDE_NODES = re.compile(r"\b[ABHL][0-9]{2,3}\b|MI[0-9]{3}", re.I)
_ACROSS_NODES = re.compile("|".join(NVLINK), re.I)
#: Labels that name the GPU: of NVIDIA's operator, CoreWeave, Google, any cloud.
_PRODUCTS = (
    "nvidia.com/gpu.product",
    "gpu.nvidia.com/model",
    "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type",
)


class Rack(NamedTuple):
    """The scalable unit, the NVLink domain and the number of GPUs of a node."""

    unit: tuple[str, ...]
    domain: str
    gpus: int


def gpu_product(labels: Mapping[str, str]) -> str:
    """Name the GPU whose NVLink joins nodes; empty if no label does."""
    for label in _PRODUCTS:
        if match := _ACROSS_NODES.search(labels.get(label, "")):
            return match[0].upper()
    return ""


def joins_nodes(labels: Mapping[str, str]) -> bool:
    """Return whether NVLink may join this node to others."""
    if gpu_product(labels):
        return True
    return not any(_INSIDE_NODES.search(labels.get(label, "")) for label in _PRODUCTS)


def describe_rails(
    racks: Mapping[str, Rack], products: set[str], usable: Callable[[str], bool]
) -> MachineDescription:
    """Describe NVLink domains as rails, all as large as the largest domain.

    Places without a node are vacant. Missing GPUs of nodes are down, and so are those
    of nodes that are not usable.
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
            places += map(vacant_name, range(len(places), _up(len(places), hosts)))
        end = (number + 1) * domains * hosts
        places += map(vacant_name, range(len(places), end))
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


def levels_above_domains(
    paths: Mapping[str, Sequence[str]], domains: Mapping[str, str]
) -> int:
    """Count the levels of switches, from the top, that hold whole domains."""
    depth = len(next(iter(paths.values())))
    for level in range(depth):
        above: dict[str, Sequence[str]] = {}
        for name, path in paths.items():
            own = path[: level + 1]
            if above.setdefault(domains[name], own) != own:
                return level
    return depth


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
