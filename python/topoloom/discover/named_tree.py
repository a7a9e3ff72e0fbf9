# SPDX-License-Identifier: BSD-3-Clause
"""Hosts below named switches: a tree where groups are equal, else a graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from topoloom.discover.described import Described


@dataclass
class _Switch:
    switches: dict[str, _Switch] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)


def describe_named_tree(hosts: list[tuple[str, tuple[str, ...]]]) -> Described:
    """Describe hosts with the names of the switches above them, the top one first.

    Switches of the same name are the same only below the same switch. Switches at the
    top that have only one switch below them say nothing and are left out; several top
    ones are joined by one more.
    """
    root = _Switch()
    for host, path in hosts:
        switch = root
        for name in path:
            switch = switch.switches.setdefault(name, _Switch())
        switch.hosts.append(host)
    while len(root.switches) == 1 and not root.hosts:
        root = next(iter(root.switches.values()))
    arities = _arities(root)
    if arities is not None:
        order: list[str] = []
        _gather(root, order)
        return Described(f"tree:{':'.join(map(str, arities))}", tuple(order))
    return _graph(root)


def _arities(switch: _Switch) -> list[int] | None:
    """Count the members of groups, bottom-up; None where two groups differ."""
    if not switch.switches:
        return [len(switch.hosts)]
    below = [_arities(child) for child in switch.switches.values()]
    if switch.hosts or below[0] is None or any(one != below[0] for one in below):
        return None
    return [*below[0], len(below)]


def _gather(switch: _Switch, order: list[str]) -> None:
    order.extend(switch.hosts)
    for child in switch.switches.values():
        _gather(child, order)


def _graph(root: _Switch) -> Described:
    order: list[str] = []
    _gather(root, order)
    number = {host: i for i, host in enumerate(order)}
    links: list[str] = []
    switches = [root]
    for at, switch in enumerate(switches):  # grows: breadth first from the root
        links += [f"{number[host]}-{len(order) + at}" for host in switch.hosts]
        for child in switch.switches.values():
            links.append(f"{len(order) + at}-{len(order) + len(switches)}")
            switches.append(child)
    text = f"graph:{len(order)}+{len(switches)}:{','.join(links)}"
    return Described(text, tuple(order))
