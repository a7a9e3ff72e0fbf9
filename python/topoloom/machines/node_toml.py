# SPDX-License-Identifier: BSD-3-Clause
"""The table [node] of a TOML machine: levels, and distances by number or name.

::

    [node]
    levels = [8, 2, 2]                  # bottom-up: 8 cores share an L3, ...
    names = ["L3", "package", "node"]   # the shared resource of each level
    costs = { package = 6 }             # other costs are `node_parts.COSTS`

or, without names, ``distance = [2, 8, 16]`` and ``hop_weight = 16``. Optional keys:

- ``vacant = "0,12-13"``: places of the levels without a slot, such as those of
  reserved cores; slots are numbered without them;
- ``port = [0, 8]``: the cost of the route to the NIC for each half of the places;
- ``bandwidth = "12 GB/s"``: bandwidth of the NIC in each direction;
- ``startup = "0.4 us"``: time of the sender per inter-node message;
- ``latency = "1 us"``: latency of an inter-node message, without startup and links;
- ``memory = "90 GB/s"``: total bandwidth of intra-node messages;
- ``memory_startup = "0.3 us"``: time of the sender per intra-node message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from topoloom._core import Error, Machine, MachineText
from topoloom.machines.topology_options import insert_unit_space
from topoloom.nodes.node_parts import COSTS, NodeParts, compress_port_costs
from topoloom.nodes.node_parts_table import (
    KEYS as PARTS,
    read_parts,
    read_vacant,
    write_parts,
)
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.number_ranges import join_numbers, split_numbers
from topoloom.support.toml_values import (
    check_integers,
    check_keys,
    check_quantity,
    check_type,
    get_entry,
)
from topoloom.support.units import parse_bandwidth, parse_latency

HOP = "hop"
#: Options of machine text, which uses ``-`` instead of ``_``.
_SPEEDS = {
    "bandwidth": parse_bandwidth,
    "startup": parse_latency,
    "latency": parse_latency,
    "memory": parse_bandwidth,
    "memory_startup": parse_latency,
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")


class NodeTable(NamedTuple):
    """The contents of a table: machine text, parts, and vacant places of the levels."""

    text: str
    parts: NodeParts
    vacant: tuple[int, ...] = ()


def read_node(node: dict[str, Any], nodes: int = 1) -> NodeTable:
    """Read the table; CPUs and devices are per host, which has `nodes` nodes."""
    levels_and_port = (
        "levels",
        "distance",
        "hop_weight",
        "names",
        "costs",
        "port",
        "vacant",
    )
    check_keys(node, (*levels_and_port, *_SPEEDS, *PARTS), "node.")
    levels = check_integers(
        get_entry(node, "levels", list, "node.levels"), 1, "node.levels"
    )
    names: tuple[str, ...] = ()
    if "names" in node:
        names, distance = _read_names(node, len(levels))
    elif "costs" in node:
        raise Error("node.costs needs node.names, the shared resource of each level")
    else:
        distance = _read_distance(node, len(levels))
    text = f"+node:{join_numbers(levels)}"
    if any(distance):
        text += f",distance={join_numbers(distance)}"
    if port := _read_port(node, math.prod(levels)):
        text += f",port={join_numbers(port)}"
    for key, parse in _SPEEDS.items():
        if key in node:
            option = key.replace("_", "-")
            text += f",{option}={check_quantity(node[key], f'node.{key}', parse)}"
    places = math.prod(levels)
    vacant = read_vacant(node, places, "node")
    if vacant and nodes > 1:
        raise Error("node.vacant: the nodes of this machine are the GPUs of its hosts")
    slots = (places - len(vacant)) * nodes
    return NodeTable(text, read_parts(node, slots, names, places * nodes), vacant)


def write_node(machine: Machine, parts: NodeParts) -> dict[str, Any]:
    """Build the table of a machine's nodes; empty if nodes have no levels."""
    node = MachineText(machine.text).node
    if node is None:
        return {}
    options = dict(node.options)
    levels = split_numbers(node.body)
    table: dict[str, Any] = {"levels": levels}
    if parts.names:
        table["names"] = list(parts.names)
        table["costs"] = level_costs(machine, parts.names)
    elif "distance" in options:
        distance = split_numbers(options["distance"])
        table["distance"] = distance[: len(levels)]
        if distance[len(levels) :]:
            table["hop_weight"] = distance[len(levels)]
    return {**table, **write_nic(machine), **write_parts(parts)}


