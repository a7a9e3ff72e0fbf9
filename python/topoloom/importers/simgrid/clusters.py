# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes SimGrid clusters, in platform files (XML) of version 4 or 4.1.

SimGrid numbers the nodes of a torus with the first axis fastest, and routes along this
axis first. In Topoloom the last axis is fastest, so the axes and the order of routing
are reversed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from topoloom._core import Error, Machine, MachineText, NetworkModel, TextSection
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import NETWORKS
from topoloom.importers.simgrid.platform import NO_LIMIT, write_platform_with_all_routes
from topoloom.importers.simgrid.smpi_settings import (
    compute_extra_latency,
    format_settings,
    make_intra_host_link,
)
from topoloom.importers.simgrid.units import (
    format_quantity,
    read_bandwidth,
    read_latency,
)
from topoloom.importers.simgrid.zone import describe_zone
from topoloom.importers.torus_positions import MAX_ROUTERS
from topoloom.support.number_ranges import join_numbers
from topoloom.support.units import format_bandwidth, parse_bandwidth, parse_latency
from topoloom.support.xml_tree import Element, read_xml

_MAX_HOSTS = 500_000
_MAX_BEHIND_BACKBONE = 50_000
_IGNORED = ("prop", "config")  # elements without network data


def read_simgrid_platform(text: str) -> MachineDescription:
    """Read a platform of one cluster, or of one zone of hosts, links and routes."""
    root = read_xml(text)
    if root.tag != "platform":
        root.fail(f"the document is a <{root.tag}>, expected a <platform>")
    version = root.require("version")
    if version not in ("4", "4.0", "4.1"):
        root.fail(
            f"platform version {version[:20]}, but versions 4 and 4.1 are read; "
            "convert it with simgrid_update_xml"
        )
    inner = root
    while True:
        parts = [part for part in inner.children if part.tag not in _IGNORED]
        zones = [part for part in parts if part.tag in ("cluster", "zone", "AS")]
        if not zones:
            break
        if len(parts) > 1:
            parts[1].fail(
                f"a <{parts[1].tag}> appears beside another part of the platform; "
                "one cluster or one zone of hosts can be read"
            )
        inner = zones[0]
    if inner is root:
        root.fail("the platform has no <cluster> and no <zone>")
    return _read_cluster(inner) if inner.tag == "cluster" else describe_zone(inner)


def _read_cluster(cluster: Element) -> MachineDescription:
    hosts = _list_hosts(cluster)
    kind = cluster.attributes.get("topology", "FLAT")
    if kind not in _TOPOLOGIES:
        cluster.fail(
            f"topology {kind[:20]} cannot be read yet; {', '.join(_TOPOLOGIES)} can"
        )
    policy = cluster.attributes.get("sharing_policy", "SPLITDUPLEX")
    if policy not in ("SPLITDUPLEX", "SHARED"):
        cluster.fail(
            f"links with sharing_policy {policy[:20]} have no shared capacity; use "
            "SPLITDUPLEX or SHARED"
        )
    text = _TOPOLOGIES[kind](cluster, len(hosts))
    cores = cluster.number("core", 1)
    if cores == 0:
        cluster.fail("a host has no core")
    return MachineDescription(text + (f"+node:{cores}" if cores > 1 else ""), hosts)


def _list_hosts(cluster: Element) -> tuple[str, ...]:
    radical = cluster.require("radical")
    prefix = cluster.attributes.get("prefix", "")
    suffix = cluster.attributes.get("suffix", "")
    numbers: list[int] = []
    for part in radical.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", part)
        if match is None:
            cluster.fail(f"radical: '{part[:40]}' is not a range such as 0-15")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            cluster.fail(f"radical: range {first}-{last} is descending")
        if len(numbers) + last - first >= _MAX_HOSTS:
            cluster.fail(f"radical names more than {_MAX_HOSTS} hosts")
        numbers.extend(range(first, last + 1))
    if len(set(numbers)) < len(numbers):
        cluster.fail("radical names a host twice")
    return tuple(f"{prefix}{number}{suffix}" for number in numbers)


