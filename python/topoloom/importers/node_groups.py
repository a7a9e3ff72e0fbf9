# SPDX-License-Identifier: BSD-3-Clause
"""Groups of identical nodes, and machines whose groups differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from topoloom._core import Error, Machine, MachineText
from topoloom.importers.machine_description import MachineDescription
from topoloom.nodes.common_shape import find_common_shape
from topoloom.nodes.host_text import is_vacant, parse_nodes_per_host
from topoloom.nodes.node_parts import Levels, NodeParts, NodeType, compress_port_costs
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.number_ranges import compress_ranges, join_numbers, split_numbers
from topoloom.support.plain_text import shorten

#: Options of `+node:` that must be equal for all nodes of a machine.
SPEEDS = ("bandwidth", "startup", "latency", "memory", "memory-startup")


class NodeGroup(NamedTuple):
    """A group of nodes with the same structure.

    Attributes
    ----------
    text
        The node part of machine text, ``+node:...``; empty for a single slot.
    parts CPUs, devices and level names of its nodes. nodes Ids of the nodes; None for
    all nodes that are in no other group. where
        The name of the group in messages.
    hop_weight
        Cost of a hop if `text` specifies none; None for the machine's default.
    vacant
        Places of the levels without a slot.
    """

    text: str
    parts: NodeParts
    nodes: Collection[int] | None
    where: str
    hop_weight: int | None = None
    vacant: tuple[int, ...] = ()

    def options(self) -> dict[str, str]:
        """Return the ``+node`` options of the group."""
        section = MachineText(f"torus:1{self.text}").node
        return dict(section.options) if section else {}

    def levels(self) -> Levels:
        """Return the levels of the group's nodes."""
        section = MachineText(f"torus:1{self.text}").node
        if section is None:
            return Levels((1,), (0,))
        sizes, options = split_numbers(section.body), dict(section.options)
        distance = [0] * len(sizes)
        if "distance" in options:
            distance = split_numbers(options["distance"])[: len(sizes)]
        port = split_numbers(options.get("port", "0"))
        costs = Levels(tuple(sizes), tuple(distance), tuple(port)).port_costs()
        port = compress_port_costs(costs)
        return Levels(tuple(sizes), tuple(distance), tuple(port), self.vacant)

    def find_hop_weight(self) -> int | None:
        """Return the cost of a hop, if known."""
        distance = self.options().get("distance", "").split(":")
        sizes = len(self.levels().sizes)
        return int(distance[sizes]) if len(distance) > sizes else self.hop_weight


def with_node_groups(
    described: MachineDescription, groups: Sequence[NodeGroup]
) -> MachineDescription:
    """Replace the nodes of a machine; speeds remain unless groups specify others.

    Raises `topoloom.Error` if a node is in two groups or in none, or if the groups
    differ too much for one machine.
    """
    if parse_nodes_per_host(described.text) > 1:
        raise Error(
            "the nodes of this machine are the GPUs of its hosts and must be equal; "
            "describe them in one [node], or as +node:8 after the machine"
        )
    text = MachineText(described.text)
    network = text.network + (f"+down:{','.join(text.down)}" if text.down else "")
    owned = _list_group_nodes(groups, Machine(text.network).node_count, described.hosts)
    by_inside: dict[tuple[Levels, NodeParts], list[int]] = {}
    for group, nodes in zip(groups, owned, strict=True):
        if nodes:
            by_inside.setdefault((group.levels(), group.parts), []).extend(nodes)
    used = [group for group, nodes in zip(groups, owned, strict=True) if nodes]
    old = dict(text.node.options) if text.node else {}
    speeds = {key: value for key, value in old.items() if key in SPEEDS}
    speeds |= _find_common_speeds(used)
    if len(by_inside) == 1 and not any(group.vacant for group in used):
        (levels, node), _ = by_inside.popitem()
    else:
        shape = find_common_shape([own for own, _ in by_inside])
        levels = shape.levels
        types = (
            NodeType(tuple(sorted(set(nodes))), own, slots, parts)
            for ((own, parts), nodes), slots in zip(
                by_inside.items(), shape.slots, strict=True
            )
        )
        node = NodeParts(types=tuple(types))
    nodes_text = _format_node_text(levels, _find_common_hop_weight(used), speeds)
    return replace(described, text=network + nodes_text, node=node)


