# SPDX-License-Identifier: BSD-3-Clause
"""Applies changes to named machines: ``frontier+node:8``, ``rack.toml+down:17``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from topoloom._core import Error, Machine, MachineText, TextSection
from topoloom.importers.machine_description import AllocatedNode, MachineDescription
from topoloom.importers.node_groups import SPEEDS
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.name_lookup import suggest

#: A failed node, vertex or link by its numbers: ``17``, ``v40``, ``0-1``, ``5>6``.
_NUMBERED = re.compile(r"v?[0-9]+(?:[->]v?[0-9]+)?")


def apply_changes(described: MachineDescription, changes: str) -> MachineDescription:
    """Apply ``+node`` (new node structure) and ``+down`` (failures) to a machine.

    Failed nodes are numbers or host names. Bandwidths and latencies of nodes remain
    unless the new nodes specify them. CPUs and devices remain if the number of slots
    per node remains. Raises `topoloom.Error` if the result is not a valid machine.
    """
    old, new = MachineText(described.text), MachineText(changes)
    described = replace(described, name="")
    text = old.network
    failed = _list_failures(old.network, described.hosts, new.down)
    if down := [*old.down, *failed]:
        text += f"+down:{','.join(down)}"
    if new.node:
        text += f"+{new.node.text}{_format_unchanged_speeds(new.node, old.node)}"
    elif old.node:
        text += f"+{old.node.text}"
    if not new.node:
        return replace(described, text=text)
    before, after = Machine(described.text), Machine(text)
    has_types = bool(described.node.types)
    if before.slots_per_node == after.slots_per_node and not has_types:
        return replace(described, text=text, node=replace(described.node, names=()))
    return replace(
        described,
        text=text,
        allocated=tuple(AllocatedNode(host) for host, _ in described.allocated),
        node=NodeParts(memory_size=described.node.memory_size),
    )


def _list_failures(
    network: str, hosts: Sequence[str], down: Sequence[str]
) -> Iterator[str]:
    """Yield failed parts, with host names replaced by the numbers of their nodes."""
    if not hosts or all(_NUMBERED.fullmatch(item) for item in down):
        yield from down
        return
    number = {host: first for first, host in enumerate(hosts)}
    per_host = Machine(network).nodes_per_host
    for item in down:
        if _NUMBERED.fullmatch(item):
            yield item
            continue
        for host in expand_hostlist(item):
            if host not in number:
                raise Error(
                    f"+down: the machine has no host {host}{suggest(host, number)}; "
                    "name nodes (17 or a host), switches (v40) or links (0-1)"
                )
            first = number[host] * per_host
            yield from map(str, range(first, first + per_host))


def _format_unchanged_speeds(new: TextSection, old: TextSection | None) -> str:
    """Format the speeds of the old node that the new node does not specify."""
    given = dict(new.options)
    return "".join(
        f",{key}={value}"
        for key, value in (old.options if old else [])
        if key in SPEEDS and key not in given
    )
