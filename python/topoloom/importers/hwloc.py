# SPDX-License-Identifier: BSD-3-Clause
"""Reads the structure of a node from hwloc's XML (lstopo), versions 2 and 3.

A slot is a core, with all its hardware threads (PUs). The cores nearest to a GPU or NIC
are those of the object to which it is attached.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.hwloc_devices import read_device
from topoloom.importers.identical_nodes import describe_identical_nodes
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.unknown_names import KnownNames, describe_unknown_names
from topoloom.nodes.core_shape import SHARED, Container
from topoloom.nodes.node_levels import (
    NearDevice,
    NodeCores,
    describe_omitted_resources,
)
from topoloom.nodes.node_parts import MAX_CPUS, MAX_DEVICES
from topoloom.support.hostlist import is_host_name
from topoloom.support.plain_text import is_number
from topoloom.support.units import counted
from topoloom.support.xml_tree import Element, read_xml

#: Maximum number of NUMA domains that Linux supports.
_MAX_DOMAINS = 1024
_WORD = re.compile(r"(?:0x)?[0-9a-fA-F]{1,8}")
#: Elements and attributes of hwloc 2 and 3.
_KNOWN: KnownNames = {
    "topology": ("version",),
    "object": (
        *("type", "os_index", "gp_index", "name", "subtype", "id", "depth"),
        *("cpuset", "complete_cpuset", "allowed_cpuset", "online_cpuset"),
        *("nodeset", "complete_nodeset", "allowed_nodeset", "local_memory"),
        *("cache_size", "cache_linesize", "cache_associativity", "cache_type"),
        *("kind", "subkind", "dont_merge", "symmetric_subtree"),
        *("bridge_type", "bridge_pci", "pci_busid", "pci_type", "pci_link_speed"),
        "osdev_type",
    ),
    "info": ("name", "value"),
    "cpukind": ("cpuset", "forced_efficiency"),
    **dict.fromkeys(
        (
            *("page_type", "support", "userdata", "memattr", "distances2"),
            *("distances2hetero", "distances", "latency"),
        )
    ),
}


def read_hwloc(text: str) -> MachineDescription:
    """Read a node with its levels, and with its host name if the file has one."""
    topology = _read_topology(text)
    inside = topology.build_node()
    described = describe_identical_nodes(
        inside, (topology.host,) if topology.host else ()
    )
    remarks = (
        *topology.describe_unusable_cpus(),
        *describe_omitted_resources(inside),
        *topology.describe_incomplete_parts(),
    )
    return replace(described, remarks=remarks)


def read_node_cores(
    text: str, *, with_disallowed: bool = False
) -> tuple[NodeCores, str | None]:
    """Read cores, shared resources, devices, and the host name if the file has one.

    Cores that the file marks as disallowed are left out, unless requested.
    """
    topology = _read_topology(text)
    return topology.build_node(with_disallowed=with_disallowed), topology.host


def _read_topology(text: str) -> _TopologyReader:
    topology = _TopologyReader()
    # Elements are visited in file order, each with the CPUs nearest to it.
    root = read_xml(text)
    topology.unknown = describe_unknown_names(root, _KNOWN)
    waiting = [(root, 0)]
    while waiting:
        element, near = waiting.pop()
        near = topology.start_element(element, near)
        waiting += [(child, near) for child in reversed(element.children)]
    return topology


class _TopologyReader:
    """Collects the parts of a topology while its elements are read."""

    def __init__(self) -> None:
        self.host: str | None = None
        self.unknown: tuple[str, ...] = ()
        self._incomplete: Counter[str] = Counter()
        self._version = ""
        self._machines = 0
        self._allowed: int | None = None
        self._complete = 0
        self._core_kinds: list[int] = []
        self._pus: dict[int, int] = {}
        self._cores: list[tuple[int, int]] = []
        self._containers: set[Container] = set()
        self._domains: dict[int, int] = {}
        self._devices: dict[str, NearDevice] = {}

    def start_element(self, element: Element, near: int) -> int:
        """Add an element; return the CPUs nearest to its children."""
        try:
            return self._read_element(element, near)
        except Error as error:
            raise Error(f"line {element.line}: {error}") from None

    def _read_element(self, element: Element, near: int) -> int:
        attributes = element.attributes
        if not self._version:
            self._version = _check_version(element.tag, attributes)
        elif element.tag == "object":
            return self._read_object(element, near)
        elif element.tag == "cpukind":
            self._core_kinds.append(_parse_cpu_set(attributes, "cpuset", "cpukind"))
        elif element.tag == "info":
            if not {"name", "value"} <= attributes.keys():
                self._incomplete["<info> without a name or value ignored"] += 1
            elif attributes["name"] == "HostName":
                host = attributes["value"]
                self.host = host if is_host_name(host) else None
        return near

    def _read_object(self, element: Element, near: int) -> int:
        attributes, line = element.attributes, element.line
        kind = attributes.get("type")
        if kind is None:
            raise Error("an object has no type")
        if kind == "PCIDev":
            self._add_device(element, near)
        if kind == "Cache":
            raise Error(_OLD)
        if kind == "Machine":
            self._machines += 1
            if self._machines > 1:
                raise Error("a second Machine; export one node per file")
            if "cpuset" in attributes:
                self._complete |= _parse_cpu_set(attributes, "cpuset", kind)
            else:
                what = "Machine without cpuset: its devices are near no core"
                self._incomplete[what] += 1
            if "allowed_cpuset" in attributes:
                self._allowed = _parse_cpu_set(attributes, "allowed_cpuset", kind)
            if "complete_cpuset" in attributes:
                self._complete |= _parse_cpu_set(attributes, "complete_cpuset", kind)
        elif kind == "PU":
            self._add_pu(attributes, line)
        elif kind == "Core":
            self._cores.append((line, _parse_cpu_set(attributes, "cpuset", kind)))
            self._complete |= self._cores[-1][1]
        elif kind in SHARED:
            self._add_container(kind, attributes)
        # Bridges and PCI devices have no cpuset; use the parent's.
        return (
            _parse_cpu_set(attributes, "cpuset", kind)
            if "cpuset" in attributes
            else near
        )

    def _add_container(self, kind: str, attributes: Mapping[str, str]) -> None:
        container = Container(kind, _parse_cpu_set(attributes, "cpuset", kind))
        self._containers.add(container)
        if len(self._containers) > len(SHARED) * MAX_CPUS:
            raise Error("too many caches, NUMA domains and packages")
        if kind == "NUMANode" and "os_index" not in attributes:
            self._incomplete["NUMANode without os_index: it has no number"] += 1
        elif kind == "NUMANode":
            number = _parse_number(attributes, kind)
            self._domains.setdefault(container.cpus, number)
            if len(self._domains) > _MAX_DOMAINS:
                raise Error(f"more than {_MAX_DOMAINS} NUMA domains")

    def _add_device(self, element: Element, near: int) -> None:
        for part in element.children:
            is_device = part.attributes.get("type") == "OSDev"
            if is_device and not {"name", "osdev_type"} <= part.attributes.keys():
                what = "OSDev without a name or osdev_type ignored"
                self._incomplete[what] += 1
        device = read_device(element, self._version)
        if device is None:
            return
        if "pci_busid" not in element.attributes:
            self._incomplete["device without pci_busid: no PCI address"] += 1
        if device.name in self._devices:
            raise Error(f"a duplicate device '{device.name}'")
        if len(self._devices) >= MAX_DEVICES:
            raise Error(f"more than {MAX_DEVICES} GPUs and network interfaces")
        self._devices[device.name] = NearDevice(
            device.name, device.kind, near, pci=device.pci, network=device.network
        )

    def _add_pu(self, attributes: Mapping[str, str], line: int) -> None:
        number = _parse_number(attributes, "PU")
        cpus = _parse_cpu_set(attributes, "cpuset", "PU")
        if cpus != 1 << min(number, MAX_CPUS):
            raise Error(f"PU {number} has a cpuset without itself")
        if number in self._pus:
            first = self._pus[number]
            raise Error(f"PU {number} is listed twice, first on line {first}")
        self._pus[number] = line

    def describe_unusable_cpus(self) -> list[str]:
        """Describe hardware threads that are no part of slots, and unequal cores."""
        present = self._list_pus()
        usable = present if self._allowed is None else present & self._allowed
        remarks = []
        if present & ~usable:
            cores = self._cores or [(0, 1 << number) for number in self._pus]
            lost = sum(1 for _, core in cores if core & present and not core & usable)
            remarks.append(
                f"{(present & ~usable).bit_count()} of {present.bit_count()} hardware "
                f"threads are not allowed to jobs: {counted(lost, 'core')} left out, "
                "the places stay vacant"
            )
        if hidden := (self._complete & ~present).bit_count():
            remarks.append(
                f"{counted(hidden, 'hardware thread')} of the node left out: offline, "
                "or not allowed to the process that wrote the file"
            )
        kinds = sum(1 for cpus in self._core_kinds if cpus & usable)
        if kinds > 1:
            remarks.append(f"cores of {kinds} kinds are assumed to be equally fast")
        return remarks

    def describe_incomplete_parts(self) -> list[str]:
        """Describe what lacks attributes, and what is unknown."""
        lacks = (
            what + (f" ({count:,} times)" if count > 1 else "")
            for what, count in sorted(self._incomplete.items())
        )
        return [*lacks, *self.unknown]

    def _list_pus(self) -> int:
        return sum(1 << number for number in self._pus)

    def build_node(self, *, with_disallowed: bool = False) -> NodeCores:
        """Build the result after all elements are read."""
        pus = self._list_pus()
        if self._allowed is not None and not with_disallowed:
            pus &= self._allowed
        if not pus:
            raise Error("line 1: the topology contains no usable PU; export it again")
        cores, taken = [], 0
        for line, core in self._cores:
            if core & taken:
                raise Error(f"line {line}: the Core shares PUs with an earlier one")
            taken |= core
            cores.append(core)
        if not cores:
            # Some virtual machines report hardware threads but no cores.
            cores = [1 << number for number in self._pus]
        elif pus & ~taken:
            number = (pus & ~taken & -(pus & ~taken)).bit_length() - 1
            raise Error(
                f"line {self._pus[number]}: PU {number} is not part of any Core"
            )
        devices = [
            device._replace(numa=self._find_numa_domain(device.cpus))
            for device in self._devices.values()
        ]
        inside = NodeCores(cores, sorted(self._containers), devices)
        return inside.classify_nics().restrict_to(pus)

    def _find_numa_domain(self, cpus: int) -> int | None:
        """Find the smallest NUMA domain that contains all of these CPUs."""
        around = [
            (domain.bit_count(), number)
            for domain, number in self._domains.items()
            if cpus and not cpus & ~domain
        ]
        return min(around)[1] if around else None


_OLD = "this is XML of hwloc 1; export it again with lstopo of hwloc 2 or newer"


def _check_version(tag: str, attributes: Mapping[str, str]) -> str:
    if tag != "topology":
        raise Error(f"hwloc's XML begins with <topology>, not <{tag[:40]}>")
    version = attributes.get("version")
    if version is None or version.startswith("1."):
        raise Error(_OLD)
    if version.partition(".")[0] not in ("2", "3"):
        raise Error(f"hwloc XML version '{version[:40]}'; supported are 2 and 3")
    return version


def _parse_number(attributes: Mapping[str, str], kind: str) -> int:
    number = attributes.get("os_index", "")
    if not (is_number(number) and len(number) < 10):
        raise Error(f"a {kind} has no numeric os_index")
    return int(number)


def _parse_cpu_set(attributes: Mapping[str, str], name: str, kind: str) -> int:
    """Read a set of PUs: 32-bit words, highest first; an empty word is 0."""
    text = attributes.get(name)
    if text is None:
        raise Error(f"a {kind} has no {name}")
    words = text.split(",")
    if len(words) > MAX_CPUS // 32:
        raise Error(f"{name} names PUs beyond {MAX_CPUS - 1}")
    cpus = 0
    for word in words:
        if word and not _WORD.fullmatch(word):
            raise Error(
                f"'{word[:40]}' in {name} is not a 32-bit word such as 0x000000ff"
            )
        cpus = cpus << 32 | (int(word, 16) if word else 0)
    return cpus
