# SPDX-License-Identifier: BSD-3-Clause
"""Reads SimGrid platforms (XML) of version 4 or 4.1, and writes clusters."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from topoloom._core import Error, Machine, MachineText, NetworkModel, TextSection
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import NETWORKS
from topoloom.importers.simgrid.platform import write_platform_with_all_routes
from topoloom.importers.simgrid.platform_machine import describe_platform
from topoloom.importers.simgrid.platform_names import check_platform_names
from topoloom.importers.simgrid.platform_parts import NO_LIMIT
from topoloom.importers.simgrid.read_cluster import read_cluster
from topoloom.importers.simgrid.smpi_settings import (
    compute_extra_latency,
    format_settings,
    make_intra_host_link,
)
from topoloom.importers.simgrid.units import format_quantity
from topoloom.importers.simgrid.zone import describe_zone
from topoloom.support.number_ranges import join_numbers
from topoloom.support.units import (
    counted,
    format_bandwidth,
    parse_bandwidth,
    parse_latency,
)
from topoloom.support.xml_tree import Element, read_xml

_BLANK_START = re.compile(r"\A(\s+)(<\?xml[^>]*\?>)")
#: Elements without network data, and those that change it during a run.
_IGNORED, _TRACES = ("prop", "config"), ("trace", "trace_connect")


def read_simgrid_platform(text: str) -> MachineDescription:
    """Read a platform of clusters, and zones of hosts, links and routes."""
    # SimGrid accepts blank lines before the declaration; XML parsers do not.
    root = read_xml(_BLANK_START.sub(r"\2\1", text, count=1))
    if root.tag != "platform":
        root.fail(f"the document is a <{root.tag}>, expected a <platform>")
    version = root.require("version")
    if version not in ("4", "4.0", "4.1"):
        root.fail(
            f"platform version {version[:20]}, but versions 4 and 4.1 are read; "
            "convert it with simgrid_update_xml"
        )
    unknown = check_platform_names(root)
    described = _describe_inner_zone(root)
    described = replace(described, remarks=(*described.remarks, *unknown))
    traces = sum(
        part.tag == "trace" or any(name.endswith("_file") for name in part.attributes)
        for part in root.walk()
    )
    if not traces:
        return described
    remark = f"{counted(traces, 'trace')} of speeds and failures ignored"
    return replace(described, remarks=(*described.remarks, remark))


def _describe_inner_zone(root: Element) -> MachineDescription:
    """Build the machine of the innermost zone with several parts."""
    inner = root
    while True:
        ignored = (*_IGNORED, *_TRACES)
        parts = [part for part in inner.children if part.tag not in ignored]
        zones = [part for part in parts if part.tag in ("cluster", "zone", "AS")]
        if not zones:
            break
        if len(parts) > 1:
            return describe_platform(inner)
        inner = zones[0]
    if inner is root:
        root.fail("the platform has no <cluster> and no <zone>")
    if inner.attributes.get("routing") == "Cluster":
        return describe_platform(root)
    return read_cluster(inner) if inner.tag == "cluster" else describe_zone(inner)


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
