# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of DeepSpeed: the topologies that it takes, and the groups that they make.

Ranks are numbered by a `ProcessTopology`, whose axes are named the slowest first; its
own is pipe, data, model. Experts divide the data axis, and their groups are counted on
that topology whatever the job has: with experts there is no other. In a stage, ranks of
an expert group are neighbors along data, or copies of an expert are, by
``use_data_before_expert_parallelism``, which releases refuse beside a model axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.graphs.layouts import Layout, View

#: What the axes of a topology are called, by our names.
AXES = {"pp": "pipe", "dp": "data", "tp": "model"}

_DEFAULT = ("pp", "dp", "tp")


@dataclass(frozen=True)
class DeepSpeedJob(Job):
    """Sizes of the axes.

    Attributes
    ----------
    tp, dp, pp
        Their product is the number of ranks.
    ep
        Ranks that the experts of a layer are distributed over; divides `dp`.
    """

    tp: int = 1
    dp: int = 1
    pp: int = 1
    ep: int = 1

    framework: ClassVar[str] = "deepspeed"

    def __post_init__(self) -> None:
        for axis, size in {**self.mesh, "ep": self.ep}.items():
            if size < 1:
                raise Error(f"{axis} = {size}; give it 1 or more")
        if self.dp % self.ep:
            raise Error(
                f"dp = {self.dp} is not a multiple of ep = {self.ep}, as DeepSpeed "
                "needs it"
            )

    @property
    def mesh(self) -> dict[str, int]:
        """The axes that multiply the ranks."""
        return {"tp": self.tp, "dp": self.dp, "pp": self.pp}

    @property
    def axes(self) -> dict[str, int]:
        """The sizes of all axes, those of the experts last."""
        return {**self.mesh, "ep": self.ep, "edp": self.dp // self.ep}

    def layouts(self) -> list[Layout]:
        """Return all layouts that differ, DeepSpeed's default first."""
        if self.ep > 1:
            tables = [self._layout(_DEFAULT, ("ep", "edp"))]
            if self.tp == 1 and self.axes["edp"] > 1:
                tables.append(self._layout(_DEFAULT, ("edp", "ep")))
            return tables
        if self.pp == 1:
            return [self._layout(_DEFAULT, ("ep", "edp"))]
        orders = sorted(permutations(_DEFAULT), key=lambda order: order != _DEFAULT)
        layouts: dict[View, Layout] = {}
        for order in orders:
            layout = self._layout(order, ("ep", "edp"))
            seen = tuple(axis for axis in layout.views[0] if axis[1] > 1)
            layouts.setdefault(seen, layout)
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List what makes this job, ordered by a name of `layouts`."""
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

    def _layout(self, order: tuple[str, ...], data: tuple[str, str]) -> Layout:
        """Lay out a topology, the slowest axis first; `data` the fastest first."""
        dense = tuple((axis, self.mesh[axis]) for axis in reversed(order))
        experts: View = tuple(
            (one, self.axes[one])
            for axis in reversed(order)
            for one in (data if axis == "dp" else (axis,))
        )
        name = "-".join(order) + (" data first" if data[0] == "edp" else "")
        return Layout(name, (dense, experts))
