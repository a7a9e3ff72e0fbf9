# SPDX-License-Identifier: BSD-3-Clause
"""DeepSpeed jobs: supported topologies and their process groups.

A `ProcessTopology` numbers the ranks; its axes are listed slowest first, by default
pipe, data, model. Experts divide the data axis and require the default topology. Within
a pipeline stage, neighbors along the data axis are in the same expert group by default;
with ``use_data_before_expert_parallelism`` they have copies of the same expert.
DeepSpeed does not combine this option with a model axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.graphs.layouts import Layout, View

#: Topoloom's axis name -> DeepSpeed's axis name.
AXES = {"pp": "pipe", "dp": "data", "tp": "model"}

_DEFAULT = ("pp", "dp", "tp")


@dataclass(frozen=True)
class DeepSpeedJob(Job):
    """A DeepSpeed job, defined by the sizes of its axes.

    Attributes
    ----------
    tp, dp, pp
        Axes whose product is the number of ranks.
    ep
        Number of ranks that share the experts of a layer; divides `dp`.
    """

    tp: int = 1
    dp: int = 1
    pp: int = 1
    ep: int = 1

    framework: ClassVar[str] = "deepspeed"

    def __post_init__(self) -> None:
        for axis, size in {**self.mesh, "ep": self.ep}.items():
            if size < 1:
                raise Error(f"{axis} = {size}; it must be at least 1")
        if self.dp % self.ep:
            raise Error(
                f"dp = {self.dp} is not a multiple of ep = {self.ep}, which DeepSpeed "
                "requires"
            )

    @property
    def mesh(self) -> dict[str, int]:
        """Sizes of the axes whose product is the number of ranks."""
        return {"tp": self.tp, "dp": self.dp, "pp": self.pp}

    @property
    def axes(self) -> dict[str, int]:
        """Sizes of all axes; expert axes are last."""
        return {**self.mesh, "ep": self.ep, "edp": self.dp // self.ep}

    def layouts(self) -> list[Layout]:
        """List the distinct layouts, DeepSpeed's default first."""
        if self.ep > 1:
            tables = [self._make_layout(_DEFAULT, ("ep", "edp"))]
            if self.tp == 1 and self.axes["edp"] > 1:
                tables.append(self._make_layout(_DEFAULT, ("edp", "ep")))
            return tables
        if self.pp == 1:
            return [self._make_layout(_DEFAULT, ("ep", "edp"))]
        orders = sorted(permutations(_DEFAULT), key=lambda order: order != _DEFAULT)
        layouts: dict[View, Layout] = {}
        for order in orders:
            layout = self._make_layout(order, ("ep", "edp"))
            seen = tuple(axis for axis in layout.views[0] if axis[1] > 1)
            layouts.setdefault(seen, layout)
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List the DeepSpeed settings of this job for the named layout."""
        topology, _, first = name.partition(" ")
        sizes = [self.mesh[axis] for axis in topology.split("-")]
        found = []
        if self.pp > 1:
            axes = [AXES[axis] for axis in topology.split("-")]
            found.append(
                f"PipelineModule(topology=ProcessTopology(axes={axes}, dims={sizes}))"
            )
        elif self.tp > 1:
            found.append(f'"tensor_parallel": {{"autotp_size": {self.tp}}}')
        if self.ep > 1:
            found.append(f"MoE(ep_size={self.ep})")
        if first:
            found.append('"use_data_before_expert_parallelism": true')
        return found

    def _make_layout(self, order: tuple[str, ...], data: tuple[str, str]) -> Layout:
        """Make a layout; `order` lists the slowest axis first, `data` the fastest."""
        dense = tuple((axis, self.mesh[axis]) for axis in reversed(order))
        experts: View = tuple(
            (one, self.axes[one])
            for axis in reversed(order)
            for one in (data if axis == "dp" else (axis,))
        )
        name = "-".join(order) + (" data first" if data[0] == "edp" else "")
        return Layout(name, (dense, experts))
