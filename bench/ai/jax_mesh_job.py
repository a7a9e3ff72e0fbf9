# SPDX-License-Identifier: BSD-3-Clause
"""Makes device meshes by JAX, for `jax_meshes.py`. Runs in a Python that has JAX.

Reads a list of (torus, mesh, slices) from standard input; prints a list of
(devices, whether JAX required ``allow_split_physical_axes``).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.experimental import mesh_utils


@dataclass(frozen=True)
class Chip:
    """A device of a TPU slice, as far as JAX looks at it."""

    id: int
    coords: tuple[int, ...]
    slice_index: int
    core_on_chip: int = 0
    device_kind: str = "TPU v4"
    platform: str = "tpu"


def make_mesh(
    torus: list[int], mesh: list[int], slices: list[int]
) -> tuple[list[int], bool]:
    """Make a mesh on as many slices as the product of `slices`."""
    count, size = int(np.prod(slices)), int(np.prod(torus))
    places = [tuple(map(int, at)) for at in np.ndindex(*torus)]
    chips: list[Any] = [
        Chip(number * size + i, at, number)
        for number in range(count)
        for i, at in enumerate(places)
    ]

    def make(**options: bool) -> list[int]:
        if count > 1:
            made = mesh_utils.create_hybrid_device_mesh(mesh, slices, chips, **options)
        else:
            made = mesh_utils.create_device_mesh(mesh, chips, **options)
        return [chip.id for chip in made.flat]

    try:
        return make(), False
    except NotImplementedError:
        return make(allow_split_physical_axes=True), True


if __name__ == "__main__":
    cases = json.load(sys.stdin)
    json.dump([jax.__version__, [make_mesh(*case) for case in cases]], sys.stdout)
