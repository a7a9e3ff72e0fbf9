# SPDX-License-Identifier: BSD-3-Clause
"""Stencils of objects with several initial maps on a torus.

Source: A. Bhatele, L. V. Kale, PPL 18(4), 2008.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from objects.programs import DID_NOT_END, build, format_torus_platform, run_simulated
from smpi import MPI

JACOBI = MPI.parent / "apps" / "jacobi_objects" / "jacobi_objects.cpp"
#: Ranks -> ms per step with 1 and with 8 objects per rank (Kumar 2005, table 5.1).
PUBLISHED = {8: (192, 105), 64: (16.4, 12.7), 512: (6.5, 5.7)}
#: Nanoseconds per cell: 100 ms for a grid of 192 x 192 x 192 on 8 ranks.
NS_PER_CELL = 113
#: Without SimGrid's factors for TCP over gigabit Ethernet: 18 kB would get 70 % of a
#: link and 74 kB 94 %, which penalizes smaller blocks.
NETWORK = ("smpi/bw-factor:0:1", "smpi/lat-factor:0:1")
#: Opposite messages on a link do not slow each other.
TORUS = ("network/crosstraffic:0",)
#: Header bytes of a message.
HEADERS = 72


@dataclass(frozen=True)
class Stencil:
    """Blocks of cells on a torus; in two dimensions, one axis has a single block."""

    torus: tuple[int, ...]
    blocks: tuple[int, ...]
    cells: int
    steps: int
    rate: float  # bandwidth of a link, MB/s
    latency: str
    maps: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """Number of hosts, with one rank each."""
        return prod(self.torus)

    @property
    def dimensions(self) -> int:
        """Number of axes of the grid."""
        return 2 if self.blocks[2] == 1 else 3

    @property
    def message_bytes(self) -> int:
        """Return the bytes of an edge message."""
        row = 8 * self.cells
        return HEADERS + (row if self.dimensions == 2 else row * self.cells)

    def rank_of_blocks(self, order: str) -> NDArray[np.int64]:
        """Return the rank of each block in an initial map of the program."""
        axes = [np.arange(extent) for extent in self.blocks]
        x, y, z = np.meshgrid(*axes, indexing="ij")
        flat = np.arange(prod(self.blocks)).reshape(self.blocks)
        if order == "random":
            return make_random_permutation(flat.size)[flat] * self.ranks // flat.size
        if order == "round-robin":
            return flat % self.ranks
        if order == "hashed":
            mixed = (x + rotate_left(y, 21) + rotate_left(y, 16) + 739) % 2**32
            return mixed % 1280107 % self.ranks
        sides = self.torus
        if self.dimensions == 2:
            sides = (sides[0], sides[1] * sides[2], 1)
        u, v, w = (
            at * side // extent
            for at, side, extent in zip((x, y, z), sides, self.blocks, strict=True)
        )
        return u + sides[0] * (v + sides[1] * w)

    def hops(self, order: str) -> int:
        """Return the total hops of the messages of a step."""
        home, extents = self.rank_of_blocks(order), np.array(self.torus)
        rows = home // extents[0]
        spot = np.stack([home % extents[0], rows % extents[1], rows // extents[1]], -1)
        apart = [np.abs(np.roll(spot, 1, a) - spot) for a in range(self.dimensions)]
        return 2 * sum(int(np.minimum(d, extents - d).sum()) for d in apart)


def rotate_left(values: NDArray[np.int64], by: int) -> NDArray[np.int64]:
    """Rotate 32 bits to the left."""
    return (values << by | values >> (32 - by)) % 2**32


def make_random_permutation(count: int) -> NDArray[np.int64]:
    """Return the permutation of the program's random map."""
    order, state = np.arange(count), 1
    for left in range(count, 1, -1):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        other = (state >> 33) % left
        order[[left - 1, other]] = order[[other, left - 1]]
    return order


ALL = ("random", "round-robin", "boxes")
STENCILS = (
    Stencil((4, 4, 4), (8, 8, 8), 16, 8, 5, "9us", (*ALL, "place")),
    Stencil((4, 4, 4), (16, 64, 1), 16, 4, 4, "100ns", (*ALL, "hashed")),
    # With this rate, round-robin takes 1.17 times as long as boxes, as published.
    Stencil((4, 8, 8), (4, 8, 8), 16, 4, 40, "100ns", ALL),
    Stencil((8, 8, 16), (8, 8, 16), 16, 4, 40, "100ns", ALL),
)


def compare_maps(folder: Path, most: int) -> None:
    """Simulate stencils; print hop-bytes per link and second of each map."""
    program = build(JACOBI, "smpicxx", folder)
    print("| torus | blocks | MB/s | map | hops per message | ms per step |", end="")
    print(" kB per link and s | to random |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for one in STENCILS:
        if one.ranks > most:
            continue
        torus, blocks = ("x".join(map(str, n)) for n in (one.torus, one.blocks))
        messages = 2 * one.dimensions * prod(one.blocks)
        first = 0.0
        for order in one.maps:
            words = f"| {torus} | {blocks} | {one.rate:g} | {order} |"
            took, hops = measure_step(folder, one, program, order)
            if took is None:
                print(
                    f"{words} {hops / messages:.2f} | {DID_NOT_END} | | |",
                    flush=True,
                )
                continue
            rate = hops * one.message_bytes / (6 * one.ranks) / took
            first = first or (rate if order == "random" else 0.0)
            change = f"{100 * (rate / first - 1):+.0f} %" if first else ""
            words += f" {hops / messages:.2f} | {took:.3f} | {rate:.0f} | {change} |"
            print(words, flush=True)


def measure_step(
    folder: Path, one: Stencil, program: Path, order: str
) -> tuple[float | None, float]:
    """Return milliseconds per step of a map (None after a timeout), and hops."""
    torus, blocks = ("x".join(map(str, extents)) for extents in (one.torus, one.blocks))
    begins = {"boxes": f"boxes={torus}", "place": "random"}.get(order, order)
    policy = ("place", f"torus:{torus}") if order == "place" else ()
    words = (one.dimensions, blocks, one.cells, one.steps, begins, *policy)
    platform = format_torus_platform(torus, f"{one.rate}MBps", one.latency)
    output = stencil(folder, platform, one.ranks, program, words, NETWORK + TORUS)
    hops = float(one.hops("random" if policy else order))
    if output is None:
        return None, hops
    took, _, before, after = output
    return took, hops * after / before if policy else hops


def stencil(
    folder: Path,
    described: str,
    ranks: int,
    program: Path,
    words: tuple[object, ...],
    network: tuple[str, ...] = NETWORK,
) -> list[float] | None:
    """Return milliseconds per step, moved blocks, and hop-bytes before and after.

    None after a timeout.
    """
    variables = {"NS_PER_CELL": str(NS_PER_CELL)}
    output = run_simulated(
        folder, described, ranks, variables, network, program, *words
    )
    if output is None:
        return None
    line = output.splitlines()[0]
    return [float(number) for number in re.findall(r"[0-9.]+(?:e[+-]\d+)?", line)]
