# SPDX-License-Identifier: BSD-3-Clause
"""Summarizes a machine for users: size, distances and bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoloom._core import Machine, Wiring, bisect_machine
from topoloom.machines.node_toml import level_costs, write_nic
from topoloom.machines.node_types_toml import write_node_types
from topoloom.machines.separate_parts import separate_parts
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.nodes.node_parts_table import write_parts
from topoloom.support.number_ranges import compress_ranges


def machine_facts(machine: Machine, node: NodeParts = NO_PARTS) -> dict[str, Any]:
    """Collect the properties that ``topoloom machine show --json`` prints.

    ``nodes``, ``slots``, ``links`` and ``bandwidths`` exclude failed parts.
    ``bandwidths`` are in descending order of frequency, and ``relative`` if unknown.
    ``bisection`` is a range of bandwidths in both directions, from ``at_least`` to
    ``at_most``. Its ``links`` count the links cut by the worst bisection found. Its
    ``unit`` is ``B/s``, or ``links`` if bandwidths are unknown. ``parts`` are the nodes
    of each part that failures disconnect, the largest first. If nodes differ,
    ``slots_per_node`` is a list.
    """
    shape = [int(extent) for extent in machine.shape]
    summary = machine.summary()
    up = machine.nodes_up
    down = machine.node_count - len(up)
    sizes = sorted({len(kind.slots) for kind in node.types})
    bisection = bisect_machine(machine)
    bandwidths = _count_links_by_bandwidth(machine)
    on_rails = machine.nodes_per_host > 1
    parts = separate_parts(machine) if machine.has_failures else []
    return {
        "machine": machine.text,
        "nodes": len(up),
        **({"nodes_down": down} if down else {}),
        "slots": HostSlotNumbers(machine, node).count(up),
        "slots_per_node": sizes or machine.slots_per_node,
        **({"nodes_per_host": machine.nodes_per_host} if on_rails else {}),
        "links": sum(each["links"] for each in bandwidths),
        "shape": shape,
        "wraps": [bool(wrap) for wrap in machine.wraps] if shape else [],
        "diameter": summary["diameter"],
        "average_distance": summary["average_distance"],
        "bandwidths": bandwidths,
        "bisection": {
            "links": bisection.link_count,
            "unit": "B/s" if machine.has_bandwidths else "links",
            "at_least": bisection.at_least,
            "at_most": bisection.at_most,
            "exact": bisection.exact,
        },
        **(
            {"parts": [compress_ranges(part) for part in parts]}
            if len(parts) > 1
            else {}
        ),
    }


def machine_name(machine: Machine, node: NodeParts) -> str:
    """Return a machine's name, with the slots per node unless nodes differ."""
    return machine.name.partition(";")[0] if node.types else machine.name


def collect_node_facts(
    machine: Machine, node: NodeParts, hosts: Sequence[str] = ()
) -> dict[str, Any]:
    """Collect the properties of nodes under their keys in TOML."""
    remarks = {"remarks": machine.remarks} if machine.remarks else {}
    if node.types:
        return {"node_types": write_node_types(machine, node, hosts), **remarks}
    costs = {"costs": level_costs(machine, node.names)} if node.names else {}
    return {**costs, **write_nic(machine), **write_parts(node), **remarks}


def _count_links_by_bandwidth(machine: Machine) -> list[dict[str, Any]]:
    """Count links by bandwidth, the most frequent first; relative if unknown."""
    import numpy as np

    values, counts = np.unique(Wiring(machine).bandwidth, return_counts=True)
    found = sorted(
        zip(values.tolist(), counts.tolist(), strict=True),
        key=lambda pair: (-pair[1], pair[0]),
    )
    if machine.has_bandwidths:
        return [{"bytes_per_second": value, "links": count} for value, count in found]
    return [
        {"bytes_per_second": None, "relative": value, "links": count}
        for value, count in found
    ]
