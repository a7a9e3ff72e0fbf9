# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch jobs on a device mesh: FSDP and HSDP, with tensor and pipeline parallelism.

``init_device_mesh`` numbers the ranks of a mesh; dimensions are listed slowest first.
Submeshes preserve this order: ``fully_shard`` requires (replicate, shard), cp follows
shard and is flattened into it, and tp is last. pp can be at any position.
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
    """A PyTorch job; the product of its dimensions is the number of ranks.

    Attributes
    ----------
    replicate, shard
        Number of model copies (HSDP), and number of ranks that share each copy.
    cp, tp, pp
        Sizes of context, tensor and pipeline parallelism.
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
                raise Error(f"{axis} = {size}; it must be at least 1")

    @property
    def mesh(self) -> dict[str, int]:
        """Sizes of all axes; their product is the number of ranks."""
        ordered = {axis: getattr(self, axis) for axis in ORDERED}
        return {"pp": self.pp, **ordered}

    @property
    def axes(self) -> dict[str, int]:
        """Sizes of all axes."""
        return self.mesh

    def layouts(self) -> list[Layout]:
        """List the distinct layouts; the first is the default and has pp slowest."""
        layouts: dict[View, Layout] = {}
        for place in range(len(ORDERED) + 1):
            order = (*ORDERED[:place], "pp", *ORDERED[place:])
            used = tuple((axis, self.mesh[axis]) for axis in order)
            seen = tuple(axis for axis in used if axis[1] > 1)
            name = "-".join(axis for axis, _ in seen) or "shard"
            layouts.setdefault(seen, Layout(name, (used[::-1],)))
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List the PyTorch code that makes the mesh of the named layout."""
        axes = name.split("-")
        sizes = tuple(self.mesh[axis] for axis in axes)
        return [f"init_device_mesh('cuda', {sizes}, mesh_dim_names={tuple(axes)})"]
