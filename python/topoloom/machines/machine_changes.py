# SPDX-License-Identifier: BSD-3-Clause
"""What follows a machine's name: ``frontier+node:8``, ``rack.toml+down:17``."""

from __future__ import annotations

from dataclasses import replace

from topoloom._core import Machine, MachineText, TextSection
from topoloom.importers.machine_description import AllocatedNode, MachineDescription
from topoloom.nodes.node_parts import NodeParts

#: Options of a node that stay where the new one says nothing of them.
_SPEEDS = ("bandwidth", "startup", "latency", "memory", "memory-startup")


def split_changes(name: str) -> tuple[str, str]:
    """Split ``frontier+node:8`` into the name and the rest, which may be empty."""
    base = MachineText(name).network
    return base, name[len(base) :]


def changed(described: MachineDescription, changes: str) -> MachineDescription:
    """Put other nodes into a machine, and let parts of it fail.

    How fast nodes are stays where the new ones do not say it. What is known of nodes by
    the slot, such as CPUs, stays where nodes have as many slots as before.

    Raises
    ------
    topoloom.Error
        If the machine, or the one with the changes, cannot be read.
    """
    old, new = MachineText(described.text), MachineText(changes)
    text = old.network
    if down := [*old.down, *new.down]:
        text += f"+down:{','.join(down)}"
    if new.node:
        text += f"+{new.node.text}{_missing_speeds(new.node, old.node)}"
    elif old.node:
        text += f"+{old.node.text}"
    if not new.node:
        return replace(described, text=text)
    before, after = Machine(described.text), Machine(text)
    if before.slots_per_node == after.slots_per_node:
        return replace(described, text=text, node=replace(described.node, names=()))
    return replace(
        described,
        text=text,
        allocated=tuple(AllocatedNode(host) for host, _ in described.allocated),
        node=NodeParts(memory_size=described.node.memory_size),
    )


def _missing_speeds(new: TextSection, old: TextSection | None) -> str:
    """Write the speeds of a node that another does not have."""
    given = dict(new.options)
    return "".join(
        f",{key}={value}"
        for key, value in (old.options if old else [])
        if key in _SPEEDS and key not in given
    )
