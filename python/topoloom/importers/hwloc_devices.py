# SPDX-License-Identifier: BSD-3-Clause
"""Reads GPUs and NICs from hwloc's XML: PCI devices with names in the system.

If a PCI device has several names, such as ``ib0`` and ``mlx5_0``, the name that MPI and
GPU libraries use is chosen. Software devices (container bridges, OpenCL on CPUs) are on
no PCI bus and are skipped. Displays are also skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from topoloom.nodes.network_interfaces import NicNetwork, classify_network
from topoloom.nodes.node_parts import NIC
from topoloom.support.plain_text import is_number
from topoloom.support.xml_tree import Element

#: Device kinds as encoded by hwloc: numbers in version 2, bits in version 3.
_GPU, _NETWORK, _OPENFABRICS, _COPROCESSOR = "gpu", "network", "openfabrics", "coproc"
_NUMBERS = {1: _GPU, 2: _NETWORK, 3: _OPENFABRICS, 5: _COPROCESSOR}
_BITS = {2: _GPU, 3: _COPROCESSOR, 4: _NETWORK, 5: _OPENFABRICS}
#: Prefixes of GPU names in order of preference; `card0` alone is a display.
_GPU_NAMES = ("cuda", "rsmi", "ze", "nvml", "opencl", "render")
_PORT_LID = re.compile(r"Port[0-9]{1,4}LID", re.ASCII)
#: The LID values of Ethernet ports, and of ports that are down.
_NO_LID = (0, 0xFFFF)
_HEX = re.compile(r"0x[0-9a-fA-F]{1,8}")
_NAME = re.compile(r"[\w.:+-]{1,64}", re.ASCII)
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")


class NamedDevice(NamedTuple):
    """A PCI device that is a GPU or a NIC."""

    name: str
    kind: str
    pci: str
    network: NicNetwork = NicNetwork.ETHERNET


def read_device(pci: Element, version: str) -> NamedDevice | None:
    """Read a PCIDev and the OSDevs in it; None if it is neither GPU nor NIC."""
    gpus: list[str] = []
    interfaces: dict[str, str] = {}
    names: list[str] = []
    lids: list[int] = []
    for part in pci.children:
        if part.attributes.get("type") != "OSDev":
            continue
        name = part.attributes.get("name", "")
        kinds = _read_kinds(part, version)
        if not _NAME.fullmatch(name):
            continue
        if _GPU in kinds or _COPROCESSOR in kinds:
            gpus.append(name)
        for kind in (_OPENFABRICS, _NETWORK):
            if kind in kinds:
                interfaces.setdefault(kind, name)
                names.append(name)
                lids += _read_lids(part)
    address = pci.attributes.get("pci_busid", "").lower()
    address = address if _ADDRESS.fullmatch(address) else ""
    name = _choose_gpu_name(gpus)
    if name:
        return NamedDevice(name, "gpu", address)
    name = interfaces.get(_OPENFABRICS) or interfaces.get(_NETWORK, "")
    if not name:
        return None
    over_ethernet = bool(lids) and all(lid in _NO_LID for lid in lids)
    network = classify_network(names, _OPENFABRICS in interfaces, over_ethernet)
    return NamedDevice(name, NIC, address, network)


def _read_lids(device: Element) -> list[int]:
    """Read the LIDs of the ports of an OpenFabrics device."""
    given = (
        info.attributes.get("value", "")
        for info in device.children
        if info.tag == "info" and _PORT_LID.fullmatch(info.attributes.get("name", ""))
    )
    return [int(value, 16) for value in given if _HEX.fullmatch(value)]


def _read_kinds(device: Element, version: str) -> set[str]:
    word = device.attributes.get("osdev_type", "")
    if not (is_number(word) and len(word) < 10):
        return set()
    number = int(word)
    if version.startswith("2"):
        return {_NUMBERS[number]} if number in _NUMBERS else set()
    return {kind for bit, kind in _BITS.items() if number >> bit & 1}


def _choose_gpu_name(names: Sequence[str]) -> str:
    for prefix in _GPU_NAMES:
        for name in names:
            if name.startswith(prefix):
                return name
    return ""
