# SPDX-License-Identifier: BSD-3-Clause
"""Maps the axes of a training job onto a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from topoloom._core import Allocation, AxisOrder, CommGraph, Error
from topoloom.graphs.axes import MeshOrders, Traffic, check_fit, order_axes
from topoloom.graphs.layouts import LayoutOrders, order_layouts
from topoloom.graphs.megatron import MegatronJob
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.gain import gain
from topoloom.tasks.search import Progress

#: Programs that an order is written for.
FORMATS = ("jax", "megatron", "ranks")

#: A name on the slots as allocated is taken unless another placement gains this much.
_LEAST_GAIN = 1e-4


@dataclass(frozen=True)
class MappedAxes:
    """Orders of the axes, the one that was asked for, and the sizes of all axes."""

    orders: MeshOrders | LayoutOrders
    chosen: AxisOrder
    axes: Mapping[str, int]

    @cached_property
    def graph(self) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph, and the phases that it is the sum of."""
        return self.orders.graph(self.chosen)

    def placement_file(self, **about: Any) -> PlacementFile:
        """Judge the chosen order; `about` is what else the file says."""
        graph, _ = self.graph
        return PlacementFile.measured(
            graph,
            self.orders.allocation,
            self.orders.placement(self.chosen),
            self.chosen.total,
            objective="time",
            mapper="axes",
            **about,
        )

    def text(self, program: str) -> str:
        """Write the chosen order for one of `FORMATS`."""
        if program == "megatron":
            if isinstance(self.orders, MeshOrders):
                raise Error("Megatron has names for its own jobs; map a MegatronJob")
            return self.orders.text(self.chosen)
        if program == "jax":
            return json.dumps(_mesh_only(self.orders).devices(self.chosen).tolist())
        return "\n".join(map(str, self.orders.device_of_rank(self.chosen)))

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        orders = self.orders
        best = self._described(orders.best)
        if isinstance(orders, MeshOrders):
            best["jax"] = orders.devices(orders.best).tolist()
        best["ranks"] = orders.device_of_rank(orders.best).tolist()
        return {
            "machine": orders.allocation.machine.text,
            "mesh": dict(self.axes),
            "default": self._described(orders.given),
            "named": self._described(orders.nested),
            "best": best,
        }

    def _described(self, order: AxisOrder) -> dict[str, Any]:
        orders = self.orders
        back_and_forth = {}
        if isinstance(orders, MeshOrders):
            back_and_forth["back_and_forth"] = orders.back_and_forth(order)
        return {
            "order": orders.text(order),
            **back_and_forth,
            "seconds": order.total,
            "gain": gain(orders.given.total, order.total),
            "traffic": [
                {"axes": one.axes, "collective": one.collective, "seconds": seconds}
                for one, seconds in zip(orders.traffic, order.seconds, strict=True)
            ],
        }


def map_axes(
    allocation: Allocation,
    mesh: Mapping[str, int] | MegatronJob,
    traffic: Sequence[Traffic],
    *,
    named: bool = False,
    progress: Progress | None = None,
) -> MappedAxes:
    """Order the axes; `named` chooses the best order that is a name on the same slots.

    The orders of a job of Megatron are those that it has names for.
    """
    if not isinstance(mesh, MegatronJob):
        orders = order_axes(allocation, mesh, traffic, progress)
        return MappedAxes(orders, orders.nested if named else orders.best, mesh)
    check_fit(mesh.mesh, mesh.ranks, allocation)
    laid = order_layouts(allocation, mesh.layouts(), traffic, progress)
    if laid.best.total > (1 - _LEAST_GAIN) * laid.nested.total:
        laid = replace(laid, best=laid.nested)
    return MappedAxes(laid, laid.nested if named else laid.best, mesh.axes)


def _mesh_only(orders: MeshOrders | LayoutOrders) -> MeshOrders:
    if isinstance(orders, MeshOrders):
        return orders
    raise Error(
        "a job of Megatron is not one mesh of devices; ask for the device of every rank"
    )
