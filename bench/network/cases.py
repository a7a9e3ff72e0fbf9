# SPDX-License-Identifier: BSD-3-Clause
"""Networks that several simulators support, and results per load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import run


@dataclass(frozen=True)
class Router:
    """Virtual channels, and buffer and packet sizes in flits."""

    vcs: int
    buffer: int = 8
    packet: int = 4


@dataclass(frozen=True)
class Case:
    """A machine in the notation of each simulator.

    `caminos` is topology and routing; `loads` are below saturation; `cycles` is the
    other simulators' measurement period.
    """

    name: str
    machine: str
    booksim: dict[str, str | int]
    caminos: tuple[str, str]
    loads: tuple[float, ...]
    nodes: int
    router: Router = field(default_factory=lambda: Router(vcs=4))
    cycles: int = 5000


CASES = (
    Case(
        "8x8 torus",
        "torus:8x8,ties=split",
        {"topology": "torus", "k": 8, "n": 2, "routing_function": "classed"},
        ("Torus { sides: [8,8], servers_per_router: 1 }", "DOR { order: [0,1] }"),
        (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55),
        64,
    ),
    Case(
        "8x8x8 torus",
        "torus:8x8x8,ties=split",
        {"topology": "torus", "k": 8, "n": 3, "routing_function": "classed"},
        ("Torus { sides: [8,8,8], servers_per_router: 1 }", "DOR { order: [0,1,2] }"),
        (0.02, 0.1, 0.3, 0.5),
        512,
        cycles=1000,
    ),
    Case(
        "4-ary 3-tree",
        "fattree:4:4:4,routing=random",
        {"topology": "fattree", "k": 4, "n": 3, "routing_function": "nca"},
        (
            "XGFT { height: 2, down: [4,4], up: [4,4], servers_per_leaf: 4 }",
            "UpDown",
        ),
        (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
        64,
    ),
    Case(
        "dragonfly, 342 nodes",
        "dragonfly:19x1x6,nodes=3,routing=minimal",
        {"topology": "dragonflynew", "k": 3, "n": 1, "routing_function": "classed"},
        (
            "Dragonfly { global_ports_per_router: 3, servers_per_router: 3 }",
            "Shortest",
        ),
        (0.02, 0.1, 0.3, 0.5),
        342,
        cycles=2000,
    ),
)


@dataclass(frozen=True)
class Point:
    """Result of a simulator for a load: flits per node and cycle, latency in cycles.

    `routers` is the mean number of routers on a path, `cycles` the number of simulated
    cycles, `seconds` the CPU time.
    """

    offered: float
    accepted: float
    latency: float
    routers: float
    cycles: float
    seconds: float

    def flit_hops(self, nodes: int) -> float:
        """Return the simulated flit-hops per CPU second."""
        return self.accepted * nodes * self.cycles * self.routers / self.seconds


def run_timed(command: Sequence[str]) -> tuple[str, float]:
    """Run a program; return its output and CPU seconds."""
    before = getrusage(RUSAGE_CHILDREN)
    ended = run(command, capture_output=True, text=True, check=False)
    after = getrusage(RUSAGE_CHILDREN)
    return ended.stdout, after.ru_utime - before.ru_utime
