# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics on Blue Gene/L: A. Bhatele, L. V. Kale, PPL 18(4), 2008."""

from __future__ import annotations

from collections.abc import Iterator

from published.table import Ours
from topoloom import Allocation, CommGraph, Machine, Placement, Sharing, judge, place
from topoloom.graphs import molecular_dynamics

SOURCE = "Bhatele 2008"
TABLE = "Table 6 (NAMD ApoA1 hop-bytes, BG/L)"
#: Nodes of the torus; CO: a process each, VN: two.
TORI = {
    256: "8x8x4",
    512: "8x8x8",
    1024: "8x8x16",
    2048: "8x16x16",
    4096: "8x32x16",
    8192: "16x32x16",
}
#: Half the cutoff wide, so that 8,192 processes have computes enough.
CELLS = (12, 12, 8)
NOTE = (
    "ours: a synthetic system, every compute gets a copy of its own, and the cells "
    "lie along the axes of the torus; "
    "naive: bricks where all processes are equally far"
)


def rows() -> Iterator[Ours]:
    """Yield the values of Table 6, and the saving that the text names."""
    graph = molecular_dynamics(CELLS)
    for processes in (512, 1024, 2048, 4096, 8192):
        for mode, nodes in (("CO", processes), ("VN", processes // 2)):
            naive, aware = hop_bytes(graph, nodes, processes // nodes)
            row = str(processes)
            yield Ours(SOURCE, TABLE, row, f"{mode} naive", naive / 1e6, NOTE)
            yield Ours(SOURCE, TABLE, row, f"{mode} topology", aware / 1e6, NOTE)
            if (processes, mode) == (4096, "CO"):
                saved = 100 * (1 - aware / naive)
    row = "NAMD hop-byte reduction 4096 CO"
    yield Ours(SOURCE, "in text: machines and claims", row, "value", saved, NOTE)


def hop_bytes(graph: CommGraph, nodes: int, processes: int) -> tuple[int, int]:
    """Place without and with regard to the torus; processes of each node."""
    torus = Machine(f"torus:{TORI[nodes]}+node:{processes}")
    flat = Machine(f"tree:{torus.slot_count}")
    # A slot holds one compute more than its share, where shares are small.
    imbalance = max(0.5, 1.1 * torus.slot_count / 8192)
    found = []
    for machine in (flat, torus):
        where = Allocation(machine, list(range(machine.node_count)))
        placement = place(
            graph, where, mapper="bricks", sharing=Sharing(imbalance)
        ).placement
        on_torus = Allocation(torus, list(range(nodes)))
        moved = Placement(on_torus, placement.slots, shared=True)
        found.append(judge(graph, on_torus, moved).hop_bytes)
    return found[0], found[1]
