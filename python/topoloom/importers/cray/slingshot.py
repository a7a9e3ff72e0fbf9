# SPDX-License-Identifier: BSD-3-Clause
"""HPE Cray EX (Shasta) systems: reads host locations in Slingshot, one per line.

A line is one of

- ``HOST NIC 0 macaddr 02:00:00:00:08:b3 logaddr 00559 location 001.02.15``, the output
  of ``shasta_addr`` for each NIC: the location begins with group and switch; - ``HOST
  02:00:00:00:08:b3``, the address of a NIC, which Slingshot computes from the NIC's
  port: 9 bits for the group, 5 for the switch, 6 for the port; - ``HOST x1000c0s0b0n0``
  or ``HOST x1000c0s0b0n0 3``: the location of a node, and optionally its group, by
  default the cabinet. ``HOST`` is optional;
- ``HOST 3`` or ``HOST 3 14``: group of the host, or group and switch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import HostPath, describe_host_paths
from topoloom.support.plain_text import is_number

_HOST = r"(?P<host>[A-Za-z][A-Za-z0-9_.\-]*)"
_MAC = r"02(?::[0-9A-Fa-f]{2}){5}"
_XNAME = (
    r"(?P<place>x(?P<cabinet>[0-9]{1,4})c(?P<chassis>[0-7])s[0-9]{1,2}b[0-9]n[0-9])"
)
_DOMAIN = r"(?:\.[A-Za-z0-9.\-]+)?"
_GROUP = r"(?P<group>[0-9]{1,6})"
_SWITCH = r"(?P<switch>[0-9]{1,6})"
_LINES = [
    re.compile(form)
    for form in (
        rf"{_HOST}\s+NIC\s+[0-9]+\s+macaddr\s+{_MAC}\s+logaddr\s+-?[0-9]+\s+"
        rf"location\s+{_GROUP}\.{_SWITCH}\.[0-9]+",
        rf"{_HOST}\s+(?P<mac>{_MAC})",
        rf"(?:{_HOST}\s+)?(?P<xname>{_XNAME}{_DOMAIN})(?:\s+{_GROUP})?",
        rf"{_HOST}\s+{_GROUP}(?:\s+{_SWITCH})?",
    )
]
#: Widths of the fields in a port's address, in bits, lowest field first.
_PORT_BITS, _SWITCH_BITS, _GROUP_BITS = 6, 5, 9


@dataclass
class _HostLocation:
    """A host: its line number, its group, and its switches or chassis."""

    line: int
    group: int
    named: bool
    below: set[str] = field(default_factory=set)


def recognizes_slingshot(text: str) -> bool:
    """Return whether each line contains the location of a host.

    If hosts are followed by numbers only, two lines must have the same group.
    """
    # The text may be an excerpt whose last line is incomplete.
    lines = [line for line in map(_strip_comment, text.splitlines()) if line]
    matches = [_match_line(line) for line in lines[: max(1, len(lines) - 1)]]
    if not matches or None in matches:
        return False
    bare = [m["group"] for m in matches if m and m.re is _LINES[3]]
    # If all numbers differ, this is an allocation file with node ids instead of groups.
    return not bare or len(set(bare)) < len(bare)


def read_slingshot(text: str) -> MachineDescription:
    """Read the locations of hosts of an HPE Cray EX system.

    The machine is a tree: groups, then switches or chassis if specified, then hosts in
    the order of their lines. Hosts on the same set of switches have the same parent.
    The tree approximates the dragonfly: it represents which hosts are close, but not
    the number of links between groups.
    """
    nodes: dict[str, _HostLocation] = {}
    built_in: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = _strip_comment(raw)
        if not line:
            continue
        match = _match_line(line)
        if match is None:
            raise Error(
                f"line {number}: expected a host and its location, such as 'n1 "
                f"02:00:00:00:08:b3' or 'n1 x1000c0s0b0n0', not '{line[:40]}'"
            )
        _add_node(nodes, number, match)
        if place := match.groupdict().get("place"):
            host = match["host"] or match["xname"]
            other = built_in.setdefault(place, host)
            if other != host:
                raise Error(
                    f"line {number}: {host} and {other} (line {nodes[other].line}) are "
                    f"both at {place}; keep one"
                )
    if not nodes:
        raise Error("line 1: no line contains the location of a host")
    first = next(iter(nodes.values()))
    for host, node in nodes.items():
        if node.named != first.named:
            raise Error(
                f"line {node.line}: {host} and the host on line {first.line} must both "
                "have a name before their location, or neither"
            )
        if bool(node.below) != bool(first.below):
            raise Error(
                f"line {node.line}: host {host} and the host on line {first.line} must "
                "both have a switch or chassis, or neither"
            )
    described = describe_host_paths(
        _build_host_path(host, node) for host, node in nodes.items()
    )
    return replace(described, network="slingshot")


def _strip_comment(line: str) -> str:
    return line.partition("#")[0].strip()


def _match_line(line: str) -> re.Match[str] | None:
    matches = (form.fullmatch(line) for form in _LINES)
    return next((match for match in matches if match), None)


def _add_node(
    nodes: dict[str, _HostLocation], number: int, match: re.Match[str]
) -> None:
    parts = match.groupdict()
    below = parts.get("switch")
    group = int(parts.get("group") or parts.get("cabinet") or 0)
    if mac := parts.get("mac"):
        address = int(mac.replace(":", "")[-6:], 16) >> _PORT_BITS
        below = str(address % (1 << _SWITCH_BITS))
        group = (address >> _SWITCH_BITS) % (1 << _GROUP_BITS)
    elif parts.get("chassis"):
        below = f"c{parts['cabinet']}-{parts['chassis']}"
    host = parts["host"] or parts["xname"]
    named = parts["host"] is not None
    node = nodes.setdefault(host, _HostLocation(number, group, named))
    if node.group != group:
        raise Error(
            f"line {number}: host {host} is in group {group}, but line {node.line} "
            f"has it in group {node.group}; collect the lines again"
        )
    several_cards = match.re in _LINES[:2]
    if node.line != number and not several_cards:
        raise Error(
            f"line {number}: host {host} is listed twice, first on line {node.line}; "
            "keep one"
        )
    if below is not None:
        node.below.add(str(int(below)) if is_number(below) else below)


def _build_host_path(host: str, node: _HostLocation) -> HostPath:
    group = f"group {node.group}"
    above: tuple[str, ...] = (group, "all groups")
    if node.below:
        above = (f"{group} switch {' '.join(sorted(node.below))}", *above)
    return HostPath(node.line, host, above)
