# SPDX-License-Identifier: BSD-3-Clause
"""Reads sockets, cores and threads of nodes from ``scontrol show node``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from topoloom.nodes.core_shape import Container
from topoloom.nodes.node_levels import (
    NodeCores,
    add_hop_weight,
    format_levels,
)
from topoloom.support.child_processes import run_system_command
from topoloom.support.hostlist import compress_hostlist

_KEYS = {
    key: re.compile(rf"\s{key}=([0-9]{{1,6}})(?=\s)")
    for key in ("CPUTot", "Sockets", "CoresPerSocket", "ThreadsPerCore")
}
#: Maximum length of a command-line argument, below Linux's 128 KiB.
_MAX_LETTERS = 100_000


class NodeShape(NamedTuple):
    """Sockets, cores per socket, and hardware threads and Slurm CPUs per core.

    If Slurm is configured to allocate cores instead of threads, each core is one CPU.
    """

    sockets: int
    cores: int
    threads: int = 1
    cpus_per_core: int = 1

    @property
    def core_count(self) -> int:
        """Number of cores of the node."""
        return self.sockets * self.cores

    def inside(self) -> NodeCores:
        """Build cores with one CPU each, grouped by socket."""
        socket = (1 << self.cores) - 1
        return NodeCores(
            [1 << core for core in range(self.core_count)],
            [
                Container("Package", socket << first)
                for first in range(0, self.core_count, self.cores)
            ],
        )


def format_node_shape(shape: NodeShape) -> str:
    """Format the levels of a node of this shape, ``+node:32:2,...``."""
    return add_hop_weight(format_levels(shape.inside()))


def query_node_shapes(hosts: Iterable[str]) -> dict[str, NodeShape]:
    """Read the shapes of these nodes from Slurm; {} if it does not report them."""
    listed = compress_hostlist(hosts)
    words = [listed] if len(listed) < _MAX_LETTERS else []
    return read_node_shapes(
        run_system_command("scontrol", "-o", "show", "node", *words).text
    )


def read_node_shapes(text: str) -> dict[str, NodeShape]:
    """Parse ``scontrol -o show node``, one line per node."""
    shapes = {}
    for line in text.splitlines():
        name = re.match(r"NodeName=(\S+)", line)
        numbers = {key: find.search(line) for key, find in _KEYS.items()}
        found = {key: int(match[1]) for key, match in numbers.items() if match}
        if name and len(found) == len(_KEYS) and all(found.values()):
            shapes[name[1]] = _make_shape(found)
    return shapes


def _make_shape(found: Mapping[str, int]) -> NodeShape:
    sockets, cores = found["Sockets"], found["CoresPerSocket"]
    cpus_per_core = max(1, found["CPUTot"] // (sockets * cores))
    if cores == 1:
        # If only CPUs= is configured, Slurm treats each CPU as a socket.
        sockets, cores = 1, sockets
    return NodeShape(sockets, cores, found["ThreadsPerCore"], cpus_per_core)
