# SPDX-License-Identifier: BSD-3-Clause
"""Assigns the cells of a mesh to leaf groups, in whole blocks as far as possible.

A block is a part of the mesh, and a band is a row of blocks. Leaf groups are assigned
to bands, the largest group first, each to the band that still needs the most hosts.
Bands then span similar numbers of leaf groups. All block sizes, axis orders and bands
are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod

import numpy as np

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

#: Maximum number of layouts. If there are more, only block sizes that divide the mesh
#: are tried.
_MAX_LAYOUTS = 4_000


def fill_in_order(
    mesh: HostMesh, leaves: Sequence[int], free: Sequence[int]
) -> Integers:
    """Assign cells, in order, to one leaf group after another."""
    hosts = np.repeat(leaves, [free[leaf] for leaf in leaves])
    return hosts[: mesh.hosts].astype(np.int64)


def enumerate_layouts(mesh: HostMesh, free: Sequence[int]) -> Iterator[Integers]:
    """Yield layouts: arrays with the leaf group of every cell."""
    axes = len(mesh.extents)
    sizes = [list(range(1, extent + 1)) for extent in mesh.extents]
    orders = list(permutations(range(axes)))
    if prod(map(len, sizes)) * len(orders) * axes > _MAX_LAYOUTS:
        sizes = [_list_divisors(extent) for extent in mesh.extents]
    for order in orders:
        for block in product(*sizes):
            for inner in range(axes):
                yield _build_layout(mesh, free, order, block, inner)


def _list_divisors(extent: int) -> list[int]:
    return [size for size in range(1, extent + 1) if extent % size == 0]


def _build_layout(
    mesh: HostMesh,
    free: Sequence[int],
    order: Sequence[int],
    block: Sequence[int],
    inner: int,
) -> Integers:
    """Assign cells to leaf groups; a band extends along `order` up to axis `inner`."""
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
    parts = _assign_bands([sum(run) for run in runs], max(prod(block), 1), free)
    return _assign_blocks(mesh, cells, runs, parts, free)


def _assign_bands(
    band_sizes: list[int], block: int, free: Sequence[int]
) -> list[list[int]]:
    """Assign leaf groups to bands; hosts that do not fill a whole block stay spare."""
    parts: list[list[int]] = [[] for _ in band_sizes]
    lacks = np.array(band_sizes)
    for leaf in np.argsort(-np.asarray(free), kind="stable").tolist():
        whole = free[leaf] // block * block
        band = int(lacks.argmax())
        if not whole or lacks[band] <= 0:
            break
        parts[band].append(leaf)
        lacks[band] -= whole
    return parts


def _assign_blocks(
    mesh: HostMesh,
    cells: Integers,
    runs: list[list[int]],
    parts: list[list[int]],
    free: Sequence[int],
) -> Integers:
    """Assign blocks to leaf groups of their band, and other cells to spare hosts."""
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
