# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch jobs on a device mesh: FSDP and HSDP, with tensor and pipeline parallelism.

``init_device_mesh`` numbers the ranks of a mesh, whose dimensions are listed slowest
first. Submeshes keep this order: ``fully_shard`` needs (replicate, shard), cp is
flattened into the shards and follows them, and tp comes last. The position of pp is
free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.graphs.layouts import Layout, View

#: Dimensions with a fixed order, slowest first.
ORDERED = ("replicate", "shard", "cp", "tp")


@dataclass(frozen=True)
class DeviceMeshJob(Job):
    """A job by the sizes of its dimensions, whose product is the number of ranks.

    Attributes
    ----------
    replicate, shard
        Copies of the model (HSDP), and ranks that each is sharded over.
    cp, tp, pp
        Context, tensor and pipeline parallelism.
    """

    replicate: int = 1
    shard: int = 1
    cp: int = 1
    tp: int = 1
    pp: int = 1

    framework: ClassVar[str] = "fsdp"

    def __post_init__(self) -> None:
        for axis, size in self.mesh.items():
            if size < 1:
                raise Error(f"{axis} = {size}; give it 1 or more")

    @property
    def mesh(self) -> dict[str, int]:
        """Sizes of all axes, whose product is the number of ranks."""
        ordered = {axis: getattr(self, axis) for axis in ORDERED}
        return {"pp": self.pp, **ordered}

    @property
    def axes(self) -> dict[str, int]:
        """Sizes of all axes."""
        return self.mesh

    def layouts(self) -> list[Layout]:
        """List the distinct layouts; pp is slowest in the first, the default."""
        layouts: dict[View, Layout] = {}
        for place in range(len(ORDERED) + 1):
            order = (*ORDERED[:place], "pp", *ORDERED[place:])
            used = tuple((axis, self.mesh[axis]) for axis in order)
            seen = tuple(axis for axis in used if axis[1] > 1)
            name = "-".join(axis for axis, _ in seen) or "shard"
            layouts.setdefault(seen, Layout(name, (used[::-1],)))
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List the settings of this job for a layout of this name."""
        axes = name.split("-")
        sizes = tuple(self.mesh[axis] for axis in axes)
        return [f"init_device_mesh('cuda', {sizes}, mesh_dim_names={tuple(axes)})"]
