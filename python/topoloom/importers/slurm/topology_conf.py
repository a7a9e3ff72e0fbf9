# SPDX-License-Identifier: BSD-3-Clause
"""Reads Slurm's ``topology.conf``, and the output of ``scontrol show topology``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import (
    HostLists,
    Switch,
    describe_switches,
    find_network,
    select_part,
)

_KEYS = {
    "switchname": "SwitchName",
    "nodes": "Nodes",
    "switches": "Switches",
    "linkspeed": "LinkSpeed",
    "level": "Level",
    "blockname": "BlockName",
    "blocksizes": "BlockSizes",
    "blockindex": "BlockIndex",
    "blocksize": "BlockSize",
    "aggregatedblock": "AggregatedBlock",
    "ringname": "RingName",
}
#: Keys that determine the kind of a line.
_KINDS = ("switchname", "blockname", "ringname", "blocksizes", "aggregatedblock")
_PAIR = re.compile(r'([A-Za-z]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?:\s+|$)')
_SHOWS = re.compile(
    r"^[ \t]*(switchname|blockname|ringname|aggregatedblock|blocksizes)[ \t]*=",
    re.IGNORECASE | re.MULTILINE,
)


class ConfLine(NamedTuple):
    """A line: number, kind (`switchname`, ...), and values by lower-case key."""

    line: int
    kind: str
    values: dict[str, str]


def recognizes_slurm_conf(text: str) -> bool:
    """Return whether a line defines a switch, block or ring in Slurm's syntax."""
    return _SHOWS.search(text) is not None


def read_slurm_conf(text: str, part: str = "") -> MachineDescription:
    """Read ``topology.conf`` (tree, block or ring) or ``scontrol show topology``.

    `part` is the name of a switch, block or ring to read alone.

    `describe_switches` explains trees. Blocks become leaf switches under one root;
    block sizes, which only group blocks for scheduling, are ignored. A ring becomes
    ``torus:n`` in list order. ``LinkSpeed`` is ignored, as in Slurm.
    """
    entries = _read_single_kind(text)
    kind = entries[0].kind
    if kind == "switchname":
        switches = _read_switches(entries)
        kept, remarks = select_part(switches, part)
        described = describe_switches(kept)
        _check_upper_switches(entries, switches)
        return replace(described, remarks=remarks)
    groups, remarks = select_part(_read_groups(entries), part)
    describe = describe_ring if kind == "ringname" else add_root_switch
    return replace(describe(groups), remarks=remarks)


def read_network_of_hosts(text: str, hosts: Sequence[str]) -> MachineDescription | None:
    """Read only the network that contains these hosts.

    Returns None if the hosts are on several networks, which Slurm never allocates to
    one job.
    """
    entries = _read_single_kind(text)
    kind = entries[0].kind
    groups = _read_switches(entries) if kind == "switchname" else _read_groups(entries)
    if kind == "blockname":
        described = add_root_switch(groups)
        return described if set(hosts) <= set(described.hosts) else None
    network = find_network(groups, hosts)
    if network is None:
        return None
    return describe_ring(network) if kind == "ringname" else describe_switches(network)


def _read_single_kind(text: str) -> list[ConfLine]:
    entries = [e for e in _parse_entries(text) if e.kind not in _KINDS[3:]]
    if not entries:
        raise Error("line 1: no line with SwitchName=, BlockName= or RingName=")
    first = entries[0]
    for entry in entries:
        if entry.kind != first.kind:
            raise Error(
                f"line {entry.line}: {_KEYS[entry.kind]} appears beside "
                f"{_KEYS[first.kind]} (line {first.line}); keep one kind of topology"
            )
    return entries


def _read_groups(entries: list[ConfLine]) -> list[Switch]:
    lists = HostLists()
    return [_read_group(entry, lists) for entry in entries]


def add_root_switch(blocks: list[Switch]) -> MachineDescription:
    """Connect blocks by one switch above them."""
    if len(blocks) < 2:
        return describe_switches(blocks)
    names = dict.fromkeys(block.name for block in blocks)
    free = next(
        name for i in range(len(names) + 1) if (name := f"root{i}") not in names
    )
    return describe_switches([*blocks, Switch(free, 0, (), tuple(names))])


