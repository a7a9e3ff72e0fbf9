# SPDX-License-Identifier: BSD-3-Clause
"""What `topoloom machine` shows of the inside of a node: costs, CPUs, devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.nodes.node_parts import Device, NodeParts

#: What messages of a node take, by the names that TOML has for it.
_SPEEDS = {
    "port": {
        "bandwidth": "{} each way",
        "startup": "{} to start a message",
        "latency": "{} more to arrive",
    },
    "inside a node": {
        "memory": "messages read {}",
        "memory_startup": "{} to start one",
    },
}


def node_facts(machine: Machine, node: NodeParts) -> dict[str, Any]:
    """Collect what is known, for JSON, in the words of TOML."""
    from topoloom.machines.node_toml import level_costs, write_port
    from topoloom.nodes.node_parts_table import write_parts

    costs = {"costs": level_costs(machine, node.names)} if node.names else {}
    remarks = {"remarks": machine.remarks} if machine.remarks else {}
    return {**costs, **write_port(machine), **write_parts(node), **remarks}


def node_rows(machine: Machine, node: NodeParts) -> list[tuple[str, str]]:
    """Write the costs of levels, the port, and one line per device."""
    from topoloom.machines.node_toml import level_costs, write_port
    from topoloom.support.units import format_bytes

    rows = []
    if node.names:
        named = level_costs(machine, node.names).items()
        rows.append(("costs", ", ".join(f"{name} {cost}" for name, cost in named)))
    port = write_port(machine)
    if costs := port.get("port"):
        run = machine.slots_per_node // len(costs)
        ways = (f"{cost} for {_run(i, run)}" for i, cost in enumerate(costs))
        rows.append(("port costs", ", ".join(ways)))
    for title, speeds in _SPEEDS.items():
        said = [words.format(port[key]) for key, words in speeds.items() if key in port]
        if said:
            rows.append((title, ", ".join(said)))
    if node.memory_size:
        rows.append(("memory per node", format_bytes(node.memory_size)))
    rows += [(f"{part.kind} {part.name}", _where(part)) for part in node.devices]
    rows += [("remark", remark) for remark in machine.remarks]
    return rows


def _run(number: int, slots: int) -> str:
    first, last = number * slots, (number + 1) * slots - 1
    return f"slot {first}" if first == last else f"slots {first}-{last}"


def _where(device: Device) -> str:
    from topoloom.support.number_ranges import compress_ranges

    words = [f"slots {compress_ranges(device.slots)}"]
    if device.numa is not None:
        words.append(f"NUMA domain {device.numa}")
    if device.pci:
        words.append(f"PCI {device.pci}")
    return "; ".join(words)
