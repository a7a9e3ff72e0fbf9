# SPDX-License-Identifier: BSD-3-Clause
"""Reads GPUs and NICs of this node from Linux's ``/sys/class``, without hwloc.

Only devices on a PCI bus are read, because PCI provides the nearest CPUs. If a device
has several names, the first one in the order of `_CLASSES` is used. All names of a NIC
are used to determine its network.
"""

from __future__ import annotations

from pathlib import Path

from topoloom.importers.system.sysfs import read_cpu_mask, read_word
from topoloom.nodes.network_interfaces import NicNetwork, classify_network
from topoloom.nodes.node_levels import NearDevice
from topoloom.nodes.node_parts import NIC
from topoloom.support.plain_text import is_number

CLASSES = Path("/sys/class")
#: Device kind, class, name prefix. A device with only the name `card0` is a display.
_RDMA = "infiniband"
_CLASSES = (("gpu", "drm", "render"), (NIC, _RDMA, ""), (NIC, "net", ""))


def read_devices(classes: Path = CLASSES) -> list[NearDevice]:
    """Read the devices: GPUs first, sorted by name within each kind."""
    devices: dict[Path, NearDevice] = {}
    entries: dict[Path, list[Path]] = {}
    for kind, name, start in _CLASSES:
        for entry in sorted(classes.glob(f"{name}/{start}*")):
            if (pci := _find_pci_device(entry)) is not None:
                devices.setdefault(pci, _make_near_device(entry.name, kind, pci))
                entries.setdefault(pci, []).append(entry)
    return [
        device._replace(network=_find_network(entries[pci]))
        if device.kind == NIC
        else device
        for pci, device in devices.items()
    ]


def _find_network(entries: list[Path]) -> NicNetwork:
    """Find the network type of a NIC from its names and its RDMA link layers."""
    rdma = [entry for entry in entries if entry.parent.name == _RDMA]
    layers = {
        read_word(file) for entry in rdma for file in entry.glob("ports/*/link_layer")
    }
    names = [entry.name for entry in entries]
    return classify_network(names, bool(rdma), layers == {"Ethernet"})


def _find_pci_device(entry: Path) -> Path | None:
    """Find the PCI device of an entry in ``/sys/class``."""
    device = (entry / "device").resolve()
    around = (device, *device.parents)
    return next((path for path in around if (path / "local_cpulist").exists()), None)


def _make_near_device(name: str, kind: str, pci: Path) -> NearDevice:
    # On systems without NUMA, the domain of a device is -1.
    numa = read_word(pci / "numa_node")
    domain = int(numa) if is_number(numa) else None
    return NearDevice(
        name, kind, read_cpu_mask(pci / "local_cpulist"), domain, pci.name
    )
