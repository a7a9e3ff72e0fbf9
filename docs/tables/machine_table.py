# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page of described machines: what each is, its figures, its source.

Usage: ``python docs/tables/machine_table.py > docs/reference/machines.md``. A test
holds the page to what this prints.
"""

from __future__ import annotations

from typing import Any

from topoloom._core import MachineText
from topoloom.machines.machine_facts import machine_facts
from topoloom.machines.machine_file import load_machine
from topoloom.machines.machine_names import zoo
from topoloom.machines.node_toml import write_node
from topoloom.machines.topology_keys import write_topology
from topoloom.nodes.node_parts import NO_PARTS
from topoloom.support.units import format_bandwidth

HEAD = """# Machines

Pass any of these names to `--machine`. Each is a file in `machines/` with comments on
what is inferred. Links are directed, distances are hops between different nodes, and
the bisection counts both directions; it is a range if no halving is proven the worst.
On rails (`dgx-*-pod`, `*nvl72-row`) the average distance weighs links by their slowdown
against NVLink. `python docs/tables/machine_table.py` writes this page.

| name | what | nodes | links | diameter | average distance | bisection |
| --- | --- | ---: | ---: | ---: | ---: | ---: |"""
NODES = """
## NICs and memory of a node

NIC bandwidth in each direction (where every node has a router: the total rate of the
node), startup and further latency of a message, and copy rate and startup of messages
inside the node. Many values are derived or assumed: see the comments in the files.

| name | NICs | startup | latency | memory | startup inside |
| --- | --- | ---: | ---: | ---: | ---: |"""
SOURCES = """
## Sources

| name | date | source |
| --- | --- | --- |"""


def main() -> None:
    """Print the page as Markdown."""
    entries = zoo()
    print(HEAD)
    for entry in entries:
        print(row(entry.name, entry.summary))
    print(NODES)
    for entry in entries:
        print(node_row(entry.name))
    print(SOURCES)
    for entry in entries:
        print(f"| `{entry.name}` | {entry.date} | {entry.source} |")


def row(name: str, summary: str) -> str:
    """Write the line of one machine."""
    facts = machine_facts(load_machine(name))
    cells = [
        f"`{name}`",
        summary,
        f"{facts['nodes']:,}",
        f"{facts['links']:,}",
        str(facts["diameter"]),
        f"{facts['average_distance']:.4f}",
        _bisection(facts),
    ]
    return f"| {' | '.join(cells)} |"


def node_row(name: str) -> str:
    """Write the line of what one machine's nodes send and copy."""
    machine = load_machine(name)
    node = write_node(machine, NO_PARTS)
    topology = write_topology(MachineText(machine.text))
    keys = ("startup", "latency", "memory", "memory_startup")
    cells = [f"`{name}`", cards(topology, node), *(node.get(key, "") for key in keys)]
    return f"| {' | '.join(cells)} |"


def cards(topology: dict[str, Any], node: dict[str, Any]) -> str:
    """Say how many network cards each node has, and what each carries."""
    kind, given = topology["kind"], topology["bandwidth"]
    if kind == "rails":
        return f"{given['default']}, NVLink {given['nvlink']}"
    if kind in ("tree", "fattree"):
        cables = topology.get("up", [1])[0] * topology.get("parallel", [1])[0]
        return f"{cables} x {given[0] if isinstance(given, list) else given}"
    grid = kind in ("torus", "mesh") and topology.get("nodes", 1) > 1
    if grid or kind in ("dragonfly", "dragonflyplus"):
        each = given
        if isinstance(given, dict):
            each = given["host"] if "host" in given else given["default"]
        return f"{topology.get('cards', 1)} x {each}"
    return f"{node['bandwidth']} in all"


def _bisection(facts: dict[str, object]) -> str:
    bisection = facts["bisection"]
    assert isinstance(bisection, dict)
    least, most = bisection["at_least"], bisection["at_most"]
    if bisection["unit"] == "links":
        texts = [f"{value:,.0f} links" for value in (least, most)]
    else:
        texts = [format_bandwidth(value) for value in (least, most)]
    return texts[1] if bisection["exact"] else " to ".join(texts)


if __name__ == "__main__":
    main()
