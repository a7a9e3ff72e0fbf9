# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: the same ranks seen as several meshes, as attention and experts see them.

A framework that trains numbers the ranks of a job 0, 1, 2, ... and divides them into
groups once for each part of the model. Each such division is a view: a mesh of all
ranks, whose axes are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    AxisOrder,
    CommGraph,
    Error,
    Placement,
    mesh_phases,
    order_layouts as _order_layouts,
)
from topoloom.graphs.axes import Traffic, devices_of, summed

#: Axes and their sizes, the fastest first.
View = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Layout:
    """A numbering of the ranks.

    Attributes
    ----------
    name
        What the framework calls it.
    views
        Meshes of the same ranks. An axis of several views divides them alike.
    """

    name: str
    views: tuple[View, ...]

    def view(self, axes: Sequence[str]) -> View:
        """Return the first view that has all of these axes.

        Raises
        ------
        topoloom.Error
            Where no view has them together.
        """
        for view in self.views:
            if all(axis in dict(view) for axis in axes):
                return view
        views = " or ".join(", ".join(axis for axis, _ in view) for view in self.views)
        raise Error(f"no groups along {'+'.join(axes)}: a group is along {views}")

    def groups(self, *axes: str) -> NDArray[np.int64]:
        """Return the ranks of each group along these axes, a row a group.

        Groups and their members are in the order of their ranks' positions, whatever
        the order of `axes`.
        """
        view = self.view(axes)
        ranks = np.arange(prod(size for _, size in view))
        mesh = ranks.reshape([size for _, size in view][::-1])
        along = [i for i, (axis, _) in enumerate(view[::-1]) if axis in axes]
        across = [i for i in range(len(view)) if i not in along]
        size = prod(mesh.shape[i] for i in along)
        groups: NDArray[np.int64] = mesh.transpose(across + along).reshape(-1, size)
        return groups

    def numbered(self, traffic: Traffic) -> tuple[list[int], list[int], str, int]:
        """Return extents of the view and, of the traffic, axes, collective and bytes.

        Members of a group are counted in the order of their ranks.
        """
        view = self.view(traffic.axes)
        axes = [i for i, (axis, _) in enumerate(view) if axis in traffic.axes]
        return [size for _, size in view], axes, traffic.collective, traffic.bytes


@dataclass(frozen=True)
class LayoutOrders:
    """A job on a machine in three orders, each a `topoloom._core.AxisOrder`.

    Attributes
    ----------
    layouts
        Of the three orders.
    traffic, allocation
        What was asked.
    given
        The framework's default, ranks on the slots in their order.
    nested
        The best layout on the same slots.
    best
        The best layout with ranks on any slots.
    """

    layouts: tuple[Layout, Layout, Layout]
    traffic: Sequence[Traffic]
    allocation: Allocation
    given: AxisOrder
    nested: AxisOrder
    best: AxisOrder

    def layout(self, order: AxisOrder) -> Layout:
        """Return the layout of one of the three."""
        orders = (self.given, self.nested, self.best)
        return next(
            layout
            for layout, one in zip(self.layouts, orders, strict=True)
            if one is order
        )

    def text(self, order: AxisOrder) -> str:
        """Name the layout of an order."""
        return self.layout(order).name

    def placement(self, order: AxisOrder) -> Placement:
        """Make a placement of the ranks."""
        return Placement(self.allocation, order.slots)

    def device_of_rank(self, order: AxisOrder) -> NDArray[np.int64]:
        """Return the device of every rank."""
        return devices_of(self.allocation, order)

    def graph(self, order: AxisOrder) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph of an order, and its phases."""
        return layout_graph(self.layout(order), self.traffic)


def order_layouts(
    allocation: Allocation,
    layouts: Sequence[Layout],
    traffic: Sequence[Traffic],
    progress: Callable[[int], bool] | None = None,
) -> LayoutOrders:
    """Find the layout, and the slots of its ranks, whose traffic takes least time.

    Time is that of `order_axes`.

    Parameters
    ----------
    allocation, traffic
        Where, and what is sent.
    layouts
        To choose from; the first is the default.
    progress
        Called now and then with the messages measured so far; once it returns False
        the orders are the best so far.

    Raises
    ------
    topoloom.Error
        For more ranks than slots, and groups that no view has.
    """
    given, (named, nested), (placed, best) = _order_layouts(
        allocation,
        [[layout.numbered(one) for one in traffic] for layout in layouts],
        progress,
    )
    chosen = (layouts[0], layouts[named], layouts[placed])
    return LayoutOrders(chosen, traffic, allocation, given, nested, best)


def layout_graph(
    layout: Layout, traffic: Sequence[Traffic]
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a layout, and the phases that it sums up."""
    phases = []
    for one in traffic:
        extents, axes, collective, bytes = layout.numbered(one)
        phases += mesh_phases(extents, (axes, collective, bytes))
    return summed(prod(size for _, size in layout.views[0]), phases), phases
