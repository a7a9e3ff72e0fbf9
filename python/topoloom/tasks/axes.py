# SPDX-License-Identifier: BSD-3-Clause
"""Maps the axes of a training job onto a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from topoloom._core import Allocation, AxisOrder, CommGraph
from topoloom.graphs.axes import MeshOrders, Traffic, mesh_graph, order_axes
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.gain import gain
from topoloom.tasks.search import Progress

#: Programs that an order is written for.
FORMATS = ("jax", "megatron", "ranks")


@dataclass(frozen=True)
class MappedAxes:
    """Orders of the axes, and the one that was asked for."""

    orders: MeshOrders
    chosen: AxisOrder

    @cached_property
    def graph(self) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph, and the phases that it is the sum of."""
        return mesh_graph(self.orders.mesh, self.orders.traffic)

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
            return self.orders.text(self.chosen)
        if program == "jax":
            return json.dumps(self.orders.devices(self.chosen).tolist())
        return "\n".join(map(str, self.orders.device_of_rank(self.chosen)))

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        orders = self.orders
        return {
            "machine": orders.allocation.machine.text,
            "mesh": dict(orders.mesh),
            "default": self._described(orders.given),
            "megatron": self._described(orders.nested),
            "best": {
                **self._described(orders.best),
                "jax": orders.devices(orders.best).tolist(),
                "ranks": orders.device_of_rank(orders.best).tolist(),
            },
        }

    def _described(self, order: AxisOrder) -> dict[str, Any]:
        orders = self.orders
        return {
            "order": orders.text(order),
            "back_and_forth": orders.back_and_forth(order),
            "seconds": order.total,
            "gain": gain(orders.given.total, order.total),
            "traffic": [
                {"axes": one.axes, "collective": one.collective, "seconds": seconds}
                for one, seconds in zip(orders.traffic, order.seconds, strict=True)
            ],
        }


def map_axes(
    allocation: Allocation,
    mesh: Mapping[str, int],
    traffic: Sequence[Traffic],
    *,
    named: bool = False,
    progress: Progress | None = None,
) -> MappedAxes:
    """Order the axes; `named` chooses the best order that Megatron has a name for."""
    orders = order_axes(allocation, mesh, traffic, progress)
    return MappedAxes(orders, orders.nested if named else orders.best)
