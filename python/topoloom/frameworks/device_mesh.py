# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of PyTorch on a device mesh: FSDP, HSDP, and tensor and pipeline beside them.

``init_device_mesh`` numbers the ranks of a mesh whose dimensions are named the slowest
first. Dimensions that are used together are sliced off in the order of the mesh:
``fully_shard`` wants (replicate, shard), cp flattened into the shards follows them, and
tensor parallelism comes after both. Where the stages of a pipeline are is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.graphs.layouts import Layout, View

#: The dimensions that keep this order, the slowest first.
ORDERED = ("replicate", "shard", "cp", "tp")


@dataclass(frozen=True)
class DeviceMeshJob(Job):
    """Sizes of the dimensions; their product is the number of ranks.

    Attributes
    ----------
    replicate, shard
        Copies of the model (HSDP), and ranks that one is sharded over.
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
        """The axes that multiply the ranks: all."""
        ordered = {axis: getattr(self, axis) for axis in ORDERED}
        return {"pp": self.pp, **ordered}

    @property
    def axes(self) -> dict[str, int]:
        """The sizes of all axes."""
        return self.mesh

    def layouts(self) -> list[Layout]:
        """Return all layouts that differ; the default has pp the slowest."""
        layouts: dict[View, Layout] = {}
        for place in range(len(ORDERED) + 1):
            order = (*ORDERED[:place], "pp", *ORDERED[place:])
            used = tuple((axis, self.mesh[axis]) for axis in order)
            seen = tuple(axis for axis in used if axis[1] > 1)
            name = "-".join(axis for axis, _ in seen) or "shard"
            layouts.setdefault(seen, Layout(name, (used[::-1],)))
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List what makes this job, ordered by a name of `layouts`."""
        axes = name.split("-")
        sizes = tuple(self.mesh[axis] for axis in axes)
        return [f"init_device_mesh('cuda', {sizes}, mesh_dim_names={tuple(axes)})"]
