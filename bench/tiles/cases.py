# SPDX-License-Identifier: BSD-3-Clause
"""Two hundred grids on nodes: extents, cores per node, stencils, ragged nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, product

import numpy as np
from numpy.typing import NDArray

from tiles.peers import Extents, Stencil

COUNT = 200
#: Cores per node: common products, primes, and numbers that rarely divide grids.
CORES = (2, 4, 6, 7, 8, 10, 12, 13, 16, 20, 24, 28, 32, 36, 48, 61, 64, 96)
SHAPES_2D = ((4, 4), (2, 1), (8, 3), (5, 5), (1, 16), (6, 7))
SHAPES_3D = ((4, 4, 4), (8, 4, 2), (3, 5, 7), (2, 2, 9))


@dataclass(frozen=True)
class Case:
    """A grid, its stencil, and the number of cells per node."""

    extents: Extents
    cores: int
    stencil: str  # star, box, or weighted (unequal bytes along the axes)
    periodic: bool
    ragged: bool

    @property
    def name(self) -> str:
        """Description of the case in one line."""
        grid = "x".join(map(str, self.extents))
        around = ", periodic" if self.periodic else ""
        nodes = f"up to {self.cores}" if self.ragged else str(self.cores)
        return f"{grid} {self.stencil}{around}, {nodes} cores per node"

    @property
    def vectors(self) -> Stencil:
        """Vectors to the neighbors of a cell, and bytes to each of them."""
        axes = len(self.extents)
        found = [v for v in product((-1, 0, 1), repeat=axes) if any(v)]
        if self.stencil == "box":
            return dict.fromkeys(found, 100)
        star = [v for v in found if sum(map(abs, v)) == 1]
        if self.stencil == "star":
            return dict.fromkeys(star, 100)
        return {v: 100 * 3 ** next(d for d in range(axes) if v[d]) for v in star}

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Cells per node; on ragged nodes, other jobs use some cores."""
        cells = math.prod(self.extents)
        if not self.ragged:
            full, rest = divmod(cells, self.cores)
            return np.array([self.cores] * full + ([rest] if rest else []))
        rng = np.random.default_rng(cells * self.cores)
        sizes = rng.integers(max(1, self.cores // 2), self.cores + 1, cells)
        nodes = int(np.searchsorted(np.cumsum(sizes), cells)) + 1
        sizes = sizes[:nodes]
        sizes[-1] -= sizes.sum() - cells
        return sizes

    def edges(self) -> NDArray[np.int64]:
        """Return rows of source, target and bytes."""
        cells = np.indices(self.extents).reshape(len(self.extents), -1)
        limits = np.array(self.extents)[:, None]
        found = []
        for vector, sent in self.vectors.items():
            ends = cells + np.array(vector)[:, None]
            if self.periodic:
                ends %= limits
            kept = ((ends >= 0) & (ends < limits)).all(axis=0)
            source = np.flatnonzero(kept)
            target = np.ravel_multi_index(tuple(ends[:, kept]), self.extents)
            found.append(
                np.stack([source, target, np.full(len(source), sent)])[
                    :, source != target
                ]
            )
        return np.concatenate(found, axis=1)


def cases() -> Iterator[Case]:
    """Return 2-D and 3-D cases with all core counts; all other factors alternate."""
    return islice(dict.fromkeys(_iterate_cases()), COUNT)


def _iterate_cases() -> Iterator[Case]:
    stencils = cycle(("star", "box", "weighted", "star", "weighted"))
    around = cycle((False, True, False))
    ragged = cycle((False, False, True, False))
    factors = cycle((3, 5, 4, 7, 2))
    for turn in range(3 * COUNT):
        for shape, cores in zip(
            (SHAPES_2D[turn % 6], SHAPES_3D[turn % 4]),
            (CORES[turn % len(CORES)], CORES[(turn + 5) % len(CORES)]),
            strict=True,
        ):
            grow = next(factors) if len(shape) == 2 else 2 - turn // 7 % 2
            extents = [grow * side for side in shape]
            # In every other grid, an axis is a multiple of whole nodes.
            if turn % 2 == 0:
                extents[turn % len(shape)] *= cores // math.gcd(
                    cores, math.prod(extents)
                )
            yield Case(
                tuple(extents), cores, next(stencils), next(around), next(ragged)
            )
