# SPDX-License-Identifier: BSD-3-Clause
"""GPUs and NICs of this node from Linux's ``/sys/class``, without hwloc.

Only devices on a PCI bus count, which gives the nearest CPUs. Of several names of a
device the first in the order of `_CLASSES` is taken; all of them tell its network.
"""

from __future__ import annotations

from pathlib import Path

from topoloom.importers.system.sysfs import read_cpus, read_word
from topoloom.nodes.network_interfaces import NicNetwork, classify_network
from topoloom.nodes.node_levels import NearDevice
from topoloom.nodes.node_parts import NIC
from topoloom.support.plain_text import is_number

CLASSES = Path("/sys/class")
#: Kind of device, class, prefix of names; `card0` alone is a display.
_RDMA = "infiniband"
_CLASSES = (("gpu", "drm", "render"), (NIC, _RDMA, ""), (NIC, "net", ""))


def read_devices(classes: Path = CLASSES) -> list[NearDevice]:
    """Read the devices, GPUs first, each kind by name."""
    devices: dict[Path, NearDevice] = {}
    entries: dict[Path, list[Path]] = {}
    for kind, name, start in _CLASSES:
        for entry in sorted(classes.glob(f"{name}/{start}*")):
            if (pci := _pci_device(entry)) is not None:
                devices.setdefault(pci, _near_device(entry.name, kind, pci))
                entries.setdefault(pci, []).append(entry)
    return [
        device._replace(network=_network(entries[pci]))
        if device.kind == NIC
        else device
        for pci, device in devices.items()
    ]


def _network(entries: list[Path]) -> NicNetwork:
    """Find the network of a NIC by its names and the ports of its RDMA devices."""
    rdma = [entry for entry in entries if entry.parent.name == _RDMA]
    layers = {
        read_word(file) for entry in rdma for file in entry.glob("ports/*/link_layer")
    }
    names = [entry.name for entry in entries]
    return classify_network(names, bool(rdma), layers == {"Ethernet"})


def _pci_device(entry: Path) -> Path | None:
    """Find the PCI device of an entry of a class."""
    device = (entry / "device").resolve()
    around = (device, *device.parents)
    return next((path for path in around if (path / "local_cpulist").exists()), None)


def _near_device(name: str, kind: str, pci: Path) -> NearDevice:
    # Without NUMA the domain of a device is -1.
    numa = read_word(pci / "numa_node")
    domain = int(numa) if is_number(numa) else None
    return NearDevice(name, kind, read_cpus(pci / "local_cpulist"), domain, pci.name)