def _read_flat_cluster(cluster: Element, count: int) -> str:
    bandwidth = read_bandwidth(cluster, "bw")
    latency = read_latency(cluster, "lat", "0")
    if "bb_bw" not in cluster.attributes:
        return f"tree:{count}" + _format_rates(bandwidth, latency)
    backbone = read_bandwidth(cluster, "bb_bw")
    whole = 2 * latency + read_latency(cluster, "bb_lat", "0")
    if cluster.attributes.get("bb_sharing_policy", "SHARED") == "FATPIPE":
        return f"tree:{count}" + _format_rates(min(bandwidth, backbone), whole / 2)
    if count > _MAX_BEHIND_BACKBONE:
        cluster.fail(
            f"{count} hosts share one backbone; more than {_MAX_BEHIND_BACKBONE} "
            "cannot be a graph; leave out bb_bw, or make it a FATPIPE"
        )
    # The backbone is a one-way link between two switches that all messages cross.
    links = [f"{count}>{count + 1}@{format_quantity(backbone)}B/s"]
    for host in range(count):
        links += [f"{host}>{count}", f"{count + 1}>{host}"]
    return f"graph:{count}+2:{','.join(links)}" + _format_rates(bandwidth, whole / 3)


def _read_torus_cluster(cluster: Element, count: int) -> str:
    sizes = _parse_numbers(cluster, cluster.require("topo_parameters"))
    if math.prod(sizes) != count:
        cluster.fail(
            f"a torus of {'x'.join(map(str, sizes))} has {math.prod(sizes)} hosts, "
            f"but the radical names {count}"
        )
    if max(sizes) > MAX_ROUTERS:
        cluster.fail(
            f"an axis of a torus has up to {MAX_ROUTERS} routers, not {max(sizes)}"
        )
    axes = "x".join(map(str, reversed(sizes)))
    last_first = join_numbers(reversed(range(len(sizes))))
    order = f",order={last_first}" if len(sizes) > 1 else ""
    ties = ",ties=simgrid" if any(size % 2 == 0 for size in sizes) else ""
    rates = _format_rates(
        read_bandwidth(cluster, "bw"), read_latency(cluster, "lat", "0")
    )
    return f"torus:{axes}{order}{ties}{rates}"


def _read_fat_tree_cluster(cluster: Element, count: int) -> str:
    parts = cluster.require("topo_parameters").split(";")
    if len(parts) != 4:
        cluster.fail("a fat tree has topo_parameters such as 2;4,4;1,1;1,1")
    levels = _parse_numbers(cluster, parts[0])
    down, up, cables = (_parse_numbers(cluster, part) for part in parts[1:])
    if len(levels) != 1 or not levels[0] == len(down) == len(up) == len(cables):
        cluster.fail("topo_parameters: the lists differ in length from the levels")
    if math.prod(down) != count:
        cluster.fail(
            f"a fat tree of {','.join(map(str, down))} has {math.prod(down)} hosts, "
            f"but the radical names {count}"
        )
    rates = _format_rates(
        read_bandwidth(cluster, "bw"), read_latency(cluster, "lat", "0")
    )
    if {*up, *cables} == {1}:
        return f"tree:{join_numbers(down)}{rates}"
    parallel = (
        f",parallel={join_numbers(cables)},routing=simgrid" if max(cables) > 1 else ""
    )
    return f"fattree:{join_numbers(down)},up={join_numbers(up)}{parallel}{rates}"


_TOPOLOGIES = {
    "FLAT": _read_flat_cluster,
    "TORUS": _read_torus_cluster,
    "FAT_TREE": _read_fat_tree_cluster,
}


