# SPDX-License-Identifier: BSD-3-Clause
"""Reads ``SLURM_TOPOLOGY_ADDR`` of a job's nodes, one line per node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import Switch, describe_switches
from topoloom.support.plain_text import is_number

#: Task prefix that `srun -l` adds to each line.
_TASK = re.compile(r"^\s*[0-9]+:\s")
_WORD = re.compile(r"[A-Za-z0-9_.\-\[\],]+")
_MAX_LEVELS = 64


@dataclass
class _SwitchBuilder:
    """A switch under construction: path and children."""

    line: int
    path: tuple[str, ...]
    nodes: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)


def recognizes_slurm_address(text: str) -> bool:
    """Return whether every line has the form ``host switch.switch.host``."""
    # The text may be an excerpt whose last line is incomplete.
    lines = [line for line in text.splitlines() if line.strip()]
    lines = lines[: max(1, len(lines) - 1)]
    return bool(lines) and all(map(_is_host_and_address, lines))


def _is_host_and_address(line: str) -> bool:
    words = _TASK.sub("", line).split()
    return len(words) == 2 and _parse_path(*words) is not None


def read_slurm_address(text: str) -> MachineDescription:
    """Read lines ``host s_root.s_mid.s_leaf.host`` of a job under Slurm's tree plugin.

    Lines may begin with the task number (``3: ``, from ``srun -l``); a node may have
    several lines. The machine is the job's part of the cluster; see
    `describe_switches`.
    """
    groups: dict[str, _SwitchBuilder] = {}
    seen: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        words = _TASK.sub("", raw).split()
        if not words:
            continue
        path = _parse_path(*words) if len(words) == 2 else None
        if path is None:
            raise Error(
                f"line {number}: expected a host and its SLURM_TOPOLOGY_ADDR, "
                f"as 'n1 s0.s2.n1', not '{raw.strip()[:60]}'"
            )
        host = words[0]
        line, before = seen.setdefault(host, (number, path))
        if before != path:
            raise Error(
                f"line {number}: node {host} is under {'.'.join(path)}, but line "
                f"{line} says {'.'.join(before)}; collect the lines in one job"
            )
        if line == number:
            _add_path(groups, number, path, host)
    if not seen:
        raise Error("line 1: there is no line 'host switch.switch.host'")
    return describe_switches(
        [
            Switch(name, group.line, tuple(group.nodes), tuple(group.children))
            for name, group in groups.items()
        ]
    )


def _parse_path(host: str, address: str) -> tuple[str, ...] | None:
    """Return the switches from the root to `host`; None if `address` is not its."""
    if not (_WORD.fullmatch(host) and _WORD.fullmatch(address)):
        return None
    # The node name may contain dots: an IP address, or a domain in host or address.
    short = host.partition(".")[0]
    if address.endswith(f".{host}"):
        above = address.removesuffix(f".{host}")
    elif not is_number(short) and address.endswith(f".{short}"):
        above = address.removesuffix(f".{short}")
    else:
        return None
    # Skip empty levels, where the node has no switch.
    return tuple(name for name in above.split(".") if name) or None


def _add_path(
    groups: dict[str, _SwitchBuilder], line: int, path: tuple[str, ...], host: str
) -> None:
    if len(path) > _MAX_LEVELS:
        raise Error(f"line {line}: over {_MAX_LEVELS} switches above node {host}")
    for depth, name in enumerate(path):
        above = path[:depth]
        group = groups.setdefault(name, _SwitchBuilder(line, above))
        if group.path != above:
            raise Error(
                f"line {line}: switch {name} is at {'.'.join(above) or 'the root'}, "
                f"but line {group.line} has it at "
                f"{'.'.join(group.path) or 'the root'}; collect the lines in one job"
            )
        if depth:
            groups[above[-1]].children[name] = None
    groups[path[-1]].nodes[host] = None
