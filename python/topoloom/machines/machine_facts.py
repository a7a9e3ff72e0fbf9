# SPDX-License-Identifier: BSD-3-Clause
"""What there is to know of a machine: its size, its distances and its bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoloom._core import Machine, Wiring, bisect_machine
from topoloom.machines.node_toml import level_costs, write_port
from topoloom.machines.node_types_toml import write_insides
from topoloom.machines.separate_parts import separate_parts
from topoloom.nodes.host_slots import HostSlots
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.nodes.node_parts_table import write_parts
from topoloom.support.number_ranges import compress_ranges


def machine_facts(machine: Machine, node: NodeParts = NO_PARTS) -> dict[str, Any]:
    """Collect a machine's facts, as `topoloom machine --json` prints them.

    What is down is not counted: not among ``nodes``, where ``nodes_down`` says how many
    these are, nor ``slots``, ``links`` and ``bandwidths``, the different bandwidths of
    links, the most frequent first, ``relative`` where they are unknown;
    ``bisection`` is what the links between the halves of its nodes carry where these
    are joined worst, both directions together. Where that is not known exactly, it is
    from ``at_least`` to ``at_most``, and ``links`` are those of the worst halving
    found; ``unit`` is ``B/s``, or ``links`` where bandwidths are unknown. Where
    failures cut it apart, ``parts`` are the nodes of each, the largest part first.
    Where nodes differ, ``slots_per_node`` lists how many slots they have.
    """
    shape = [int(extent) for extent in machine.shape]
    summary = machine.summary()
    up = machine.nodes_up
    down = machine.node_count - len(up)
    sizes = sorted({len(kind.slots) for kind in node.types})
    bisection = bisect_machine(machine)
    bandwidths = link_bandwidths(machine)
    on_rails = machine.nodes_per_host > 1
    parts = separate_parts(machine) if machine.has_failures else []
    return {
        "machine": machine.text,
        "nodes": len(up),
        **({"nodes_down": down} if down else {}),
        "slots": HostSlots(machine, node).count(up),
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
    """Name a machine; the slots of a node only where all nodes have as many."""
    return machine.name.partition(";")[0] if node.types else machine.name


def node_facts(
    machine: Machine, node: NodeParts, hosts: Sequence[str] = ()
) -> dict[str, Any]:
    """Collect what is known of the inside of nodes, in the words of TOML."""
    if node.types:
        about = {"remarks": machine.remarks} if machine.remarks else {}
        return {"node_types": write_insides(machine, node, hosts), **about}
    costs = {"costs": level_costs(machine, node.names)} if node.names else {}
    remarks = {"remarks": machine.remarks} if machine.remarks else {}
    return {**costs, **write_port(machine), **write_parts(node), **remarks}


def link_bandwidths(machine: Machine) -> list[dict[str, Any]]:
    """Collect the different bandwidths of links, the most frequent first.

    Where a machine gives none, they are relative to each other.
    """
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
