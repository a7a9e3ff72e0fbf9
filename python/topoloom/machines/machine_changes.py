# SPDX-License-Identifier: BSD-3-Clause
"""Applies changes to named machines: ``frontier+node:8``, ``rack.toml+down:17``."""

from __future__ import annotations

from dataclasses import replace

from topoloom._core import Machine, MachineText, TextSection
from topoloom.importers.machine_description import AllocatedNode, MachineDescription
from topoloom.importers.node_groups import SPEEDS
from topoloom.nodes.node_parts import NodeParts


def apply_changes(described: MachineDescription, changes: str) -> MachineDescription:
    """Apply ``+node`` (new node structure) and ``+down`` (failures) to a machine.

    Bandwidths and latencies of nodes remain unless the new nodes specify them. CPUs and
    devices remain if the number of slots per node remains. Raises `topoloom.Error` if
    the result is not a valid machine.
    """
    old, new = MachineText(described.text), MachineText(changes)
    described = replace(described, name="")
    text = old.network
    if down := [*old.down, *new.down]:
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


def _format_unchanged_speeds(new: TextSection, old: TextSection | None) -> str:
    """Format the speeds of the old node that the new node does not specify."""
    given = dict(new.options)
    return "".join(
        f",{key}={value}"
        for key, value in (old.options if old else [])
        if key in SPEEDS and key not in given
    )
