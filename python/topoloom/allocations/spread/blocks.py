# SPDX-License-Identifier: BSD-3-Clause
"""Hosts by blocks of the mesh: each leaf group takes whole blocks, band by band.

A block is a small mesh. Bands are rows of blocks, and leaf groups are dealt to bands,
the largest first, always to the band that lacks most: no band is then in many more leaf
groups than others. All sizes of blocks, orders of axes and bands are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod

import numpy as np

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

#: Layouts that are tried; sizes of blocks are thinned out to divisors beyond.
_MAX_LAYOUTS = 4_000


def in_order(mesh: HostMesh, leaves: Sequence[int], free: Sequence[int]) -> Integers:
    """Fill leaf groups one after the other with cells in their order."""
    hosts = np.repeat(leaves, [free[leaf] for leaf in leaves])
    return hosts[: mesh.hosts].astype(np.int64)


def block_layouts(mesh: HostMesh, free: Sequence[int]) -> Iterator[Integers]:
    """Yield the leaf group of every cell, layout by layout."""
    axes = len(mesh.extents)
    sizes = [list(range(1, extent + 1)) for extent in mesh.extents]
    orders = list(permutations(range(axes)))
    if prod(map(len, sizes)) * len(orders) * axes > _MAX_LAYOUTS:
        sizes = [_divisors(extent) for extent in mesh.extents]
    for order in orders:
        for block in product(*sizes):
            for inner in range(axes):
                yield _layout(mesh, free, order, block, inner)


def _divisors(extent: int) -> list[int]:
    return [size for size in range(1, extent + 1) if extent % size == 0]


def _layout(
    mesh: HostMesh,
    free: Sequence[int],
    order: Sequence[int],
    block: Sequence[int],
    inner: int,
) -> Integers:
    """Lay out one way: the axes of `order` up to `inner` run along a band."""
    at, place = np.zeros(mesh.hosts, np.int64), 1
    band, bands = np.zeros(mesh.hosts, np.int64), 1
    for rank, axis in enumerate(order):
        number = mesh.coordinates[:, axis] // block[axis]
        count = -(-mesh.extents[axis] // block[axis])
        at, place = at + place * number, place * count
        if rank > inner:
            band, bands = band + bands * number, bands * count
    keys = [mesh.coordinates[:, axis] for axis in order]
    cells = np.lexsort((*keys, at, band))
    starts = np.flatnonzero(np.diff(at[cells], prepend=-1))
    lengths = np.diff([*starts.tolist(), mesh.hosts])
    runs = [lengths[band[cells[starts]] == number].tolist() for number in range(bands)]
    parts = _deal([sum(run) for run in runs], max(block_cells(block), 1), free)
    return _fill(mesh, cells, runs, parts, free)


def block_cells(block: Sequence[int]) -> int:
    """Count the cells of a block."""
    return prod(block)


def _deal(lacking: list[int], block: int, free: Sequence[int]) -> list[list[int]]:
    """Deal leaf groups to bands; what a leaf group has beyond whole blocks is spare."""
    parts: list[list[int]] = [[] for _ in lacking]
    lacks = np.array(lacking)
    for leaf in np.argsort(-np.asarray(free), kind="stable").tolist():
        whole = free[leaf] // block * block
        band = int(lacks.argmax())
        if not whole or lacks[band] <= 0:
            break
        parts[band].append(leaf)
        lacks[band] -= whole
    return parts


def _fill(
    mesh: HostMesh,
    cells: Integers,
    runs: list[list[int]],
    parts: list[list[int]],
    free: Sequence[int],
) -> Integers:
    """Give blocks to the leaf groups of their band; the rest where there is room."""
    leaf_of = np.full(mesh.hosts, -1, np.int64)
    room = list(free)
    at, missed = 0, list[tuple[int, int]]()
    for run, leaves in zip(runs, parts, strict=True):
        waiting = list(leaves)
        for length in run:
            while waiting and room[waiting[0]] < length:
                waiting.pop(0)
            if waiting:
                leaf_of[cells[at : at + length]] = waiting[0]
                room[waiting[0]] -= length
            else:
                missed.append((at, length))
            at += length
    for start, length in missed:
        while length:
            fitting = [leaf for leaf, left in enumerate(room) if left >= length]
            leaf = (
                min(fitting, key=room.__getitem__)
                if fitting
                else max(range(len(room)), key=room.__getitem__)
            )
            taken = min(length, room[leaf])
            leaf_of[cells[start : start + taken]] = leaf
            room[leaf] -= taken
            start, length = start + taken, length - taken
    return leaf_of
