# SPDX-License-Identifier: BSD-3-Clause
"""Bhatele and Kale 2008: hops of stencils of many objects on meshes and tori.

Hops are counted as in the source: every directed message of one iteration, between
nodes. Times of the tables are omitted, because they depend on processors and a runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import topoloom
from published.table import Ours

SOURCE = "Bhatele 2008"
XT3 = "Table 4 (3-D stencil XT3, 512^3)"
PLANE = "Table 5 (2-D stencil BG/L CO, 2^30 elements)"
CLAIMS = "in text: machines and claims"
#: Nodes of two processors each, in the reserved mesh of 8x8x16.
XT3_NODES = {"256": "4x4x8", "512": "4x8x8", "1024": "8x8x8", "2048": "8x8x16"}
#: Tori by number of processors, one per node; the plane's short axis is on axis x.
BGL_NODES = {
    "512": "8x8x8",
    "1024": "8x8x16",
    "2048": "8x16x16",
    "4096": "8x32x16",
    "8192": "16x32x16",
    "16384": "32x32x16",
}
ELEMENTS = (8192, 131072)
#: Milliseconds per iteration on 1,024 processors, from Table 1.
TIMES = {"random": 2705.6, "round-robin": 964.8, "fold": 821.9}
UNKNOWN_ORDER = "the order of ranks in that reservation is unknown; ours is x first"
#: Imbalance without limit, because the hash may assign any number to a slot.
ANY = 99.0


@dataclass(frozen=True)
class Stencil:
    """Periodic star stencil of objects on a machine."""

    machine: str
    grid: tuple[int, ...]

    def hops(self, mapper: str) -> int:
        """Return the total hops of all messages between nodes."""
        slots = allocate_along_x(topoloom.load_machine(self.machine))
        objects = topoloom.graphs.stencil(
            list(self.grid), points=2 * len(self.grid) + 1
        )
        placement = topoloom.place(
            objects, slots, mapper, sharing=topoloom.Sharing(imbalance=ANY)
        ).placement
        return topoloom.judge(objects, slots, placement).hop_bytes


def allocate_along_x(machine: topoloom.Machine) -> topoloom.Allocation:
    """Return all nodes in the runtime's order: neighbors along x are consecutive."""
    nodes = sorted(
        range(machine.node_count), key=lambda node: machine.coordinates(node)[::-1]
    )
    return topoloom.Allocation(machine, nodes)


def compute_table_4() -> Iterator[Ours]:
    """Yield Table 4: 512^3 elements on meshes."""
    for processors, nodes in XT3_NODES.items():
        for side in (16, 32):
            chares = 512 // side
            stencil = Stencil(f"mesh:{nodes}+node:2", (chares,) * 3)
            for column, mapper, note in (
                ("TO", "fold", ""),
                ("RR", "round-robin", UNKNOWN_ORDER),
            ):
                name = f"{side}^3 hops {column}"
                yield Ours(SOURCE, XT3, processors, name, stencil.hops(mapper), note)


def compute_table_5() -> Iterator[Ours]:
    """Yield Table 5: 8192 x 131072 elements on tori."""
    for processors, nodes in BGL_NODES.items():
        for side in (128, 256):
            short, long = (extent // side for extent in ELEMENTS)
            stencil = Stencil(f"torus:{nodes}", (short, long))
            hops = stencil.hops(f"fold(grid={short}x{long},onto=x+zy,reflect=no)")
            yield Ours(SOURCE, PLANE, processors, f"{side}^2 hops TO", hops)
            # With one object per processor, the runtime does not hash.
            flat = side == 128 or int(processors) == short * long
            dealt = "round-robin" if flat else f"hashed(grid={short}x{long})"
            hops = stencil.hops(dealt)
            yield Ours(SOURCE, PLANE, processors, f"{side}^2 hops RR", hops)


def compute_figure_2() -> Iterator[Ours]:
    """Yield hop-bytes per link and second (Figure 2), with one object per processor."""
    cube = Stencil("torus:8x8x16", (8, 8, 16))
    rates = {mapper: cube.hops(mapper) / time for mapper, time in TIMES.items()}
    for mapper in ("random", "round-robin"):
        yield Ours(
            SOURCE,
            CLAIMS,
            f"hop-bytes vs {mapper} at 1024",
            "value",
            100 * (1 - rates["fold"] / rates[mapper]),
            "the text rounds what a figure shows; ours has the times of Table 1",
            within=0.03,
        )


def compute_values() -> Iterator[Ours]:
    """Compute all values of the paper."""
    yield from compute_table_4()
    yield from compute_table_5()
    yield from compute_figure_2()
