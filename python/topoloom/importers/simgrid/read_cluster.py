# SPDX-License-Identifier: BSD-3-Clause
"""Reads SimGrid clusters: flat, with a backbone, torus, fat tree, dragonfly.

SimGrid numbers the nodes of a torus with the first axis fastest, and routes along this
axis first. In Topoloom the last axis is fastest, so the axes and the order of routing
are reversed.
"""

from __future__ import annotations

import math
import re

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.simgrid.units import (
    format_quantity,
    read_bandwidth,
    read_latency,
)
from topoloom.importers.torus_positions import MAX_ROUTERS
from topoloom.support.number_ranges import join_numbers
from topoloom.support.xml_tree import Element

_MAX_HOSTS = 500_000
_MAX_BEHIND_BACKBONE = 50_000


def read_cluster(cluster: Element) -> MachineDescription:
    """Build the machine of a ``<cluster>``."""
    hosts = list_cluster_hosts(cluster)
    kind = cluster.attributes.get("topology", "FLAT")
    if kind not in _TOPOLOGIES:
        cluster.fail(
            f"topology {kind[:20]} cannot be read yet; {', '.join(_TOPOLOGIES)} can"
        )
    policy = cluster.attributes.get("sharing_policy", "SPLITDUPLEX")
    if policy not in ("SPLITDUPLEX", "FULLDUPLEX", "SHARED"):
        cluster.fail(
            f"links with sharing_policy {policy[:20]} have no shared capacity; use "
            "SPLITDUPLEX or SHARED"
        )
    text = _TOPOLOGIES[kind](cluster, len(hosts))
    cores = cluster.number("core", 1)
    if cores == 0:
        cluster.fail("a host has no core")
    node, remarks = _format_node(cluster, cores)
    if policy == "SHARED":
        remarks = (*remarks, "links that SimGrid shares between directions have both")
    return MachineDescription(text + node, hosts, remarks=remarks)


def _format_node(cluster: Element, cores: int) -> tuple[str, tuple[str, ...]]:
    """Format the cores and private links of hosts; return also remarks."""
    parts, remarks = [str(cores)], []
    if cores > 1 and "loopback_bw" in cluster.attributes:
        memory = format_quantity(read_bandwidth(cluster, "loopback_bw"))
        startup = format_quantity(read_latency(cluster, "loopback_lat", "0"))
        parts.append(f"memory={memory}B/s,memory-startup={startup}s")
    elif "loopback_bw" in cluster.attributes:
        remarks.append("loopback links left out: a host is one slot")
    if "limiter_link" in cluster.attributes:
        limit = format_quantity(read_bandwidth(cluster, "limiter_link"))
        parts.append(f"bandwidth={limit}B/s")
        remarks.append(
            "limiter_link is a limit of a host per direction; SimGrid shares it "
            "between directions, and with messages that pass through"
        )
    node = f"+node:{','.join(parts)}" if len(parts) > 1 or cores > 1 else ""
    return node, tuple(remarks)


def list_cluster_hosts(cluster: Element) -> tuple[str, ...]:
    """List the names of the hosts of a ``<cluster>`` or ``<cabinet>``."""
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


def _read_dragonfly_cluster(cluster: Element, count: int) -> str:
    """Read groups of chassis of routers; hosts, links and routes are SimGrid's.

    Router t of the first chassis of each group is linked to group t. A message goes to
    this router inside its chassis, then to the first chassis.
    """
    parts = [
        _parse_numbers(cluster, part)
        for part in cluster.require("topo_parameters").split(";")
    ]
    if [len(part) for part in parts] != [2, 2, 2, 1]:
        cluster.fail("a dragonfly has topo_parameters such as 3,4;3,2;3,1;2")
    (groups, blue), (chassis, black), (routers, green), (nodes,) = parts
    if (total := groups * chassis * routers * nodes) != count:
        cluster.fail(f"this dragonfly has {total} hosts, but the radical names {count}")
    if groups > routers:
        cluster.fail(
            f"{groups} groups, but chassis of {routers} routers; SimGrid links a group "
            "to each router of the first chassis"
        )
    bandwidth = read_bandwidth(cluster, "bw")
    latency = read_latency(cluster, "lat", "0")
    classes = {"global": blue, "row": green, "column": black}
    size = f"{groups}x{chassis}x{routers}"
    if chassis == 1:
        classes = {"global": blue, "local": green}
        size = f"{groups}x{routers}"
    rates = "".join(
        f",bandwidth.{name}={format_quantity(bandwidth * links)}B/s"
        for name, links in {**classes, "host": 1}.items()
        if max(classes.values()) > 1
    )
    return (
        f"dragonfly:{size},nodes={nodes},cards=1,global=1,arrangement=direct"
        f"{_format_rates(bandwidth, latency)}{rates}"
    )


_TOPOLOGIES = {
    "FLAT": _read_flat_cluster,
    "TORUS": _read_torus_cluster,
    "FAT_TREE": _read_fat_tree_cluster,
    "DRAGONFLY": _read_dragonfly_cluster,
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
