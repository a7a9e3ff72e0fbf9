# SPDX-License-Identifier: BSD-3-Clause
"""Networks that several simulators know, and what each makes of a load."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Router:
    """Buffers of each virtual channel, and packets, in flits."""

    vcs: int
    buffer: int = 8
    packet: int = 4


@dataclass(frozen=True)
class Case:
    """A machine as we name it, and as the others do.

    `loads` lie below saturation; cycles are those of BookSim's sample periods.
    """

    name: str
    machine: str
    booksim: dict[str, str | int]
    loads: tuple[float, ...]
    router: Router = field(default_factory=lambda: Router(vcs=4))
    cycles: int = 10000


CASES = (
    Case(
        "8x8 torus",
        "torus:8x8,ties=split",
        {"topology": "torus", "k": 8, "n": 2, "routing_function": "classed"},
        (0.1, 0.3, 0.5, 0.6, 0.65, 0.7),
    ),
    Case(
        "8x8x8 torus",
        "torus:8x8x8,ties=split",
        {"topology": "torus", "k": 8, "n": 3, "routing_function": "classed"},
        (0.1, 0.3, 0.5, 0.6),
        cycles=4000,
    ),
    Case(
        "4-ary 3-tree",
        "fattree:4:4:4,routing=random",
        {"topology": "fattree", "k": 4, "n": 3, "routing_function": "nca"},
        (0.1, 0.3, 0.5, 0.6, 0.7),
    ),
    Case(
        "dragonfly, 342 nodes",
        "dragonfly:19x1x6,nodes=3,routing=minimal",
        {"topology": "dragonflynew", "k": 3, "n": 1, "routing_function": "classed"},
        (0.1, 0.3, 0.5, 0.6),
        cycles=5000,
    ),
)


@dataclass(frozen=True)
class Point:
    """What a simulator says of a load: flits per node and cycle, and cycles."""

    offered: float
    accepted: float
    latency: float
    seconds: float
    flit_hops: float = 0.0
