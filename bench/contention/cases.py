# SPDX-License-Identifier: BSD-3-Clause
"""Cases: a pattern, its ranks, and the nodes of a machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contention.patterns import PATTERNS, PUBLISHED, rounds, shuffled
from topoloom import Allocation, CommGraph, Machine
from topoloom.allocations import fragmented_allocation

RAGGED = "ragged torus"
BANDWIDTH = 10e9  # bytes per second per link
_LINKS = "bandwidth=10GB/s,latency=100ns+node:1,bandwidth=10GB/s,startup=1us"

#: On the ragged torus, a job gets as many nodes as ranks; other machines have at least
#: 128 nodes.
MACHINES = {
    "full torus": f"torus:8x4x4,{_LINKS}",
    RAGGED: f"torus:25x16x24,{_LINKS}",
    "tree": f"tree:4:4:8,{_LINKS}",
    "fat tree": f"fattree:8:16,up=1:4,{_LINKS}",
    "dragonfly": f"dragonfly:9x4,nodes=4,{_LINKS}",
}
ABOUT = {
    "full torus": "8x4x4, all of it",
    RAGGED: "128 nodes in 6 pieces of a 25x16x24 torus, as a Cray XT5 has",
    "tree": "4:4:8, one link up from every node and switch",
    "fat tree": "16 leaf switches of 8 nodes and 4 links up, d-mod-k",
    "dragonfly": "9 groups of 4 routers of 4 nodes, minimal routes",
}

#: Published numbers of ranks: Tables 6.1 and 7.1 on meshes, Figures 7.1 to 7.6.
TABLE_SIZES = (4, 8, 16, 32, 64, 100, 128, 144, 192, 200, 216, 250, 300)
FIGURE_SIZES = (64, 100, 128, 216)

#: Order of rank numbers: along the pattern, or random. The order of the published
#: tables is unknown.
ORDERS = IN_ORDER, SHUFFLED = "in order", "shuffled"

CHOICE_RANKS = 128
CHOICE_PATTERNS = ("3-D halo", "Mesh", "Recursive doubling", "Bruck")


@dataclass(frozen=True)
class Case:
    """One line of a table, before it is measured.

    Attributes
    ----------
    study
        ``"published"``: all messages at once, as in the published figures;
        ``"choice"``: in rounds, if the pattern has any.
    order
        One of `ORDERS`.
    """

    study: str
    machine: str
    pattern: str
    ranks: int
    seed: int
    order: str = IN_ORDER

    def allocation(self) -> Allocation:
        """Return the whole machine, or just enough nodes of the ragged torus."""
        machine = Machine(MACHINES[self.machine])
        if self.machine != RAGGED:
            return Allocation.whole(machine)
        pieces = max(2, min(6, self.ranks // 16))
        return fragmented_allocation(machine, self.ranks, pieces, self.seed)

    def graph(self) -> CommGraph:
        """Make the communication graph."""
        graph = PATTERNS[self.pattern](self.ranks, self.seed)
        return graph if self.order == IN_ORDER else shuffled(graph, self.seed)

    def phases(self) -> list[CommGraph]:
        """Return the phases; an empty list if there is only one."""
        return rounds(self.pattern, self.ranks) if self.study == "choice" else []


def published(
    patterns: Sequence[str], sizes: Sequence[int], seeds: int
) -> Iterator[Case]:
    """Yield the published patterns and sizes, each on several ragged allocations."""
    for pattern in PUBLISHED:
        for ranks in TABLE_SIZES if pattern == "Mesh" else FIGURE_SIZES:
            if pattern not in patterns or ranks not in sizes:
                continue
            for order in ORDERS if pattern == "Mesh" else (IN_ORDER,):
                for seed in range(1, seeds + 1):
                    yield Case("published", RAGGED, pattern, ranks, seed, order)


def choice(patterns: Sequence[str], sizes: Sequence[int]) -> Iterator[Case]:
    """Yield patterns on several kinds of machines, where objectives may disagree."""
    for machine in MACHINES if CHOICE_RANKS in sizes else ():
        for pattern in CHOICE_PATTERNS:
            if pattern in patterns:
                yield Case("choice", machine, pattern, CHOICE_RANKS, 1)
