# SPDX-License-Identifier: BSD-3-Clause
"""Reads topology files of NCCL and RCCL: GPUs, their links, and CPUs of one host.

If GPUs form equal groups by distance, the host is one node whose slots are GPUs, with
levels of these distances. Otherwise, and if GPUs have xGMI, which are links between two
GPUs, it is a graph of GPUs, PCI switches and CPUs with bandwidths. Distances of nodes:

====================================== =
joined by NVLink, or by one NVSwitch   1
below the same PCI switch              2
at the same CPU (NUMA node)            3
at different CPUs                      5
====================================== =
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from topoloom.importers.cloud.gpu_levels import (
    ACROSS_CPUS,
    CPU_TO_CPU,
    NVLINK,
    SAME_CPU,
    SAME_SWITCH,
    format_levels,
)
from topoloom.importers.cloud.gpu_links import (
    XGMI_ASSUMED,
    describe_assumed_xgmi,
    find_nvlink_rate,
    find_xgmi_rate,
)
from topoloom.importers.machine_description import MachineDescription
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted
from topoloom.support.xml_tree import Element, read_xml

_MOST = 512
_VERSIONS = ("1", "2")  # of NCCL, and of RCCL
#: Children of <gpu> that are links, and RCCL's tag for those of AMD.
_LINKS, _XGMI = {"nvlink": "NVLink", "xgmi": "xGMI link"}, "xgmi"
#: NVLink endpoints that are not GPUs.
_NVSWITCHES, _ITS_CPU = None, -1
_GPU_CLASS = "0x0302"  # PCI class of GPUs without a display
_PCI_BRIDGE = "0x068001"  # NVLink to the CPU (POWER)
_SPEED = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*GT/s.*")
_NO_SPEED = re.compile(r"\s*(?:Unknown.*)?", re.IGNORECASE)
#: Values of NCCL for unknown links.
_GT_PER_SECOND, _LANES = 8.0, 16
_MAX_LANES = 64
_UNKNOWN_LANES = (0, 255)


@dataclass
class _HostGpu:
    element: Element
    device: int
    bus: str
    above: list[int]  # the PCI switches, then the CPU, above the GPU
    rate: float  # bytes/s of the PCI link
    links: list[Element] = field(default_factory=list)
    xgmi: float | None = None  # bytes/s of an xGMI link, if known

    def link_rate(self, link: Element) -> float:
        if link.tag == _XGMI:
            return self.xgmi or XGMI_ASSUMED
        return find_nvlink_rate(self.element)


@dataclass
class _HostTopology:
    """The GPUs of a host, and its PCI switches and CPUs, in file order."""

    gpus: list[_HostGpu] = field(default_factory=list)
    cpus: list[int] = field(default_factory=list)
    above: list[tuple[int, float] | None] = field(default_factory=list)
    unknown_links: int = 0  # number of PCI links without speed or width
    unnumbered: list[_HostGpu] = field(default_factory=list)  # PCI devices, no <gpu>
    given_xgmi: float = 0  # bytes/s of an xGMI link, if the user specified it
    ignored: dict[str, int] = field(default_factory=dict)  # children of <gpu>, counted

    def add_vertex(self, above: tuple[int, float] | None) -> int:
        self.above.append(above)
        return len(self.above) - 1


def read_nccl_topology(text: str, xgmi: float = 0) -> MachineDescription:
    """Read the topology of one host; GPUs are numbered by ascending ``dev``.

    `xgmi` is the bytes/s of an xGMI link per direction; 0 for that of the GPU.
    """
    root = read_xml(text)
    if root.tag != "system":
        root.fail(f"the document is a <{root.tag[:20]}>, expected a <system>")
    if root.require("version") not in _VERSIONS:
        root.fail(
            f"version {root.attributes['version'][:20]}, but {' and '.join(_VERSIONS)} "
            "are read"
        )
    system = _HostTopology(given_xgmi=xgmi)
    hosts = {cpu.attributes.get("host_hash") for cpu in root.children}
    if len(hosts - {None}) > 1:
        root.fail("the file describes several hosts; dump that of one host")
    for cpu in root.children:
        if cpu.tag == "cpu":
            point = system.add_vertex(None)
            system.cpus.append(point)
            _read_elements_below(system, cpu, [point])
    remarks = (
        *_number_pci_gpus(system),
        *_drop_links_without_peer(system),
        *_describe_ignored(system),
    )
    if not system.gpus:
        root.fail("there is no <gpu>, and no PCI device of class 0x0302, below a <cpu>")
    if max(len(system.gpus), len(system.cpus)) > _MOST:
        root.fail(f"there are more than {_MOST} GPUs or CPUs")
    system.gpus.sort(key=lambda gpu: gpu.device)
    for one, other in zip(system.gpus, system.gpus[1:], strict=False):
        if one.device == other.device:
            other.element.fail(f"the GPU with dev {one.device} appears twice")
    if len(system.gpus) == 1:
        return MachineDescription("torus:1", remarks=remarks)
    direct = any(link.tag == _XGMI for gpu in system.gpus for link in gpu.links)
    if xgmi and not direct:
        raise ParameterError("xgmi", "requires GPUs with xGMI, but the file has none")
    levels = None if direct else format_levels(_compute_distances(system))
    described = (
        MachineDescription(f"torus:1+node:{levels}") if levels else _build_graph(system)
    )
    return replace(described, remarks=(*remarks, *described.remarks))


def _number_pci_gpus(system: _HostTopology) -> tuple[str, ...]:
    """Assign numbers to GPUs that are only PCI devices; return remarks.

    Files that clouds publish for NCCL_TOPO_FILE are without <gpu>. In other files, such
    a device is hidden from the job.
    """
    count = len(system.unnumbered)
    if not count:
        return ()
    if system.gpus:
        what = counted(count, "PCI device")
        return (f"{what} of class 0x0302 without <gpu> left out",)
    for number, gpu in enumerate(sorted(system.unnumbered, key=lambda gpu: gpu.bus)):
        gpu.device = number
        system.gpus.append(gpu)
    return (
        f"assumed: {counted(count, 'GPU')} without <gpu> and NVLinks: numbered by PCI "
        "address, joined by PCI only",
    )


def _drop_links_without_peer(system: _HostTopology) -> tuple[str, ...]:
    """Drop links from a GPU to itself, and xGMI to absent GPUs; return remarks."""
    buses = {gpu.bus for gpu in system.gpus}
    to_itself, absent = dict.fromkeys(_LINKS, 0), 0
    for gpu in system.gpus:
        kept = []
        for link in gpu.links:
            target = link.require("target").lower()
            if target == gpu.bus:
                to_itself[link.tag] += 1
            elif link.tag == _XGMI and target not in buses:
                absent += 1
            else:
                kept.append(link)
        gpu.links = kept
    remarks = [
        f"{counted(count, _LINKS[tag])} from a GPU to itself ignored"
        for tag, count in to_itself.items()
        if count
    ]
    if absent:
        what = counted(absent, "xGMI link")
        remarks.append(f"{what} to devices that are no GPUs of the file ignored")
    return tuple(remarks)


def _describe_ignored(system: _HostTopology) -> tuple[str, ...]:
    """Describe children of GPUs that are not read, and assumed rates."""
    remarks = [
        f"{counted(count, 'element')} <{tag}> of GPUs ignored"
        for tag, count in sorted(system.ignored.items())
    ]
    unknown = sum(
        gpu.xgmi is None and any(link.tag == _XGMI for link in gpu.links)
        for gpu in system.gpus
    )
    if unknown:
        remarks.append(describe_assumed_xgmi(unknown))
    return tuple(remarks)


def _read_elements_below(
    system: _HostTopology, parent: Element, above: list[int]
) -> None:
    for pci in parent.children:
        if pci.tag != "pci":
            continue
        gpus = [part for part in pci.children if part.tag == "gpu"]
        rate = _find_pci_rate(system, pci)
        for gpu in gpus:
            links = [part for part in gpu.children if part.tag in _LINKS]
            for part in gpu.children:
                if part.tag not in _LINKS:
                    tag = part.tag[:20]
                    system.ignored[tag] = system.ignored.get(tag, 0) + 1
            bus = pci.require("busid").lower()
            device = gpu.number("dev")
            known = find_xgmi_rate(gpu.attributes.get("gcn", ""))
            xgmi = system.given_xgmi or known
            system.gpus.append(_HostGpu(gpu, device, bus, above, rate, links, xgmi))
        if not gpus and pci.attributes.get("class", "").startswith(_GPU_CLASS):
            bus = pci.require("busid").lower()
            system.unnumbered.append(_HostGpu(pci, -1, bus, above, rate))
        if not gpus and any(part.tag == "pci" for part in pci.children):
            switch = system.add_vertex((above[0], rate))
            _read_elements_below(system, pci, [switch, *above])


def _find_pci_rate(system: _HostTopology, pci: Element) -> float:
    """Return the bytes/s of a PCI link; count links of unknown speed or width."""
    told = pci.attributes.get("link_speed", "")
    match = _SPEED.fullmatch(told)
    if match is None and not _NO_SPEED.fullmatch(told):
        pci.fail(
            f'link_speed="{told[:40]}" is not the speed of a link, '
            "such as 16.0 GT/s PCIe"
        )
    speed = float(match[1]) if match else 0.0
    width = pci.number("link_width", 0)
    if width > _MAX_LANES and width not in _UNKNOWN_LANES:
        pci.fail(f'link_width="{width}" is more than {_MAX_LANES} lanes')
    if speed == 0 or width in _UNKNOWN_LANES:
        system.unknown_links += 1
        speed = speed or _GT_PER_SECOND
        width = _LANES if width in _UNKNOWN_LANES else width
    coded = 0.8 if speed <= 5 else 128 / 130
    return round(speed * 1e9 / 8 * coded * width)


def _find_link_rates(system: _HostTopology) -> dict[tuple[int, int | None], float]:
    """Map (GPU, other GPU or _NVSWITCHES or _ITS_CPU) to bytes/s."""
    by_bus = {gpu.bus: number for number, gpu in enumerate(system.gpus)}
    ends: dict[tuple[int, int | None], float] = {}
    for number, gpu in enumerate(system.gpus):
        for link in gpu.links:
            target = by_bus.get(link.require("target").lower(), _NVSWITCHES)
            if (
                target is _NVSWITCHES
                and link.attributes.get("tclass", "") == _PCI_BRIDGE
            ):
                target = _ITS_CPU
            if link.number("count") == 0:
                link.fail(f"an {link.tag} with a count of 0; leave it out")
            rate = link.number("count") * gpu.link_rate(link)
            if rate:
                ends[number, target] = ends.get((number, target), 0.0) + rate
    return ends


def _compute_distances(system: _HostTopology) -> list[list[int]]:
    ends = _find_link_rates(system)
    size = range(len(system.gpus))

    def compute_distance(a: int, b: int) -> int:
        if (
            (a, b) in ends
            or (b, a) in ends
            or ((a, _NVSWITCHES) in ends and (b, _NVSWITCHES) in ends)
        ):
            return NVLINK
        one, other = system.gpus[a].above, system.gpus[b].above
        if one[-1] != other[-1]:
            return ACROSS_CPUS
        shared = set(one) & set(other)
        return SAME_SWITCH if len(shared) > 1 else SAME_CPU

    return [[0 if a == b else compute_distance(a, b) for b in size] for a in size]


def _build_graph(system: _HostTopology) -> MachineDescription:
    """Build a graph of GPUs, NVSwitch (if any), PCI switches and CPUs."""
    count = len(system.gpus)
    ends = _find_link_rates(system)
    switch = any(target is _NVSWITCHES for _, target in ends)
    first = count + (1 if switch else 0)
    rates: dict[tuple[int, int], float] = {}
    for (gpu, target), rate in ends.items():
        if target == _ITS_CPU:
            other = first + system.gpus[gpu].above[-1]
        else:
            other = count if target is _NVSWITCHES else target
        pair = (min(gpu, other), max(gpu, other))
        rates[pair] = max(rate, rates.get(pair, 0.0))  # both list it
    for number, card in enumerate(system.gpus):
        pair = (number, first + card.above[0])
        rates[pair] = max(card.rate, rates.get(pair, 0.0))
    for point, above in enumerate(system.above):
        if above is not None:
            rates[first + above[0], first + point] = above[1]
    for one in system.cpus:
        for other in system.cpus:
            if one < other:
                rates[first + one, first + other] = CPU_TO_CPU
    links = [f"{u}-{v}@{rate:.12g}B/s" for (u, v), rate in sorted(rates.items())]
    switches = first - count + len(system.above)
    return MachineDescription(
        f"graph:{count}+{switches}:{','.join(links)}",
        tuple(f"gpu{gpu.device}" for gpu in system.gpus),
        remarks=_list_remarks(system),
    )


def _list_remarks(system: _HostTopology) -> tuple[str, ...]:
    if not system.unknown_links:
        return ()
    return (
        f"assumed: {_GT_PER_SECOND:g} GT/s and {_LANES} lanes where "
        f"{counted(system.unknown_links, 'PCI link', 'lack')} a speed or a width in "
        "the file",
    )