def describe_ring(rings: list[Switch]) -> MachineDescription:
    """Build a one-dimensional torus from a single ring."""
    if len(rings) > 1:
        raise Error(
            f"line {rings[1].line}: ring {rings[1].name} is not joined to ring "
            f"{rings[0].name} (line {rings[0].line}); a machine is one network, so "
            "read one ring with 'topoloom machine import --part NAME'"
        )
    describe_switches(rings)  # raises an error for duplicate nodes
    return MachineDescription(
        f"torus:{len(rings[0].nodes)}", rings[0].nodes, network=""
    )


def join_continued_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments; a line that ends in a backslash is continued."""
    start, held = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].rstrip()
        start = start if held else number
        if line.endswith("\\"):
            held += line[:-1]
            continue
        line, held = held + line, ""
        if line.strip():
            yield start, line.strip()
    if held.strip():
        yield start, held.strip()


def _parse_entries(text: str) -> Iterator[ConfLine]:
    for number, line in join_continued_lines(text):
        values: dict[str, str] = {}
        at = 0
        while at < len(line):
            match = _PAIR.match(line, at)
            if match is None:
                raise Error(
                    f"line {number}: cannot read '{line[at : at + 40]}'; "
                    "write key=value, as SwitchName=s0 Nodes=n[0-5]"
                )
            key = match[1].lower()
            if key not in _KEYS:
                raise Error(
                    f"line {number}: no key '{match[1][:40]}'; "
                    f"there are: {', '.join(_KEYS.values())}"
                )
            if key in values:
                raise Error(f"line {number}: {_KEYS[key]} is given twice; keep one")
            values[key] = match[2] if match[2] is not None else match[3]
            at = match.end()
        kinds = [kind for kind in _KINDS if kind in values]
        if len(kinds) != 1:
            raise Error(
                f"line {number}: a line must have exactly one of "
                f"{', '.join(_KEYS[kind] for kind in _KINDS)}, this one {len(kinds)}"
            )
        yield ConfLine(number, kinds[0], values)


def _read_group(entry: ConfLine, lists: HostLists) -> Switch:
    """Read the name and nodes of a block or ring."""
    name = entry.values[entry.kind]
    if "nodes" not in entry.values:
        raise Error(f"line {entry.line}: {_KEYS[entry.kind]}={name[:64]} has no Nodes")
    return Switch(name, entry.line, lists.expand(entry.line, entry.values["nodes"]))


def _read_switches(entries: list[ConfLine]) -> list[Switch]:
    switches = []
    nodes_of, children_of = HostLists(), HostLists()
    for entry in entries:
        name, values = entry.values["switchname"], entry.values
        nodes: tuple[str, ...] = ()
        children: tuple[str, ...] = ()
        if "switches" in values:
            children = children_of.expand(entry.line, values["switches"])
        elif "nodes" in values:
            nodes = nodes_of.expand(entry.line, values["nodes"])
        switches.append(Switch(name, entry.line, nodes, children))
    for entry in _list_upper_switches(entries):
        if "level" not in entry.values:
            raise Error(
                f"line {entry.line}: switch {entry.values['switchname']} has both "
                "Nodes and Switches; put the nodes under a switch of their own"
            )
    return switches


def _list_upper_switches(entries: list[ConfLine]) -> list[ConfLine]:
    """List upper switches with all nodes below them, as in scontrol's output."""
    return [e for e in entries if "switches" in e.values and "nodes" in e.values]


def _check_upper_switches(entries: list[ConfLine], switches: list[Switch]) -> None:
    """Check that upper switches list the nodes of their leaf switches."""
    repeated = _list_upper_switches(entries)
    if not repeated:
        return
    above = {name: switch.name for switch in switches for name in switch.children}
    under: dict[str, set[str]] = {switch.name: set() for switch in switches}
    for leaf in switches:
        name: str | None = leaf.name if leaf.nodes else None
        while name is not None:
            under[name].update(leaf.nodes)
            name = above.get(name)
    lists = HostLists()
    for entry in repeated:
        name = entry.values["switchname"]
        odd = under[name].symmetric_difference(
            lists.expand(entry.line, entry.values["nodes"])
        )
        if odd:
            raise Error(
                f"line {entry.line}: node {min(odd)} is in the Nodes of switch {name} "
                "or below one of its Switches, but not both; print the topology again"
            )
