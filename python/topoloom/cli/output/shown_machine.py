# SPDX-License-Identifier: BSD-3-Clause
"""Prints a machine: facts, an outline, and the results of a probe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topoloom._core import Machine
    from topoloom.nodes.node_parts import Device, NodeParts, NodeType
    from topoloom.tasks.machines.shown_machine import ShownMachine

#: Labels of a node's message costs, by TOML key.
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


def print_machine(
    shown: ShownMachine, as_json: bool, output: Path | None = None
) -> None:
    """Print a machine and the path of its written description, as text or JSON."""
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.output.probed import print_probed
    from topoloom.machines.outline import outline
    from topoloom.machines.separate_parts import describe_parts, separate_parts
    from topoloom.tasks.machines.probe import read_probe_results

    if as_json:
        written = {} if output is None else {"output": str(output)}
        print_json({**shown.document(), **written})
        return
    machine, node, hosts = shown.machine, shown.described.node, shown.described.hosts
    facts = shown.facts()
    if facts.pop("parts", None):
        facts["cut_apart"] = describe_parts(machine, separate_parts(machine))
    rows = [
        *_list_rows(facts, machine.has_bandwidths),
        *_list_node_rows(machine, node, hosts),
    ]
    print_facts(rows, shown.title(), [output])
    print("\n".join(["", *outline(machine, node, hosts)]))
    if probed := read_probe_results(shown.source):
        print_probed(probed)


def _list_rows(facts: dict[str, Any], has_bandwidths: bool) -> list[tuple[str, str]]:
    texts = {**facts, "bandwidths": "", "bisection": ""}
    if isinstance(facts["slots_per_node"], list):
        texts["slots_per_node"] = " or ".join(map(str, facts["slots_per_node"]))
    texts["nodes"] = f"{facts['nodes']:,}"
    if vacant := texts.pop("vacant", 0):
        texts["nodes"] = f"{facts['nodes']:,}, {vacant:,} of them vacant"
        usable = texts.pop("usable_slots")
        texts["slots"] = f"{facts['slots']:,}, {usable:,} of them for jobs"
    if down := texts.pop("nodes_down", 0):
        texts["nodes"] = f"{texts['nodes']}, {down:,} down"
    if has_bandwidths or len(facts["bandwidths"]) > 1:
        texts["bandwidths"] = _format_bandwidths(facts["bandwidths"], has_bandwidths)
    if facts["bisection"]["links"]:
        texts["bisection"] = _format_bisection(facts["bisection"], has_bandwidths)
    if facts["machine"].startswith("rails:"):
        distance = _format_cell(facts["average_distance"])
        texts["average_distance"] = f"{distance}, links weighed by their bandwidth"
    unshortened = {"cut_apart"}
    return [
        (name.replace("_", " "), value if name in unshortened else _format_cell(value))
        for name, value in texts.items()
        if value not in (None, [], "")
    ]


def _format_bandwidths(bandwidths: list[dict[str, Any]], have_units: bool) -> str:
    from topoloom.support.units import counted, format_bandwidth

    most = 4
    texts = []
    for each in bandwidths[:most]:
        if have_units:
            told = format_bandwidth(each["bytes_per_second"])
        else:
            told = f"{each['relative']:g} (relative)"
        texts.append(f"{counted(int(each['links']), 'link')} of {told}")
    if len(bandwidths) > most:
        rest = int(sum(each["links"] for each in bandwidths[most:]))
        texts.append(f"{counted(rest, 'link')} more")
    return ", ".join(texts)


def _format_bisection(bisection: dict[str, Any], in_bytes: bool) -> str:
    """Format the smallest known bisection; add a lower bound if it may be smaller."""
    from topoloom.support.units import counted, format_bandwidth

    least, links = bisection["at_least"], counted(int(bisection["links"]), "link")
    if in_bytes:
        found = f"{format_bandwidth(bisection['at_most'])} over {links}"
        proven = format_bandwidth(least)
    else:
        found, proven = links, f"{math.ceil(least - 1e-6):,}"
    if bisection["exact"]:
        return found
    return f"at most {found}" + (f", at least {proven}" if least else "")


def _format_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        sign = ", " if value and isinstance(value[0], bool) else " x "
        return sign.join(_format_cell(item) for item in value)
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _list_node_rows(
    machine: Machine, node: NodeParts, hosts: Sequence[str]
) -> list[tuple[str, str]]:
    """Return table rows: level costs, the port, and one row per device or node type."""
    from topoloom.machines.node_toml import level_costs, write_nic
    from topoloom.machines.outline import format_type_nodes
    from topoloom.nodes.node_parts import ETHERNET, NIC
    from topoloom.support.units import format_bytes

    rows = []
    if node.names:
        named = level_costs(machine, node.names).items()
        rows.append(("costs", ", ".join(f"{name} {cost}" for name, cost in named)))
    port = write_nic(machine)
    if (costs := port.get("port")) and not node.types:
        run = machine.slots_per_node // len(costs)
        ways = (
            f"{cost} for {_format_slot_range(i, run)}" for i, cost in enumerate(costs)
        )
        rows.append(("port costs", ", ".join(ways)))
    for title, speeds in _SPEEDS.items():
        texts = [text.format(port[key]) for key, text in speeds.items() if key in port]
        if texts:
            rows.append((title, ", ".join(texts)))
    if node.memory_size:
        rows.append(("memory per node", format_bytes(node.memory_size)))
    rows += [
        (f"{part.kind} {part.name}", _format_location(part)) for part in node.devices
    ]
    if any(part.kind == ETHERNET for part in node.devices):
        used = [part.name for part in node.devices if part.kind == NIC]
        rows.append(("MPI uses", f"{', '.join(used)}, not the Ethernet cards"))
    rows += [
        (format_type_nodes(kind, hosts), _format_type(kind)) for kind in node.types
    ]
    rows += [("remark", remark) for remark in machine.remarks]
    return rows


def _format_type(kind: NodeType) -> str:
    from topoloom.machines.outline import format_type_slots
    from topoloom.support.units import format_bytes

    parts = kind.parts
    words = [format_type_slots(kind)]
    if parts.names:
        words.append(f"sharing {', '.join(reversed(parts.names))}")
    if parts.memory_size:
        words.append(format_bytes(parts.memory_size))
    words += [part.name for part in parts.devices]
    return "; ".join(words)


def _format_slot_range(number: int, slots: int) -> str:
    first, last = number * slots, (number + 1) * slots - 1
    return f"slot {first}" if first == last else f"slots {first}-{last}"


def _format_location(device: Device) -> str:
    from topoloom.support.number_ranges import compress_ranges

    words = [f"slots {compress_ranges(device.slots)}"]
    if device.numa is not None:
        words.append(f"NUMA domain {device.numa}")
    if device.pci:
        words.append(f"PCI {device.pci}")
    return "; ".join(words)