def write_nic(machine: Machine) -> dict[str, Any]:
    """Build the entries for the NIC: speeds, and route costs if any is not 0."""
    options = _parse_node_options(machine)
    costs = compress_port_costs(split_numbers(options.get("port", "0")))
    given = {option.replace("-", "_"): value for option, value in options.items()}
    speeds = {key: insert_unit_space(given[key]) for key in _SPEEDS if key in given}
    return {**({"port": costs} if costs else {}), **speeds}


def level_costs(machine: Machine, names: Sequence[str]) -> dict[str, int]:
    """Return the distance of each level by name, and the cost of a hop."""
    distance = _parse_distances(machine)[: len(names)]
    return {**dict(zip(names, distance, strict=True)), HOP: hop_weight(machine)}


def hop_weight(machine: Machine) -> int:
    """Return the cost of a hop between nodes: specified or default."""
    given = find_explicit_hop_weight(machine)
    if given is not None:
        return given
    if machine.node_count == 1:
        return COSTS[HOP]  # for networks of such nodes
    text = MachineText(machine.text)
    down = f"+down:{','.join(text.down)}" if text.down else ""
    levels, distance = (
        join_numbers(machine.levels),
        join_numbers(_parse_distances(machine)),
    )
    node = f"+node:{levels},distance={distance}"
    weighed, plain = (
        Machine(text.network + down + node + hop).distance(0, machine.slots_per_node)
        for hop in ("", ":1")
    )
    return weighed // plain if plain else 1


def find_explicit_hop_weight(machine: Machine) -> int | None:
    """Return the cost of a hop if the machine text specifies it."""
    distance, levels = _parse_distances(machine), len(machine.levels)
    return distance[levels] if len(distance) > levels else None


def _parse_distances(machine: Machine) -> list[int]:
    given = _parse_node_options(machine).get("distance")
    return split_numbers(given) if given else [0] * len(machine.levels)


def _parse_node_options(machine: Machine) -> dict[str, str]:
    node = MachineText(machine.text).node
    return dict(node.options) if node else {}


def _read_port(node: dict[str, Any], slots: int) -> list[int]:
    if "port" not in node:
        return []
    costs = check_integers(node["port"], 0, "node.port")
    if slots % len(costs):
        raise Error(
            f"node.port has {len(costs)} entries, which must divide the {slots} "
            "slots of a node"
        )
    return compress_port_costs(costs)


def _read_distance(node: dict[str, Any], levels: int) -> list[int]:
    distance = [0] * levels
    if "distance" in node:
        distance = check_integers(node["distance"], 0, "node.distance")
        if len(distance) != levels:
            raise Error("node.distance must have an entry for each of node.levels")
    if "hop_weight" in node:
        weight = get_entry(node, "hop_weight", int, "node.hop_weight")
        if weight < 1:
            raise Error("node.hop_weight must be 1 or more")
        distance = [*distance, weight]
    return distance


def _read_names(node: dict[str, Any], levels: int) -> tuple[tuple[str, ...], list[int]]:
    for key in ("distance", "hop_weight"):
        if key in node:
            raise Error(
                f"node.{key} and node.names are mutually exclusive; "
                "set distances by name in node.costs"
            )
    names = check_type(node["names"], list, "node.names")
    if len(names) != levels:
        raise Error("node.names must have an entry for each of node.levels")
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == HOP:
            raise Error(
                f"node.names: {name!r} is not the name of a level, such as 'L3'"
            )
    costs = _read_costs(node, names)
    for name in names:
        if name not in costs:
            raise Error(f"node.costs has no entry for '{name}', one of node.names")
    distance = [costs[name] for name in names]
    for level in range(1, levels):
        if distance[level] < distance[level - 1]:
            raise Error(
                f"node.costs: '{names[level]}' ({distance[level]}) is above "
                f"'{names[level - 1]}' ({distance[level - 1]}): must not cost less"
            )
    return tuple(names), [*distance, costs[HOP]]


def _read_costs(node: dict[str, Any], names: list[str]) -> dict[str, int]:
    costs = dict(COSTS)
    for name, cost in check_type(node.get("costs", {}), dict, "node.costs").items():
        if name not in names and name not in COSTS:
            raise Error(
                describe_unknown_name("cost", f"node.costs.{name}", [*names, HOP])
            )
        least = 1 if name == HOP else 0
        if type(cost) is not int or not least <= cost < 2**31:
            raise Error(f"node.costs.{name} must be an integer, {least} or more")
        costs[name] = cost
    return costs
