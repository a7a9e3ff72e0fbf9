# SPDX-License-Identifier: BSD-3-Clause
"""Sockets, cores and threads of nodes, as ``scontrol show node`` prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from topoloom.nodes.node_levels import Container, Inside, levels_text, weigh_hops
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.program_output import run_program

_KEYS = {
    key: re.compile(rf"\s{key}=([0-9]{{1,6}})(?=\s)")
    for key in ("CPUTot", "Sockets", "CoresPerSocket", "ThreadsPerCore")
}
#: A command line takes about 128 KiB of a word.
_MAX_LETTERS = 100_000


class NodeShape(NamedTuple):
    """How many sockets a node has, cores on each, and hardware threads of each core.

    Where Slurm is to give cores to jobs, not threads, it counts one CPU per core.
    """

    sockets: int
    cores: int
    threads: int = 1
    cpus_a_core: int = 1

    @property
    def core_count(self) -> int:
        """Cores of the node."""
        return self.sockets * self.cores

    def inside(self) -> Inside:
        """Make cores with one CPU each, which share their socket."""
        socket = (1 << self.cores) - 1
        return Inside(
            [1 << core for core in range(self.core_count)],
            [
                Container("Package", socket << first)
                for first in range(0, self.core_count, self.cores)
            ],
        )


def node_text(shape: NodeShape) -> str:
    """Write the levels of a node of this shape, ``+node:32:2,...``."""
    return weigh_hops(levels_text(shape.inside())) or "+node:1"


def ask_node_shapes(hosts: Iterable[str]) -> dict[str, NodeShape]:
    """Ask for the shapes of these nodes; {} where Slurm does not report them."""
    listed = compress_hostlist(hosts)
    words = [listed] if len(listed) < _MAX_LETTERS else []
    return read_node_shapes(run_program("scontrol", "-o", "show", "node", *words).text)


def read_node_shapes(text: str) -> dict[str, NodeShape]:
    """Read ``scontrol -o show node``, one line per node."""
    shapes = {}
    for line in text.splitlines():
        name = re.match(r"NodeName=(\S+)", line)
        numbers = {key: find.search(line) for key, find in _KEYS.items()}
        found = {key: int(match[1]) for key, match in numbers.items() if match}
        if name and len(found) == len(_KEYS) and all(found.values()):
            shapes[name[1]] = _shape(found)
    return shapes


def _shape(found: Mapping[str, int]) -> NodeShape:
    sockets, cores = found["Sockets"], found["CoresPerSocket"]
    cpus_a_core = max(1, found["CPUTot"] // (sockets * cores))
    if cores == 1:
        # A node of which only CPUs= is configured: Slurm makes each a socket.
        sockets, cores = 1, sockets
    return NodeShape(sockets, cores, found["ThreadsPerCore"], cpus_a_core)
