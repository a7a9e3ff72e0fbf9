# SPDX-License-Identifier: BSD-3-Clause
"""Assumed network speeds, for files and systems that describe only switches."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import NamedTuple

from topoloom._core import Machine, MachineText
from topoloom.importers.machine_description import GivenSpeeds, MachineDescription
from topoloom.importers.reachability import find_neighbors
from topoloom.nodes.host_text import parse_nodes_per_host
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import format_bandwidth

_LINK = re.compile(r"([0-9]+)-([0-9]+)")


class NetworkSpeeds(NamedTuple):
    """The speeds of a kind of network.

    Attributes
    ----------
    title
        Name of the network; empty if the user specified the speeds.
    bandwidth
        Total bytes/s of a node's NICs per direction; for a torus with a router in each
        node, bytes/s of a link.
    options
        Options of the topology: latencies, and links with other speeds.
    node
        Options of nodes: costs of messages in addition to their links.
    """

    title: str
    bandwidth: float
    options: str = ""
    node: str = ""


#: Total Gbit/s of an instance's NICs. Source: pages of Amazon, Google, Oracle, 2025.
_INSTANCES = {
    **dict.fromkeys(("hpc6a.48xlarge", "p3dn.24xlarge"), 100),
    **dict.fromkeys(("c5n.18xlarge", "c5n.metal"), 100),
    **dict.fromkeys(("hpc6id.32xlarge", "hpc7g.16xlarge"), 200),
    **dict.fromkeys(("hpc7g.4xlarge", "hpc7g.8xlarge"), 200),
    **{f"hpc7a.{size}xlarge": 300 for size in (12, 24, 48, 96)},
    **dict.fromkeys(("p4d.24xlarge", "p4de.24xlarge"), 400),
    "trn1.32xlarge": 800,
    "trn1n.32xlarge": 1600,
    **dict.fromkeys(("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"), 3200),
    **dict.fromkeys(("p6-b200.48xlarge", "trn2.48xlarge"), 3200),
    # EFA: 28.8 Tbit/s for 18 instances together
    "p6e-gb200.36xlarge": 1600,
    "a4x-highgpu-4g": 2000,
    "a2-highgpu-8g": 100,
    "h3-standard-88": 200,
    "a3-highgpu-8g": 1000,
    "a3-megagpu-8g": 1800,
    **dict.fromkeys(("a3-ultragpu-8g", "a4-highgpu-8g"), 3600),
    **dict.fromkeys(("BM.HPC2.36", "BM.Optimized3.36", "BM.HPC.E5.144"), 100),
    **dict.fromkeys(("BM.GPU4.8", "BM.GPU.A100-v2.8"), 1600),
    **dict.fromkeys(("BM.GPU.H100.8", "BM.GPU.H200.8", "BM.GPU.MI300X.8"), 3200),
}
#: Gbit/s per NIC of a DGX with 8 NICs.
_DGX = {"a100": 200, "h100": 400, "h200": 400, "b200": 400, "b300": 800}
#: Named networks have the speeds of Fugaku, Jaguar, Titan, Theta and Frontier, which
#: are described in machines/.
NETWORKS = {
    "": NetworkSpeeds("a network of 100 Gbit/s", 12.5e9),
    "tofu-d": NetworkSpeeds(
        "Tofu-D",
        6.8e9,
        "latency=0.1us",
        "bandwidth=40.8GB/s,startup=0.3us,latency=0.6us",
    ),
    "seastar": NetworkSpeeds(
        "SeaStar",
        4.8e9,
        "latency=0.06us",
        "bandwidth=2GB/s,startup=1.5us,latency=3.44us",
    ),
    "gemini": NetworkSpeeds(
        "Gemini",
        9.4e9,
        "bandwidth.host=6GB/s,latency=0.105us,latency.host=0.05us",
        "startup=0.5us,latency=0.595us",
    ),
    "aries": NetworkSpeeds(
        "Aries", 10e9, "latency=0.05us", "startup=0.5us,latency=0.9us"
    ),
    "slingshot": NetworkSpeeds(
        "Slingshot, one card of 200 Gbit/s",
        25e9,
        "latency=0.175us",
        "startup=0.4us,latency=1.3us",
    ),
    # NVIDIA's DGX GB200 and GB300: 4 GPUs with a NIC each, 400 and 800 Gbit/s.
    "gb200": NetworkSpeeds("4 cards of 400 Gbit/s, as DGX GB200 has", 200e9),
    "gb300": NetworkSpeeds("4 cards of 800 Gbit/s, as DGX GB300 has", 400e9),
    # 8 GPUs with a NIC each. Source: NVIDIA's data sheets of these DGX.
    **{
        name: NetworkSpeeds(
            f"8 cards of {gbit} Gbit/s, as DGX {name.upper()} has", gbit * 1e9
        )
        for name, gbit in _DGX.items()
    },
    **{
        name: NetworkSpeeds(f"{name}, {gbit:,} Gbit/s", gbit / 8 * 1e9)
        for name, gbit in _INSTANCES.items()
    },
}


def add_assumed_speeds(
    described: MachineDescription,
    network: NetworkSpeeds | None = None,
    nvlink: float | None = None,
) -> MachineDescription:
    """Add assumed speeds to a machine without bandwidths, by network type.

    Links between switches carry all traffic of the nodes on their smaller side. A
    remark states the assumption. A single node stays unchanged.
    """
    if described.network is None:
        return described
    text = MachineText(described.text)
    topology, node = text.topology, text.node
    inside = node.text if node else "node:1"
    kind, shape = topology.name, topology.body
    # A machine needs all bandwidths or none; here rails have only NVLink bandwidth.
    bare = f"{kind}:{shape}" if kind == "rails" else described.text
    nodes = Machine(bare).node_count
    if nodes == 1:
        return described
    network = network or NETWORKS.get(described.network, NETWORKS[""])
    options = [f"{key}={value}" for key, value in topology.options]
    remarks = described.remarks
    if nvlink is not None:
        remark = f"NVLink of {format_bandwidth(nvlink)} per GPU and direction, as given"
        remarks = (remark, *(one for one in remarks if not _is_nvlink_remark(one)))
        slots = Machine(bare).slots_per_node
        memory = f"memory={_format_rate(nvlink * slots)}"
        inside = re.sub("memory=[^,]*", memory, inside)
    if kind == "graph":
        counts, _, link = shape.partition(":")
        links = _format_graph_links([link, *topology.items], nodes, network.bandwidth)
        shape = f"{counts}:{links[0]}"
        options = [*links[1:], *options]
    elif kind == "tree":
        options.append(_format_tree_bandwidths(topology.sizes, network.bandwidth))
    elif kind == "rails":
        gpus = parse_nodes_per_host(described.text)
        between = options.pop()
        if nvlink is not None:
            between = f"bandwidth.nvlink={_format_rate(nvlink)}"
        options += [f"bandwidth={_format_rate(network.bandwidth / gpus)}", between]
    else:
        options.append(f"bandwidth={_format_rate(network.bandwidth)}")
    options += filter(None, [network.options])
    down = f"+down:{','.join(text.down)}" if text.down else ""
    whole = f"{kind}:{','.join([shape, *options])}{down}"
    if node or network.node:
        whole += "+" + ",".join(filter(None, [inside, network.node]))
    each = "link" if kind in ("torus", "mesh") else "node"
    speed = f"{format_bandwidth(network.bandwidth)} per {each}"
    remark = f"a network of {speed}, as given"
    if network.title:
        remark = f"assumed: {network.title}, {speed}"
    if kind in ("tree", "graph", "rails"):
        remark += "; switches carry all that the nodes below send"
    return replace(described, text=whole, remarks=(*remarks, remark))


def is_assumed_network(remark: str) -> bool:
    """Return whether a remark states the assumed network of a machine."""
    titles = (network.title for network in NETWORKS.values() if network.title)
    return remark.startswith(tuple(f"assumed: {title}, " for title in titles))


def apply_given_speeds(
    described: MachineDescription, speeds: GivenSpeeds
) -> MachineDescription:
    """Add the speeds from the user, and assumed speeds where the user specified none.

    Raises `topoloom.Error` if the machine has speeds already, or no NVLink.
    """
    if speeds.network is not None and described.network is None:
        raise ParameterError(
            "network", "is for files without speeds, but this file has speeds"
        )
    if speeds.nvlink is not None and not any(map(_is_nvlink_remark, described.remarks)):
        raise ParameterError(
            "nvlink", "requires GPUs connected by NVLink, but no label names such GPUs"
        )
    network = None
    if speeds.network is not None:
        network = NetworkSpeeds("", speeds.network)
    return add_assumed_speeds(described, network, speeds.nvlink)


def _is_nvlink_remark(remark: str) -> bool:
    """Return whether a remark states an NVLink speed."""
    return remark.startswith("assumed: NVLink of ")


def _format_tree_bandwidths(arities: list[int], card: float) -> str:
    """Format the bandwidths of links above nodes, above groups, and so on."""
    every = math.prod(arities)
    below, texts = 1, []
    for arity in arities:
        texts.append(_format_rate(card * _count_smaller_side(below, every)))
        below *= arity
    return f"bandwidth={':'.join(texts)}"


def _format_graph_links(links: list[str], nodes: int, card: float) -> list[str]:
    """Format the links of a switch tree, with bandwidths except for host links."""
    ends = [(int(m[1]), int(m[2])) for m in map(_LINK.fullmatch, links) if m]
    neighbors = find_neighbors(ends)
    above, order = {0: 0}, [0]
    for vertex in order:
        for other in neighbors[vertex]:
            if other != above[vertex]:
                above[other] = vertex
                order.append(other)
    below = {vertex: int(vertex < nodes) for vertex in order}
    for vertex in reversed(order[1:]):
        below[above[vertex]] += below[vertex]
    texts = []
    for u, v in ends:
        count = _count_smaller_side(below[u if above[u] == v else v], nodes)
        texts.append(
            f"{u}-{v}" + (f"@{_format_rate(card * count)}" if count > 1 else "")
        )
    return [*texts, f"bandwidth={_format_rate(card)}"]


def _count_smaller_side(below: int, every: int) -> int:
    return max(1, min(below, every - below))


def _format_rate(bandwidth: float) -> str:
    return f"{bandwidth / 1e9:.9g}GB/s"
