# SPDX-License-Identifier: BSD-3-Clause
"""Parses groups of devices in XLA's syntax: lists, iota, and axes of a mesh.

- ``{{0,1},{2,3}}``; - ``[2,4]<=[4,2]T(1,0)``: 0 to 7 in shape [4,2], transposed, then
split into two groups of four; - ``mesh['a'=2,'b'=4] {'b'}``: groups along the axis b;
``'b':(2)2`` is the sub-axis of b of size 2 after a sub-axis of size 2.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.traces.trace import check_rank_count

#: NumPy has no more.
_MAX_DIMENSIONS = 32

#: Device numbers of each group.
Groups = list[NDArray[np.int64]]

_LISTS = re.compile(r"\{(?:\{[0-9, ]*\},? ?)*\}")
_IOTA = re.compile(r"\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?")
_MESH = re.compile(
    r"mesh\[([^\]]*)\](?:, ?device_ids=\(([^()]*(?:\([^()]*\))?)\))? ?\{([^}]*)\}"
)
_AXIS = re.compile(r"'?([^'=:,]+)'?(?:=([0-9]{1,9})|:\(([0-9]{1,9})\)([0-9]{1,9}))?")
_ARRAY = re.compile(r"\[([0-9,]+)\](?:T\(([0-9,]+)\))?")


def cut_groups(text: str) -> str:
    """Return the part of a text that is the value of ``replica_groups=``."""
    for form in (_MESH, _IOTA, _LISTS):
        if found := form.match(text):
            return found[0]
    raise Error(f"cannot read the groups '{text[:40]}'")


def parse_groups(text: str, devices: int) -> Groups:
    """Parse the value of ``replica_groups=``; ``{}`` means all devices."""
    if found := _MESH.match(text):
        return list(_list_mesh_groups(found[1], found[2], found[3]))
    if found := _IOTA.match(text):
        return list(
            _parse_iota(parse_numbers(found[1]), parse_numbers(found[2]), found[3])
        )
    if found := _LISTS.match(text):
        rows = re.findall(r"\{([0-9, ]*)\}", found[0][1:-1])
        groups = [np.array(parse_numbers(row), np.int64) for row in rows if row.strip()]
        return groups or [np.arange(devices, dtype=np.int64)]
    raise Error(f"cannot read the groups '{text[:40]}'")


def _parse_iota(
    shape: list[int], dims: list[int], transposed: str | None
) -> NDArray[np.int64]:
    if len(dims) > _MAX_DIMENSIONS or len(shape) > _MAX_DIMENSIONS:
        raise Error(f"groups have more than {_MAX_DIMENSIONS} dimensions")
    if prod(shape) != prod(dims):
        raise Error(f"groups of the shape {shape} do not fit {dims} devices")
    check_rank_count(prod(dims))
    array = np.arange(prod(dims), dtype=np.int64).reshape(dims)
    if transposed is not None:
        order = parse_numbers(transposed)
        if sorted(order) != list(range(len(dims))):
            raise Error(f"T({transposed}) does not order {len(dims)} dimensions")
        array = array.transpose(order)
    return array.reshape(shape[0], -1) if len(shape) > 1 else array.reshape(1, -1)


def _list_mesh_groups(mesh: str, devices: str | None, axes: str) -> NDArray[np.int64]:
    sizes = {one[0]: int(one[1]) for one in _AXIS.findall(mesh) if one[1]}
    if not sizes:
        raise Error(f"cannot read the mesh '{mesh[:40]}'")
    wanted = [
        (one[0], int(one[2] or 1), int(one[3]) if one[3] else sizes.get(one[0], 0))
        for one in _AXIS.findall(axes)
    ]
    if len(sizes) + 2 * len(wanted) > _MAX_DIMENSIONS:
        raise Error(f"the mesh '{mesh[:40]}' has too many axes")
    for name, before, size in wanted:
        if name not in sizes or before * size < 1 or sizes[name] % (before * size):
            raise Error(
                f"axis '{name[:40]}' of {axes[:40]} does not fit the mesh '{mesh[:40]}'"
            )
    dims: list[int] = []
    place: dict[tuple[str, int], int] = {}
    for name, size in sizes.items():
        cuts = {1, size}
        for one, before, part in wanted:
            if one == name:
                cuts |= {before, before * part}
        steps = sorted(cuts)
        for start, end in pairwise(steps):
            place[name, start] = len(dims)
            dims.append(end // start)
    grouped = [place[name, before] for name, before, size in wanted if size > 1]
    others = [at for at in range(len(dims)) if at not in grouped]
    check_rank_count(prod(dims))
    array = _parse_devices(devices, prod(dims)).reshape(dims)
    count = prod(dims[at] for at in grouped)
    lines: NDArray[np.int64] = array.transpose(others + grouped).reshape(-1, count)
    return lines


def _parse_devices(text: str | None, count: int) -> NDArray[np.int64]:
    if text is None:
        return np.arange(count, dtype=np.int64)
    if found := _IOTA.match(text):
        array = _parse_iota(parse_numbers(found[1]), parse_numbers(found[2]), found[3])
    elif found := _ARRAY.match(text):
        array = _parse_iota([count], parse_numbers(found[1]), found[2])
    else:
        array = np.array(parse_numbers(text), np.int64)
    if sorted(array.ravel().tolist()) != list(range(count)):
        raise Error(f"device_ids=({text[:40]}) does not name {count} devices once")
    return array.ravel()


def parse_numbers(text: str) -> list[int]:
    """Parse integers between commas."""
    words = [word for word in text.replace(" ", "").split(",") if word]
    if not all(re.fullmatch("[0-9]{1,10}", word) for word in words):
        raise Error(f"cannot read the numbers '{text[:40]}'")
    return [int(word) for word in words]
