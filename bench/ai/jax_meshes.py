# SPDX-License-Identifier: BSD-3-Clause
"""Random meshes on TPU slices: our assignment of axes compared with JAX's."""

from __future__ import annotations

import json
import subprocess
from math import prod
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.frameworks.jax_mesh import assign_axes

JOB = Path(__file__).with_name("jax_mesh_job.py")

#: Most chips of a drawn slice.
MOST = 2048

Case = tuple[list[int], list[int], list[int]]


class MeshCounts(NamedTuple):
    """Counts of the comparison with a release of JAX."""

    release: str
    meshes: int
    hybrid: int
    split: int
    different: int


def compare(python: Path, count: int, seed: int) -> MeshCounts:
    """Draw meshes; compare devices, and which meshes JAX refuses to make."""
    random = Random(seed)
    cases = [_draw_case(random) for _ in range(count)]
    done = subprocess.run(
        [python, JOB],
        input=json.dumps(cases),
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    release, made = json.loads(done.stdout)
    different = sum(
        _make_devices(*case) != (devices, is_split)
        for case, (devices, is_split) in zip(cases, made, strict=True)
    )
    hybrid = sum(prod(slices) > 1 for _, _, slices in cases)
    split = sum(is_split for _, is_split in made)
    return MeshCounts(release, count, hybrid, split, different)


def meshes_table(counts: MeshCounts) -> str:
    """Format the counts as a table."""
    return "\n".join(
        [
            "| JAX | meshes | on several slices | require "
            "`allow_split_physical_axes` | different |",
            "| --- | ---: | ---: | ---: | ---: |",
            f"| {' | '.join(map(str, counts))} |",
            "",
        ]
    )


def _draw_case(random: Random) -> Case:
    """Draw a slice, the axes of a mesh on it, and how the axes span slices."""
    while True:
        torus = [random.choice((1, 2, 4, 4, 8, 8, 12, 16)) for _ in range(3)]
        if 1 < prod(torus) <= MOST:
            break
    mesh = [1] * random.randint(1, 5)
    rest = prod(torus)
    for prime in (2, 3):
        while rest % prime == 0:
            mesh[random.randrange(len(mesh))] *= prime
            rest //= prime
    slices = [1] * len(mesh)
    if random.random() < 0.25:
        slices[0] = random.choice((2, 4))
    return torus, mesh, slices


def _make_devices(
    torus: list[int], mesh: list[int], slices: list[int]
) -> tuple[list[int], bool]:
    assigned = assign_axes(torus, mesh)
    places = np.indices(mesh)
    devices: NDArray[np.int64] = np.zeros(mesh, np.int64)
    below = [1] * len(mesh)
    stride = 1
    for axis, size in assigned.pieces():
        devices += places[axis] // below[axis] % size * stride
        below[axis] *= size
        stride *= size
    parts = [devices + number * prod(torus) for number in range(prod(slices))]
    blocks = np.empty(len(parts), object)
    blocks[:] = parts
    together = np.block(blocks.reshape(slices).tolist())
    return together.ravel().tolist(), assigned.is_split
