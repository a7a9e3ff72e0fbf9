# SPDX-License-Identifier: BSD-3-Clause
"""Builds machines from trees of switches, as schedulers list them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.reachability import find_neighbors, find_reachable
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.plain_text import shorten
from topoloom.support.units import counted

# Upper limit, because a few bytes of text can name millions of hosts.
_MAX_NODES = 500_000
_MAX_LEVELS = 64


@dataclass(frozen=True)
class Switch:
    """A switch and its children, read from a line or entry of a file."""

    name: str
    line: int
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class HostPath(NamedTuple):
    """A host, its line number, and the switches above it, from the lowest up."""

    line: int
    host: str
    above: tuple[str, ...]


class HostLists:
    """Expands the host lists of a file; errors contain the line number."""

    def __init__(self) -> None:
        self._count = 0

    def expand(self, line: int, text: str) -> tuple[str, ...]:
        """Expand the host list in a line."""
        try:
            hosts = tuple(expand_hostlist(text, _MAX_NODES))
        except Error as error:
            raise Error(f"line {line}: {error}") from None
        self._count += len(hosts)
        if self._count > _MAX_NODES:
            raise Error(f"line {line}: up to here there are over {_MAX_NODES} names")
        return hosts


def find_network(switches: list[Switch], hosts: Sequence[str]) -> list[Switch] | None:
    """Return the connected network that contains all of these hosts, or None."""
    links = [(switch.name, child) for switch in switches for child in switch.children]
    starts = [switch.name for switch in switches if hosts[0] in switch.nodes]
    reached = find_reachable(starts, find_neighbors(links))
    kept = [switch for switch in switches if switch.name in reached]
    nodes = {node for switch in kept for node in switch.nodes}
    return kept if nodes.issuperset(hosts) else None


def select_part(
    switches: list[Switch], part: str
) -> tuple[list[Switch], tuple[str, ...]]:
    """Select a switch and all below it; also return a remark about what is left out.

    Without `part`, all switches are selected. Raises `topoloom.Error` if no switch has
    this name.
    """
    if not part:
        return switches, ()
    below = {switch.name: switch.children for switch in switches}
    if part not in below:
        raise Error(describe_unknown_name("part", part, _list_roots(switches)))
    kept: set[str] = set()
    waiting = [part]
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += below.get(name, ())
    left = [switch for switch in switches if switch.name not in kept]
    nodes = sum(len(switch.nodes) for switch in left)
    remark = f"part {part}: {counted(nodes, 'node')} outside it left out"
    chosen = [switch for switch in switches if switch.name in kept]
    return chosen, (remark,) if left else ()


def _list_roots(switches: list[Switch]) -> list[str]:
    children = {name for switch in switches for name in switch.children}
    return [switch.name for switch in switches if switch.name not in children]


def describe_switches(switches: list[Switch]) -> MachineDescription:
    """Build the machine of a tree of switches.

    Nodes are numbered depth first, in the listed order of nodes and child switches. The
    text is ``tree:a:b:c`` if all switches of a level have equally many children.
    Otherwise it is ``graph:N+S:`` with a link to the parent from each node, and from
    each switch except the root.

    Raises
    ------
    topoloom.Error
        For duplicate switches or nodes, an unknown child, a cycle, a second root, or a
        tree with over 64 levels. The message contains the line.
    """
    index = _index_switches(switches)
    parent = _find_parents(switches, index)
    _require_unique_nodes(switches)
    order = _order_depth_first(switches, index, _find_root(switches, parent))
    if len(order) < len(switches):
        raise _find_cycle(switches, parent, set(order))
    hosts = tuple(node for at in order for node in switches[at].nodes)
    below = _find_arities(switches, index, order)
    if (arities := below.get(order[0])) is not None:
        # Switches are numbered bottom-up; within each level, they keep their order.
        by_level = sorted(order, key=lambda at: len(below[at]))
        return MachineDescription(
            f"tree:{':'.join(map(str, arities))}",
            hosts,
            network="",
            switches=tuple(switches[at].name for at in by_level),
        )
    first = len(hosts)
    number = {host: i for i, host in enumerate(hosts)}
    links = []
    for at, switch in enumerate(switches):
        links += [f"{number[node]}-{first + at}" for node in switch.nodes]
        links += [f"{first + at}-{first + index[name]}" for name in switch.children]
    text = f"graph:{first}+{len(switches)}:{','.join(links)}"
    names = tuple(switch.name for switch in switches)
    return MachineDescription(text, hosts, network="", switches=names)


def describe_host_paths(paths: Iterable[HostPath]) -> MachineDescription:
    """Build the machine of hosts from the switches above each host.

    All paths must end at the same root. The root is omitted if only one switch is below
    it.
    """
    line_of: dict[str, int] = {}
    hosts: dict[str, list[str]] = {}
    below: dict[str, dict[str, None]] = {}
    root = ""
    for line, host, above in paths:
        hosts.setdefault(above[0], []).append(host)
        for under, over in itertools.pairwise(above):
            below.setdefault(over, {})[under] = None
        for name in above:
            line_of[name] = min(line, line_of.get(name, line))
        root = above[-1]
    if len(below.get(root, ())) == 1:
        del below[root]
    leaves = [Switch(name, line_of[name], tuple(hosts[name])) for name in hosts]
    inner = [Switch(name, line_of[name], (), tuple(below[name])) for name in below]
    return describe_switches(leaves + inner)


def _index_switches(switches: list[Switch]) -> dict[str, int]:
    index: dict[str, int] = {}
    for at, switch in enumerate(switches):
        first = switches[index.setdefault(switch.name, at)]
        if first is not switch:
            raise Error(
                f"line {switch.line}: switch {switch.name} is listed twice, "
                f"first on line {first.line}; keep one"
            )
        if not switch.nodes and not switch.children:
            raise Error(
                f"line {switch.line}: switch {switch.name} has neither nodes nor "
                "switches below it; add them, or leave the switch out"
            )
    if not switches:
        raise Error("line 1: there is no switch; each line names one and its nodes")
    return index


def _find_parents(switches: list[Switch], index: dict[str, int]) -> list[int | None]:
    parent: list[int | None] = [None] * len(switches)
    for at, switch in enumerate(switches):
        for name in switch.children:
            child = index.get(name)
            if child is None:
                raise Error(
                    f"line {switch.line}: switch {switch.name} has the child {name}, "
                    "which no line describes; add a line for it"
                )
            above = parent[child]
            if above is not None:
                raise Error(
                    f"line {switch.line}: switch {name} is a child of {switch.name} "
                    f"and of {switches[above].name} (line {switches[above].line}); "
                    "a switch has one parent, so keep one of them"
                )
            parent[child] = at
    return parent


def _require_unique_nodes(switches: list[Switch]) -> None:
    owner: dict[str, Switch] = {}
    for switch in switches:
        for node in switch.nodes:
            if node in owner:
                other = owner[node]
                raise Error(
                    f"line {switch.line}: node {node} is under switch {switch.name} "
                    f"and under {other.name} (line {other.line}); list it once"
                )
            owner[node] = switch


def _find_root(switches: list[Switch], parent: list[int | None]) -> int:
    roots = [at for at, above in enumerate(parent) if above is None]
    if not roots:
        raise _find_cycle(switches, parent, set())
    if len(roots) > 1:
        one, other = switches[roots[0]], switches[roots[1]]
        raise Error(
            f"line {other.line}: no switch joins {other.name} to {one.name} (line "
            f"{one.line}): both are roots; add a switch above them, or read one part "
            f"('topoloom machine import --part NAME'): "
            f"{shorten(', '.join(_list_roots(switches)))}"
        )
    return roots[0]


def _find_cycle(
    switches: list[Switch], parent: list[int | None], reached: set[int]
) -> Error:
    at = next(i for i in range(len(switches)) if i not in reached)
    seen: set[int] = set()
    # A switch that cannot be reached from a root is below or in a cycle, so the path
    # upwards from it ends in that cycle.
    while at not in seen:
        seen.add(at)
        above = parent[at]
        assert above is not None
        at = above
    switch = switches[at]
    return Error(
        f"line {switch.line}: switch {switch.name} is above itself; "
        "take it out of the children of the switches below it"
    )


def _order_depth_first(
    switches: list[Switch], index: dict[str, int], root: int
) -> list[int]:
    order, stack = [], [(root, 1)]
    while stack:
        at, level = stack.pop()
        order.append(at)
        if level > _MAX_LEVELS:
            raise Error(
                f"line {switches[at].line}: switch {switches[at].name} is over "
                f"{_MAX_LEVELS} levels below the root, the maximum"
            )
        below = (index[name] for name in reversed(switches[at].children))
        stack += [(child, level + 1) for child in below]
    return order


def _find_arities(
    switches: list[Switch], index: dict[str, int], order: list[int]
) -> dict[int, tuple[int, ...]]:
    """List the number of children per switch, bottom-up; empty if irregular."""
    below: dict[int, tuple[int, ...]] = {}
    for at in reversed(order):
        switch = switches[at]
        if not switch.children:
            below[at] = (len(switch.nodes),)
            continue
        kinds = {below[index[name]] for name in switch.children}
        if switch.nodes or len(kinds) > 1:
            return {}
        below[at] = (*kinds.pop(), len(switch.children))
    return below
