# SPDX-License-Identifier: BSD-3-Clause
"""Nodes with two groups of processes as SimGrid platforms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Speeds:
    """Speeds of messages inside a group, or between groups."""

    latency_us: float
    one_mbs: float  # bandwidth of a single message
    all_mbs: float  # total bandwidth of concurrent messages


@dataclass(frozen=True)
class TwoGroups:
    """The two groups of a node's processes."""

    processes: int
    second: tuple[int, ...]  # processes outside the first group
    inside: Speeds
    between: Speeds

    def group(self, process: int) -> int:
        """Return the group of a process."""
        return int(process in self.second)


def platform(node: TwoGroups) -> str:
    """Write a platform with one host ``p0``, ``p1``, ... for each process."""
    return "\n".join(_format_lines(node)) + "\n"


def _format_lines(node: TwoGroups) -> Iterator[str]:
    yield "<?xml version='1.0'?>"
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    yield '<platform version="4.1">'
    yield '  <zone id="node" routing="Full">'
    for process in range(node.processes):
        yield f'    <host id="p{process}" speed="1Gf"/>'
    for name, speeds in (
        ("inside0", node.inside),
        ("inside1", node.inside),
        ("between", node.between),
    ):
        yield (
            f'    <link id="{name}" bandwidth="{speeds.one_mbs}MBps" '
            f'latency="{speeds.latency_us}us" sharing_policy="FATPIPE"/>'
        )
        yield (
            f'    <link id="{name}-all" bandwidth="{speeds.all_mbs}MBps" '
            'latency="0us" sharing_policy="SHARED"/>'
        )
    for one, other in combinations(range(node.processes), 2):
        same = node.group(one) == node.group(other)
        name = f"inside{node.group(one)}" if same else "between"
        yield (
            f'    <route src="p{one}" dst="p{other}"><link_ctn id="{name}"/>'
            f'<link_ctn id="{name}-all"/></route>'
        )
    yield "  </zone>"
    yield "</platform>"