def build_machine_of_type(machine: Machine, kind: NodeType) -> Machine:
    """Build the same network with nodes of a single type."""
    text = MachineText(machine.text)
    down = f"+down:{','.join(text.down)}" if text.down else ""
    return Machine(text.network + down + format_node_type(machine, kind))


def format_node_type(machine: Machine, kind: NodeType) -> str:
    """Format the nodes of a type as machine text, with the common speeds."""
    node = MachineText(machine.text).node
    options = dict(node.options) if node else {}
    distance = options.get("distance", "").split(":")
    hop = int(distance[-1]) if len(distance) > len(machine.levels) else None
    speeds = {key: value for key, value in options.items() if key in SPEEDS}
    return _format_node_text(kind.levels, hop, speeds)


def _list_group_nodes(
    groups: Sequence[NodeGroup], count: int, hosts: Sequence[str]
) -> list[list[int]]:
    """List the nodes of each group; a group without a list contains all others."""
    owner: dict[int, NodeGroup] = {}
    for group in groups:
        for node in group.nodes or ():
            other = owner.setdefault(node, group)
            if other is not group:
                raise Error(
                    f"{group.where}: {_format_node_names([node], hosts)} is also in "
                    f"{other.where}; name it once"
                )
    left = [node for node in range(count) if node not in owner]
    rest = [group for group in groups if group.nodes is None]
    if len(rest) > 1:
        raise Error(
            f"{rest[1].where} and {rest[0].where} are both for all other nodes; "
            "list the nodes of one of them"
        )
    named = [node for node in left if not (hosts and is_vacant(hosts[node]))]
    if named and not rest:
        raise Error(
            f"no description of {_format_node_names(named, hosts)}; add one for these "
            "nodes, or one without hosts, for all other nodes"
        )
    last = rest[0] if rest else groups[0]
    return [
        [*(group.nodes or ()), *(left if group is last else [])] for group in groups
    ]


def _format_node_names(nodes: Sequence[int], hosts: Sequence[str]) -> str:
    listed = (
        compress_hostlist([hosts[node] for node in nodes])
        if hosts
        else compress_ranges(nodes)
    )
    what = ("host" if hosts else "node") + ("s" if len(nodes) > 1 else "")
    return f"{what} {shorten(listed)}"


def _find_common_speeds(groups: Sequence[NodeGroup]) -> dict[str, str]:
    """Collect the speeds of all groups; raise if they differ."""
    found: dict[str, tuple[str, str]] = {}
    for group in groups:
        for key, value in group.options().items():
            if key not in SPEEDS:
                continue
            other, where = found.setdefault(key, (value, group.where))
            if other != value:
                raise Error(
                    f"{group.where}: {key} is {value}, but {other} in {where}; a "
                    "machine has one for all of its nodes: leave one out"
                )
    return {key: value for key, (value, _) in found.items()}


def _find_common_hop_weight(groups: Sequence[NodeGroup]) -> int | None:
    """Find the cost of a hop of all groups; raise if they differ."""
    found: dict[int, str] = {}
    for group in groups:
        hop = group.find_hop_weight()
        if hop is not None:
            found.setdefault(hop, group.where)
    if len(found) > 1:
        (one, where), (other, there) = list(found.items())[:2]
        raise Error(
            f"{there}: a hop weighs {other}, but {one} in {where}; a machine has one "
            "weight for all of its nodes: make them equal"
        )
    return next(iter(found), None)


def _format_node_text(levels: Levels, hop: int | None, speeds: dict[str, str]) -> str:
    distance = [*levels.distance, *([] if hop is None else [hop])]
    options = {"distance": distance} if any(distance) else {}
    if levels.port:
        options["port"] = list(levels.port)
    listed = [f"{key}={join_numbers(numbers)}" for key, numbers in options.items()]
    listed += [f"{key}={value}" for key, value in speeds.items()]
    return ",".join([f"+node:{join_numbers(levels.sizes)}", *listed])
