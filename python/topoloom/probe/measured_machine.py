# SPDX-License-Identifier: BSD-3-Clause
"""Builds the machine description from the findings of a probe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from topoloom._core import Machine
from topoloom.importers.machine_description import AllocatedNode, MachineDescription
from topoloom.model.channels import PairCurve
from topoloom.model.model_toml import format_time, make_model_tables
from topoloom.nodes.node_parts import NodeParts
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import HOST, RankGroup, count_network_levels
from topoloom.probe.inference.message_costs import LevelCosts
from topoloom.probe.inference.network import HostNetwork
from topoloom.probe.network_model import (
    IN_HOSTS,
    compute_short_latency,
    find_host_costs,
    find_inner_costs,
    make_network_model,
)
from topoloom.support.number_ranges import expand_ranges

#: Distance between the nearest slots; other distances are integers in proportion to it.
_UNIT = 4
#: Hosts do not limit each other if their total rate exceeds this share of the sum of
#: their single rates.
_FREE_SHARE = 0.9
_MAX_CPUS = 1 << 16
#: Replaces infinity, which is, for example, the value of t if times have no variance.
_MAX_VALUE = 1e300


def describe_machine(found: Findings) -> MachineDescription:
    """Describe the machine as machine text.

    Nodes are the hosts in the order of the network; slots are the ranks of a host, part
    by part. Unmeasured values are omitted.
    """
    slots = _order_slots(found)
    short = compute_short_latency(found)
    text, order = _format_network(found, short)
    node, cpus = _format_node(found, slots, short)
    hosts = tuple(found.hosts[host] for host in order)
    given = tuple(AllocatedNode(host) for host in found.hosts)
    return MachineDescription(
        text + node,
        hosts,
        given if given != tuple(map(AllocatedNode, hosts)) else (),
        NodeParts(cpus=cpus),
        remarks=tuple(found.doubts),
    )


def make_file_tables(
    found: Findings, samples: str, command: Sequence[str]
) -> dict[str, Any]:
    """Build the tables ``[model]`` and ``[probe]`` of the machine's file."""
    tables: dict[str, Any] = {}
    model = make_network_model(found, Machine(describe_machine(found).text))
    if model is not None:
        tables["model"] = make_model_tables(model)
    document = found.document()
    head = {"samples": samples, "command": list(command)}
    tables["probe"] = _clean_values({**head, **document})
    return tables


