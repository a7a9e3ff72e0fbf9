# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: several meshes of the same ranks, such as for attention and for experts.

A training framework numbers the ranks 0, 1, 2, ... and divides them into groups for
each part of the model. Each such division is a view: a mesh of all ranks with named
axes.
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
    mesh_phases,
    order_layouts as _order_layouts,
)
from topoloom.graphs.axes import GroupTimes, JobOrders, Traffic, number_times
from topoloom.graphs.phases import add_phases

#: Names and sizes of the axes of a mesh, fastest first.
View = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Layout:
    """A numbering of the ranks, with its views.

    Attributes
    ----------
    name
        The name of the layout in the framework.
    views
        Meshes of the same ranks. An axis that occurs in several views has the same
        groups in each.
    """

    name: str
    views: tuple[View, ...]

    def view(self, axes: Sequence[str]) -> View:
        """Return the first view with these axes; raise `topoloom.Error` if none has."""
        for view in self.views:
            if all(axis in dict(view) for axis in axes):
                return view
        views = " or ".join(", ".join(axis for axis, _ in view) for view in self.views)
        raise Error(f"no groups along {'+'.join(axes)}: a group is along {views}")

    def groups(self, *axes: str) -> NDArray[np.int64]:
        """Return the ranks of each group along these axes, one row per group.

        Groups and members are sorted by position; the order of `axes` has no effect.
        """
        view = self.view(axes)
        ranks = np.arange(prod(size for _, size in view))
        mesh = ranks.reshape([size for _, size in view][::-1])
        along = [i for i, (axis, _) in enumerate(view[::-1]) if axis in axes]
        across = [i for i in range(len(view)) if i not in along]
        size = prod(mesh.shape[i] for i in along)
        groups: NDArray[np.int64] = mesh.transpose(across + along).reshape(-1, size)
        return groups

    def number_axes(self, traffic: Traffic) -> tuple[list[int], list[int], str, int]:
        """Return a view's extents, and traffic as axis numbers, collective and bytes.

        The members of a group are ordered by rank.
        """
        view = self.view(traffic.axes)
        axes = [i for i, (axis, _) in enumerate(view) if axis in traffic.axes]
        return [size for _, size in view], axes, traffic.collective, traffic.bytes


@dataclass(frozen=True)
class LayoutOrders(JobOrders):
    """Rank orders of a job that the layouts of a framework allow.

    `layouts` contains the layout of each order. `best` may use any slots.
    """

    layouts: tuple[Layout, Layout, Layout]

    def layout(self, order: AxisOrder) -> Layout:
        """Return the layout of one of the three orders."""
        orders = (self.given, self.nested, self.best)
        return next(
            layout
            for layout, one in zip(self.layouts, orders, strict=True)
            if one is order
        )

    def text(self, order: AxisOrder) -> str:
        """Return the name of an order's layout."""
        return self.layout(order).name

    def graph(self, order: AxisOrder) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph of an order, and its phases."""
        return layout_graph(self.layout(order), self.traffic)


def order_layouts(
    allocation: Allocation,
    layouts: Sequence[Layout],
    traffic: Sequence[Traffic],
    progress: Callable[[int], bool] | None = None,
    times: GroupTimes | None = None,
) -> LayoutOrders:
    """Find the layout and the slots of its ranks that minimize the traffic's time.

    Time is defined as in `order_axes`.

    Parameters
    ----------
    allocation, traffic
        The slots and the messages.
    layouts
        Candidate layouts; the first is the default.
    progress, times
        As in `order_axes`.

    Raises
    ------
    topoloom.Error
        For more ranks than slots, or a group that is in no view.
    """
    given, (named, nested), (placed, best) = _order_layouts(
        allocation,
        [[layout.number_axes(one) for one in traffic] for layout in layouts],
        progress,
        number_times(times, traffic),
    )
    chosen = (layouts[0], layouts[named], layouts[placed])
    return LayoutOrders(traffic, allocation, given, nested, best, chosen)


def layout_graph(
    layout: Layout, traffic: Sequence[Traffic]
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a layout, and its phases."""
    phases = []
    for one in traffic:
        extents, axes, collective, bytes = layout.number_axes(one)
        phases += mesh_phases(extents, (axes, collective, bytes))
    return add_phases(phases, prod(size for _, size in layout.views[0])), phases
