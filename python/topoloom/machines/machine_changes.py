# SPDX-License-Identifier: BSD-3-Clause
"""What stands behind a machine's name: ``frontier+node:8``, ``rack.toml+down:17``."""

from __future__ import annotations

import re
from dataclasses import replace

from topoloom._core import Machine
from topoloom.importers.described import AllocatedNode, Described
from topoloom.nodes.node_parts import NodeParts

_NODE, _DOWN = "+node:", "+down:"
#: Options of a node that stay where the new one says nothing of them.
_SPEEDS = ("bandwidth", "startup", "latency", "memory", "memory-startup")


def split_changes(name: str) -> tuple[str, str]:
    """Split ``frontier+node:8`` into the name and the rest, which may be empty."""
    mark = re.search(r"\+(?:node|down):", name)
    return (name[: mark.start()], name[mark.start() :]) if mark else (name, "")


def changed(described: Described, changes: str) -> Described:
    """Put other nodes into a machine, and let parts of it fail.

    How fast nodes are stays where the new ones do not say it. What is known of nodes by
    the slot, such as CPUs, stays where nodes have as many slots as before.

    Raises
    ------
    topoloom.Error
        If the machine, or the one with the changes, cannot be read.
    """
    outside, _, inside = described.text.partition(_NODE)
    network, _, down = outside.partition(_DOWN)
    more, node, new = changes.partition(_NODE)
    down = ",".join(filter(None, [down, more.removeprefix(_DOWN)]))
    text = network + (_DOWN + down if down else "")
    inside = _with_speeds(new, inside) if node else inside
    text += _NODE + inside if inside or node else ""
    if not node:
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


def _with_speeds(new: str, old: str) -> str:
    """Complete the inside of a node with the speeds of another."""
    given = {option.partition("=")[0] for option in new.split(",")}
    kept = [
        option
        for option in old.split(",")
        if option.partition("=")[0] in _SPEEDS and option.partition("=")[0] not in given
    ]
    return ",".join([new, *kept])
