# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics on Blue Gene/L: A. Bhatele, L. V. Kale, PPL 18(4), 2008.

The system has the size of ApoA1; patches have the width that the cutoff requires. A
patch is sent once to each process. Naive is a balancer that considers loads, patches
and proxies, but no distances.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from published.table import Ours
from topoloom import Allocation, CommGraph, Machine, Sharing, judge, place
from topoloom.graphs import molecular_cells, molecular_dynamics

SOURCE = "Bhatele 2008"
TABLE = "Table 6 (NAMD ApoA1 hop-bytes, BG/L)"
#: Nodes of the torus; CO: one process per node, VN: two.
TORI = {
    256: "8x8x4",
    512: "8x8x8",
    1024: "8x8x16",
    2048: "8x16x16",
    4096: "8x32x16",
    8192: "16x32x16",
}
#: Cells at least 15 angstrom wide: the cutoff of 12 angstrom and a margin.
CELLS = molecular_cells(15)
NAIVE = "bricks(computes=anywhere)"
#: The rule of the paper, from the naive placement; it ignores proxies.
AWARE = "bricks(choose=source)"
OF_NAIVE = (
    "ours: a synthetic system; cells, loads and what a process may hold are not printed"
)
OF_MANY = "ours has fewer computes than processes, and leaves the others idle"
OF_AWARE = (
    "ours: the rule of the text, from the naive placement; cells, earlier places, "
    "what a process may hold and the order of a shell are not printed"
)


def compute_values() -> Iterator[Ours]:
    """Yield the values of Table 6, and the saving in the text."""
    graph = molecular_dynamics(CELLS)
    for processes in (512, 1024, 2048, 4096, 8192):
        for mode, nodes in (("CO", processes), ("VN", processes // 2)):
            naive, aware = balance_and_count_hop_bytes(graph, nodes, processes // nodes)
            row = str(processes)
            note = OF_NAIVE if processes < 8192 else OF_MANY
            yield Ours(SOURCE, TABLE, row, f"{mode} naive", naive / 1e6, note, 0.25)
            yield Ours(
                SOURCE, TABLE, row, f"{mode} topology", aware / 1e6, OF_AWARE, 0.25
            )
            if (processes, mode) == (4096, "CO"):
                saved = 100 * (1 - aware / naive)
    row = "NAMD hop-byte reduction 4096 CO"
    yield Ours(SOURCE, "in text: machines and claims", row, "value", saved, OF_AWARE)


def balance_and_count_hop_bytes(
    graph: CommGraph, nodes: int, processes: int
) -> tuple[int, int]:
    """Return hop-bytes of the naive and the aware balancer on a torus.

    `processes` is the number of processes per node. The aware balancer starts from the
    placement of the naive one.
    """
    torus = Machine(f"torus:{TORI[nodes]}+node:{processes}")
    where = Allocation(torus, list(range(nodes)))
    sharing = Sharing(compute_imbalance_limit(graph, torus.slot_count))
    naive = place(graph, where, NAIVE, sharing=sharing).placement
    aware = place(graph, where, AWARE, sharing=sharing, previous=naive.slots).placement
    return (
        judge(graph, where, naive).hop_bytes,
        judge(graph, where, aware).hop_bytes,
    )


def compute_imbalance_limit(graph: CommGraph, slots: int) -> float:
    """Return 0.5, or the heaviest compute's excess over the mean load, if larger."""
    load = np.asarray(graph.load)
    return max(0.5, float(1.1 * load.max() / (load.sum() / slots)) - 1)
