# SPDX-License-Identifier: BSD-3-Clause
"""Bhatele and Kale 2008: hops of stencils of many objects on meshes and tori.

Hops are counted as theirs: every directed message of one iteration, between nodes.
The times of their tables depend on processors and a runtime that no count of hops
knows, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import topoloom
from published.table import Ours

SOURCE = "Bhatele 2008"
XT3 = "Table 4 (3-D stencil XT3, 512^3)"
PLANE = "Table 5 (2-D stencil BG/L CO, 2^30 elements)"
CLAIMS = "in text: machines and claims"
#: Nodes of two processors each, in the reserved mesh of 8x8x16.
XT3_NODES = {"256": "4x4x8", "512": "4x8x8"}
#: Tori by processors, one per node; the plane's short axis lies on the first.
BGL_NODES = {"512": "8x8x8", "2048": "8x16x16"}
ELEMENTS = (8192, 131072)
UNKNOWN_ORDER = "the order of ranks in that reservation is unknown; ours is row-major"
#: Slots that a hash gives more than their share keep it.
ANY = 99.0


@dataclass(frozen=True)
class Stencil:
    """Periodic star stencil of objects on a machine: hops by mapper."""

    machine: str
    grid: tuple[int, ...]

    def hops(self, mapper: str) -> int:
        """Sum over all messages of the hops between the nodes of their ends."""
        machine = topoloom.load_machine(self.machine)
        slots = topoloom.Allocation.whole(machine)
        objects = topoloom.graphs.stencil(
            list(self.grid), points=2 * len(self.grid) + 1
        )
        placement = topoloom.place(
            objects, slots, mapper, sharing=topoloom.Sharing(imbalance=ANY)
        ).placement
        return topoloom.judge(objects, slots, placement).hop_bytes


def space() -> Iterator[Ours]:
    """Table 4: 512^3 elements on meshes."""
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


def plane() -> Iterator[Ours]:
    """Table 5: 8192 x 131072 elements on tori."""
    for processors, nodes in BGL_NODES.items():
        for side in (128, 256):
            short, long = (extent // side for extent in ELEMENTS)
            stencil = Stencil(f"torus:{nodes}", (short, long))
            cut = f"grid={short}x{long};boxes=8x{int(processors) // 8}"
            hops = stencil.hops(f"fold({cut};reflect=no)")
            yield Ours(SOURCE, PLANE, processors, f"{side}^2 hops TO", hops)
            if processors != "512":
                continue
            dealt = "round-robin" if side == 128 else f"hashed(grid={short}x{long})"
            hops = stencil.hops(dealt)
            yield Ours(SOURCE, PLANE, processors, f"{side}^2 hops RR", hops)


def claims() -> Iterator[Ours]:
    """Compute what the text says in numbers."""
    reserved = topoloom.load_machine("mesh:8x8x16").node_count
    chares = topoloom.graphs.stencil([512 // 16] * 3, points=7).rank_count
    yield claim("XT3 reservation", f"8x8x16 = {reserved} nodes")
    yield claim("chares 512^3/16^3", chares)
    yield claim("chares per processor on 8^3", chares / 8**3)
    stencil = Stencil("torus:8x8x8", (64, 1024))
    saved = stencil.hops("round-robin") / stencil.hops("fold(reflect=no)")
    yield claim("hop-count reduction", f"{math.floor(saved)}-{math.ceil(saved)}")
    cube = Stencil("torus:8x8x16", (8, 16, 8))
    least = cube.hops("fold")
    for mapper, name in (("random", "random"), ("block", "round-robin")):
        less = 100 * (1 - least / cube.hops(mapper))
        note = "ours leaves one hop per message"
        yield claim(f"hop-bytes vs {name} at 1024", less, note)


def claim(row: str, value: float | str, note: str = "") -> Ours:
    """Name a number of the text."""
    return Ours(SOURCE, CLAIMS, row, "value", value, note)


def rows() -> Iterator[Ours]:
    """Compute all that is compared."""
    yield from space()
    yield from plane()
    yield from claims()