def _clean_values(value: Any) -> Any:
    """Remove unknown values, and round to significant digits."""
    if isinstance(value, float):
        return float(f"{min(value, _MAX_VALUE):.7g}")
    if isinstance(value, dict):
        return {k: _clean_values(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_clean_values(item) for item in value]
    return value


def _order_slots(found: Findings) -> list[tuple[int, ...]]:
    """List the rank of each slot for each host."""
    by_host = {
        found.host_of[group.ranks[0]]: tuple(_order_ranks(group))
        for group in found.root.all_groups()
        if group.kind == HOST
    }
    return [by_host[host] for host in range(len(found.hosts))]


def _order_ranks(group: RankGroup) -> Sequence[int]:
    if not group.groups:
        return group.ranks
    return [rank for part in group.groups for rank in _order_ranks(part)]


def _format_network(found: Findings, short: float) -> tuple[str, list[int]]:
    network = found.network
    if network is None:
        return "tree:1", list(range(len(found.hosts)))
    rate = _compute_host_rate(found)
    if network.is_graph:
        return _format_graph(network, rate, short), network.order
    levels = network.levels
    if levels is None:
        return _format_switches(found, network, rate, short), network.order
    rates, latencies = _compute_level_speeds(found, network, rate)
    latencies = [short * latency for latency in latencies]
    text = f"tree:{':'.join(map(str, levels))}"
    text += f",bandwidth={':'.join(map(_format_rate, rates))}"
    return f"{text},latency={':'.join(map(_format_time, latencies))}", network.order


def _format_graph(network: HostNetwork, rate: float, short: float) -> str:
    links = ",".join(f"{a}-{b}" for a, b in network.neighbors)
    speed = (
        f"bandwidth={_format_rate(rate)},latency={_format_time(short * network.hop)}"
    )
    return f"graph:{len(network.order)}:{links},{speed}"


def _compute_level_speeds(
    found: Findings, network: HostNetwork, rate: float
) -> tuple[list[float], list[float]]:
    """Compute bandwidth and latency of the links of each level, bottom-up."""
    heights: dict[int, list[float]] = {}
    for link in network.links:
        height = 0 if link.below.kind == HOST else count_network_levels(link.below)
        heights.setdefault(height, []).append(link.latency)
    latencies = [float(np.median(heights[height])) for height in sorted(heights)]
    rates = [rate]
    for height in sorted(heights)[1:]:
        own = [
            _compute_uplink_rate(found, group, rate)
            for group in _list_groups(network)
            if count_network_levels(group) == height
        ]
        rates.append(float(np.median(own)))
    return rates, latencies


def _compute_uplink_rate(found: Findings, group: RankGroup, single: float) -> float:
    """Compute the rate in bytes/s from the hosts of a group to other hosts.

    If no limit was measured, this is the sum over hosts; `single` is the rate of one
    host.
    """
    hosts = {found.host_of[rank] for rank in group.ranks}
    whole = len(hosts) * single
    measured = found.uplinks.get(group.ranks, whole)
    # The pairs that were measured did not include slow hosts.
    sent = [host for host in hosts if not found.slow_pairs.is_slow(host)] or hosts
    return whole if measured > _FREE_SHARE * len(sent) * single else measured


def _list_groups(network: HostNetwork) -> list[RankGroup]:
    assert network.root is not None
    return [group for group in network.root.all_groups() if group.kind not in IN_HOSTS]


def compute_capacity(curve: PairCurve) -> float:
    """Compute the total bytes/s of concurrent pairs from their bandwidth curve.

    If the two largest numbers of pairs are limited, the rate follows from the
    difference between their times, in which fixed costs cancel.
    """
    pairs, seconds = curve.pairs, curve.monotone_seconds
    if len(pairs) > 1 and seconds[-1] > 1.2 * seconds[0]:
        half = int(np.searchsorted(pairs, pairs[-1] / 2))
        first = min(max(half, 1), len(pairs) - 2) if len(pairs) > 2 else 0
        longer = seconds[-1] - seconds[first]
        if longer > 0:
            return float((pairs[-1] - pairs[first]) * curve.size / longer)
    return float((pairs * curve.size / seconds).max())


def _format_switches(
    found: Findings, network: HostNetwork, rate: float, short: float
) -> str:
    """Format a tree with unequal groups as a graph, with a switch per group."""
    hosts = {host: node for node, host in enumerate(network.order)}
    groups = _list_groups(network)
    switch = {id(group): len(hosts) + n for n, group in enumerate(groups)}
    around = {id(part): group for group in groups for part in group.groups}
    links = []
    for link in network.links:
        parent = around[id(link.below)]
        if link.below.kind == HOST:
            end, own = hosts[found.host_of[link.below.ranks[0]]], rate
        else:
            end = switch[id(link.below)]
            own = _compute_uplink_rate(found, link.below, rate)
        speed = f"@{_format_rate(own)}@{_format_time(short * link.latency)}"
        links.append(f"{end}-{switch[id(parent)]}{speed}")
    return f"graph:{len(hosts)}+{len(groups)}:{','.join(links)}"


def _format_node(
    found: Findings, slots: Sequence[Sequence[int]], short: float
) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """Format the node: its levels, if all hosts are equal, and its speeds."""
    groups = [g for g in found.root.all_groups() if g.kind == HOST]
    shapes = {_find_levels(group) for group in groups}
    most = max(len(of_host) for of_host in slots)
    shape = shapes.pop() if len(shapes) == 1 else None
    levels = list(shape) if shape else [most]
    text = f"+node:{':'.join(map(str, levels))}"
    distance = _compute_distances(found, len(levels))
    if distance and most > 1:
        text += f",distance={':'.join(map(str, distance))}"
    for option, value in _collect_speeds(found, short).items():
        text += f",{option}={value}"
    return text, _find_slot_cpus(found, slots)


def _find_levels(group: RankGroup) -> tuple[int, ...] | None:
    """Return the levels of a host, bottom-up; None if its parts differ."""
    if not group.groups:
        return (len(group.ranks),)
    shapes = {_find_levels(part) for part in group.groups}
    below = shapes.pop()
    if shapes or below is None:
        return None
    return (*below, len(group.groups))


def _compute_distances(found: Findings, levels: int) -> list[int]:
    """Compute integer distances in proportion to the times of short messages."""
    inside = [
        level.median for level in found.levels if level.groups[0].kind in IN_HOSTS
    ]
    if len(inside) != levels:
        return []
    distance = [max(1, round(_UNIT * time / inside[0])) for time in inside]
    if found.network is not None:
        hops = 1 if found.network.is_graph else 2
        hop = round(_UNIT * found.network.base / inside[0] / hops)
        distance.append(max(1, hop))
    return distance


def _collect_speeds(found: Findings, short: float) -> dict[str, str]:
    speeds: dict[str, str] = {}
    between, inside = find_host_costs(found), find_inner_costs(found)
    if between is not None and found.network is not None:
        startup = _compute_startup(between)
        if (
            not found.network.is_graph
        ):  # in a graph, a host can use all its links at once
            speeds["bandwidth"] = _format_rate(_compute_host_rate(found))
        speeds["startup"] = _format_time(startup)
        # In a graph, a message between neighbors also crosses a link, which has a
        # latency.
        rest = float(between.alone.fit.measured[0]) - startup
        rest -= short * found.network.hop
        speeds["latency"] = _format_time(max(0.0, rest))
    if inside is not None:
        curve = found.curves.get("inside a host") or found.curves.get(
            "inside a part of a host"
        )
        rate = inside.bandwidth if curve is None else compute_capacity(curve)
        speeds["memory"] = _format_rate(rate)
        speeds["memory-startup"] = _format_time(_compute_startup(inside))
    return speeds


def _compute_startup(costs: LevelCosts) -> float:
    """Compute the startup cost: how long a short message keeps its sender busy."""
    if costs.burst is not None:
        return float(costs.burst.fit.measured[0])
    if not math.isnan(costs.send_cpu):
        return costs.send_cpu
    return float(costs.alone.fit.measured[0])


def _compute_host_rate(found: Findings) -> float:
    """Compute the highest rate that a host reaches with any number of sending ranks."""
    curve = found.curves.get("between two hosts")
    costs = find_host_costs(found)
    single = 0.0 if costs is None else costs.bandwidth
    return max(single, 0.0 if curve is None else compute_capacity(curve)) or 1e9


def _find_slot_cpus(
    found: Findings, slots: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], ...]:
    """Find the CPUs of each slot, provided that all hosts bind their ranks equally."""
    seen = set()
    for of_host in slots:
        masks = [found.samples.places[rank].cpus for rank in of_host]
        if len(set(masks)) < len(masks) or not all(masks):
            return ()
        seen.add(tuple(masks))
    if len(seen) != 1:
        return ()
    cpus = tuple(tuple(expand_ranges(mask, _MAX_CPUS)) for mask in seen.pop())
    each = [cpu for of_slot in cpus for cpu in of_slot]
    return cpus if len(set(each)) == len(each) else ()


def _format_rate(rate: float) -> str:
    """Format bytes per second in a unit without exponent."""
    for unit, size in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if rate >= size:
            return f"{rate / size:.6g}{unit}"
    return f"{rate:.6g}B/s"


def _format_time(seconds: float) -> str:
    return format_time(round(seconds, 12), 5).replace(" ", "")
