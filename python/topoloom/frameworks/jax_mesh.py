# SPDX-License-Identifier: BSD-3-Clause
"""JAX's assignment of the axes of a mesh to the dimensions of a TPU slice.

``jax.experimental.mesh_utils.create_device_mesh`` handles one axis after another; the
last axis of the mesh, which should communicate most, is the first to choose. An axis
gets whole dimensions of the torus, as many as possible. If none fit, dimensions are
split, but only with ``allow_split_physical_axes``; ``jax.make_mesh`` sets this for TPU
v5e only. ``create_hybrid_device_mesh`` does the same within each slice.

``bench/ai/jax_meshes.py`` compares this module with JAX's code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import gcd, prod
from typing import NamedTuple

import numpy as np

from topoloom._core import Allocation
from topoloom.graphs.axes import rank_order

#: By dimension of the torus: its part along each axis of the mesh.
Parts = list[list[int]]


class TorusAssignment(NamedTuple):
    """An assignment of the axes of a mesh to the dimensions of a torus.

    Attributes
    ----------
    parts
        For each dimension, the size of its part along each axis; their product is the
        size of the dimension. Within a dimension, the last axis varies fastest.
    is_split
        Whether axes share a dimension.
    """

    parts: Parts
    is_split: bool

    def pieces(self) -> list[tuple[int, int]]:
        """List (axis, size) along the slots, of which the last dimension is fastest."""
        return [
            (axis, size)
            for part in reversed(self.parts)
            for axis, size in reversed(list(enumerate(part)))
            if size > 1
        ]


class JaxOrder(NamedTuple):
    """The order in which JAX assigns the axes of a mesh to the slots of an allocation.

    Attributes
    ----------
    pieces
        (axis, size) along the slots, fastest first.
    is_split
        Whether JAX requires ``allow_split_physical_axes``.
    """

    pieces: list[tuple[str, int]]
    is_split: bool


def assign_axes(torus: Sequence[int], mesh: Sequence[int]) -> TorusAssignment:
    """Assign the axes of a mesh to the dimensions of a torus of equal size.

    Parameters
    ----------
    torus
        Sizes of the dimensions.
    mesh
        Sizes of the axes; the last one should communicate most.
    """
    whole = _assign_whole_dimensions(torus, mesh)
    if whole is not None:
        return TorusAssignment(whole, False)
    return TorusAssignment(_split_dimensions(torus, mesh), True)


def find_jax_order(allocation: Allocation, mesh: Mapping[str, int]) -> JaxOrder | None:
    """Find JAX's order of a mesh on the first slots of an allocation.

    JAX is given the axes from the slowest to the fastest of `rank_order`. Returns None
    if the slots are not those of a complete box in a network with coordinates, which
    JAX requires, or not in the order of their coordinates.
    """
    box = _find_box(allocation, prod(mesh.values()))
    if box is None:
        return None
    names = rank_order(mesh)[::-1]
    assigned = assign_axes(box, [mesh[name] for name in names])
    pieces = [(names[axis], size) for axis, size in assigned.pieces()]
    return JaxOrder(pieces, assigned.is_split)


def _find_box(allocation: Allocation, ranks: int) -> list[int] | None:
    machine = allocation.machine
    if not machine.shape or machine.slots_per_node > 1:
        return None
    at = np.array([machine.coordinates(slot) for slot in allocation.slots[:ranks]])
    box = at.max(0) - at.min(0) + 1
    if prod(box.tolist()) != ranks:
        return None
    positions = np.ravel_multi_index(tuple((at - at.min(0)).T), tuple(box))
    if (positions != np.arange(ranks)).any():
        return None
    sizes: list[int] = box.tolist()
    return sizes


def _assign_whole_dimensions(torus: Sequence[int], mesh: Sequence[int]) -> Parts | None:
    parts = [[1] * len(mesh) for _ in torus]
    free = dict(enumerate(torus))
    for axis in reversed(range(len(mesh))):
        subsets = (
            subset
            for count in range(len(free), 0, -1)
            for subset in combinations(free, count)
        )
        for subset in subsets:
            if prod(free[dimension] for dimension in subset) == mesh[axis]:
                for dimension in subset:
                    parts[dimension][axis] = free.pop(dimension)
                break
        else:
            if mesh[axis] > 1:
                return None
    return parts


def _split_dimensions(torus: Sequence[int], mesh: Sequence[int]) -> Parts:
    parts = [[1] * len(mesh) for _ in torus]
    for axis in reversed(range(len(mesh))):
        taken = [prod(part) for part in parts]
        free = [size // used for size, used in zip(torus, taken, strict=True)]

        def rank(
            split: tuple[int, ...], taken: list[int] = taken
        ) -> tuple[object, ...]:
            """Rank a split: JAX prefers whole dimensions, many of them, then others."""
            whole = [one for one, size in zip(split, torus, strict=True) if one == size]
            shared = [one for one, used in zip(split, taken, strict=True) if used > 1]
            return prod(whole), sum(one > 1 for one in whole), prod(shared), split

        chosen = max(_list_splits(mesh[axis], free), key=rank)
        for dimension, size in enumerate(chosen):
            parts[dimension][axis] = size
    return parts


def _list_splits(size: int, free: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield factors of `size` that divide the free parts of the dimensions."""
    if not free:
        if size == 1:
            yield ()
        return
    most = gcd(size, free[0])
    for factor in range(1, most + 1):
        if most % factor == 0:
            for rest in _list_splits(size // factor, free[1:]):
                yield (factor, *rest)