def _parse_numbers(cluster: Element, text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if len(words) > 32 or not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
        cluster.fail(
            f"topo_parameters: '{text[:40]}' is not a list of numbers such as 4,4,2"
        )
    if "0" in (word.lstrip("0") or "0" for word in words):
        cluster.fail(f"topo_parameters: a number of '{text[:40]}' is 0")
    return [int(word) for word in words]


def _format_rates(bandwidth: float, latency: float) -> str:
    rate, seconds = format_quantity(bandwidth), format_quantity(latency)
    return f",bandwidth={rate}B/s,latency={seconds}s"


def write_simgrid_platform(machine: Machine, model: NetworkModel | None = None) -> str:
    """Write a machine as a SimGrid cluster, or else as a list of all routes.

    If `model` has link factors, SMPI settings in the platform contain these factors and
    the overheads of sender and receiver.

    Host ``node-i.topoloom`` is node i. Cores have 1 Gflop/s, because machines have no
    compute speed. Assumed speeds of nodes are omitted, except for intra-node messages,
    for which SimGrid requires a speed. Links without bandwidths have 100 Gbit/s, with a
    comment. In a torus cluster, SimGrid's own routing applies.

    Raises
    ------
    topoloom.Error
        If the machine is no cluster and has too many nodes to list all routes, splits
        messages over several routes, or weights links by distances.
    """
    network = MachineText(machine.text).topology
    topology = _format_cluster_topology(machine, network)
    rates = [
        _find_common_rate(
            network, "bandwidth", parse_bandwidth, get_unit_rate(machine)
        ),
        _find_common_rate(network, "latency", parse_latency, 0.0),
    ]
    assumed = describe_assumed_rate(machine)
    remark = f"  <!-- {assumed} -->\n" if assumed else ""
    beside = _get_specified_latency(machine)
    if model is not None and model.link_factors:
        remark += format_settings(model)
        beside = compute_extra_latency(machine, model)
        inside = make_intra_host_link(model)
        return write_platform_with_all_routes(
            machine, beside, get_unit_rate(machine), remark, inside
        )
    has_ports = machine.port_bandwidth < math.inf or beside > 0
    if topology is None or None in rates or has_ports:
        return write_platform_with_all_routes(
            machine, beside, get_unit_rate(machine), remark
        )
    bandwidth, latency = (format_quantity(rate) for rate in rates if rate is not None)
    return f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
{remark}  <zone id="world" routing="Full">
    <cluster id="machine" prefix="node-" suffix=".topoloom" \
radical="0-{machine.node_count - 1}"
             speed="1Gf" core="{machine.slots_per_node}" \
bw="{bandwidth}Bps" lat="{latency}s"{_format_loopback(machine)}{topology}/>
  </zone>
</platform>
"""


def _format_loopback(machine: Machine) -> str:
    """Format the loopback link, which intra-node messages use."""
    if machine.slots_per_node == 1:
        return ""
    bandwidth = format_quantity(min(machine.memory_bandwidth, NO_LIMIT))
    latency = format_quantity(machine.memory_startup)
    return f' loopback_bw="{bandwidth}Bps" loopback_lat="{latency}s"'


def get_unit_rate(machine: Machine) -> float:
    """Return the bytes/s of bandwidth 1; assumed if bandwidths are relative."""
    return 1.0 if machine.has_bandwidths else NETWORKS[""].bandwidth


def describe_assumed_rate(machine: Machine) -> str:
    """Describe the bandwidth that is assumed for a machine without bandwidths."""
    if machine.has_bandwidths:
        return ""
    rate = format_bandwidth(get_unit_rate(machine))
    return f"assumed: links of {rate} (100 Gbit/s); the machine gives no bandwidths"


def _format_cluster_topology(machine: Machine, network: TextSection) -> str | None:
    """Format the network attributes of a cluster; None if not representable."""
    if network.name == "torus" and machine.node_count == math.prod(machine.shape):
        if machine.host_hops:
            return None  # in SimGrid's torus clusters, hosts are routers
        sizes = ",".join(map(str, reversed(machine.shape)))
        torus = f' topology="TORUS" topo_parameters="{sizes}"'
        return torus if all(machine.wraps) else None
    if network.name not in ("tree", "fattree"):
        return None
    if "distance" in dict(network.options):
        raise Error("SimGrid has no distances except links; omit distance=")
    if network.name == "tree" and len(network.sizes) == 1:
        return ""
    levels = _format_fat_tree(network)
    return levels and f' topology="FAT_TREE" topo_parameters="{levels}"'


def _format_fat_tree(network: TextSection) -> str | None:
    """Format ``topo_parameters`` of a fat tree; None if SimGrid's routing differs."""
    down = network.sizes
    ones = join_numbers([1] * len(down))
    usual = ones if network.name == "tree" else join_numbers([1, *down[:-1]])
    options = dict(network.options)
    up = options.get("up", usual)
    cables = options.get("parallel", ones)
    routing = options.get("routing", "d-mod-k")
    if routing != "simgrid" and (routing != "d-mod-k" or cables != ones):
        return None
    lists = (join_numbers(down), up, cables)
    return ";".join([f"{len(down)}", *(each.replace(":", ",") for each in lists)])


def _get_specified_latency(machine: Machine) -> float:
    """Return the seconds that a machine specifies per message, besides its links."""
    node = MachineText(machine.text).node
    given = dict(node.options) if node else {}
    if given.keys().isdisjoint({"startup", "latency"}):
        return 0.0
    return machine.startup + machine.node_latency


def _find_common_rate(
    network: TextSection, key: str, parse: Callable[[str], float], default: float
) -> float | None:
    """Return the common rate of all links; None if rates differ."""
    options = dict(network.options)
    if any(option.startswith(f"{key}.") for option in options):
        return None
    rates = {parse(word) for word in options.get(key, "").split(":") if word}
    return None if len(rates) > 1 else rates.pop() if rates else default
