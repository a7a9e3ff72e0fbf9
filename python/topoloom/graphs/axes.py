# SPDX-License-Identifier: BSD-3-Clause
"""Parallelism axes of AI training: a mesh of ranks, its traffic, and orders of both.

Every axis multiplies the ranks, as on a mesh of JAX; `topoloom.frameworks` has
what others do. Tensor parallelism is numbered the fastest; axes of other names
follow as they are written. A device is a slot, numbered by its place in the allocation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    AxisOrder,
    CommGraph,
    Error,
    Placement,
    mesh_phases,
    order_axes as _order_axes,
)
from topoloom.graphs.phases import edge_rows
from topoloom.support.nearest import unknown_name
from topoloom.support.units import parse_bytes

#: The usual axes, the fastest first: the default order.
USUAL_ORDER = ("tp", "cp", "ep", "dp", "pp")

COLLECTIVES = ("ring", "all-to-all", "halving", "chain")

#: What groups do along an axis of this name by default; others are rings.
USUAL_COLLECTIVE = {"ep": "all-to-all", "pp": "chain"}

_AXIS = r"[A-Za-z_]\w*"


class Traffic(NamedTuple):
    """What the groups along one axis, or along several together, send in a step.

    Attributes
    ----------
    axes
        Members of a group are counted along these, the first the fastest.
    collective
        One of `COLLECTIVES`.
    bytes
        That a rank sends.
    """

    axes: tuple[str, ...]
    collective: str
    bytes: int

    @property
    def name(self) -> str:
        """As it is written: ``dp+ep``."""
        return "+".join(self.axes)


@dataclass(frozen=True)
class MeshOrders:
    """A mesh on a machine in three orders, each a `topoloom._core.AxisOrder`.

    Attributes
    ----------
    mesh, traffic, allocation
        What was asked.
    given
        The default order of `rank_order`, on the slots in their order.
    nested
        The same slots and the best order of whole axes, which has a name.
    best
        The best of all: axes split, rows back and forth, slots left out.
    """

    mesh: Mapping[str, int]
    traffic: Sequence[Traffic]
    allocation: Allocation
    given: AxisOrder
    nested: AxisOrder
    best: AxisOrder

    def text(self, order: AxisOrder) -> str:
        """Name an order, the fastest axis first: ``tp-cp-dp``, or ``dp2-tp-dp4``.

        Only a split axis has sizes. Axes of one rank are left out.
        """
        names = rank_order(self.mesh)
        pieces = [(names[axis], size) for axis, size in order.pieces if size > 1]
        return "-".join(
            name if size == self.mesh[name] else f"{name}{size}"
            for name, size in pieces
        )

    def back_and_forth(self, order: AxisOrder) -> list[str]:
        """Name the axes that run backwards in every other row."""
        names = rank_order(self.mesh)
        return [names[axis] for axis, back in enumerate(order.back_and_forth) if back]

    def placement(self, order: AxisOrder) -> Placement:
        """Make a placement of the ranks."""
        return Placement(self.allocation, order.slots)

    def device_of_rank(self, order: AxisOrder) -> NDArray[np.int64]:
        """Return the device of every rank."""
        return devices_of(self.allocation, order)

    def graph(self, order: AxisOrder) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph, which all orders share, and its phases."""
        return mesh_graph(self.mesh, self.traffic)

    def devices(self, order: AxisOrder) -> NDArray[np.int64]:
        """Return the device of every position on the mesh, in the mesh's own shape.

        For JAX: ``Mesh(np.asarray(jax.devices())[devices], tuple(mesh))``.
        """
        slowest_first = rank_order(self.mesh)[::-1]
        shape = [self.mesh[name] for name in slowest_first]
        axes = [slowest_first.index(name) for name in self.mesh]
        return np.transpose(self.device_of_rank(order).reshape(shape), axes)


def parse_mesh(text: str) -> dict[str, int]:
    """Read ``tp=8,cp=2,pp=4,dp=16``.

    Raises
    ------
    topoloom.Error
        For anything else, an axis given twice, and one of no ranks.
    """
    mesh: dict[str, int] = {}
    for part in text.split(","):
        match = re.fullmatch(rf"\s*({_AXIS})\s*=\s*(-?[0-9]+)\s*", part)
        if match and len(match[2]) > 9:
            raise Error(
                f"axis '{match[1]}' of the mesh has {match[2]:.40} ranks; 999999999 "
                "are the most"
            )
        if match is None:
            raise Error(
                f"cannot read '{part}' of the mesh '{text}': write AXIS=SIZE, as in "
                "tp=8,pp=4,dp=16"
            )
        name, size = match[1], int(match[2])
        if name in mesh:
            raise Error(f"axis '{name}' of the mesh '{text}' is given twice")
        if size < 1:
            raise Error(
                f"axis '{name}' of the mesh has {size} ranks; give it 1 or more"
            )
        mesh[name] = size
    return mesh


def parse_traffic(text: str, mesh: Mapping[str, int]) -> list[Traffic]:
    """Read ``tp=2GiB,ep=all-to-all:64MiB,dp+ep=ring:1GiB``.

    Raises
    ------
    topoloom.Error
        For anything else, axes that the mesh does not have, and what is given twice.
    """
    traffic: list[Traffic] = []
    for part in text.split(","):
        match = re.fullmatch(
            rf"\s*({_AXIS}(?:\+{_AXIS})*)\s*=\s*(?:([a-z-]+)\s*:)?([^:]*)", part
        )
        if match is None:
            raise Error(
                f"cannot read '{part}' of the traffic: write AXIS=BYTES or "
                "AXIS=COLLECTIVE:BYTES, as in tp=2GiB,ep=all-to-all:64MiB,dp+ep=1GiB"
            )
        axes = tuple(match[1].split("+"))
        for axis in axes:
            if axis not in mesh:
                raise Error(unknown_name("axis of the mesh", axis, mesh))
            if axes.count(axis) > 1:
                raise Error(f"traffic '{match[1]}' names axis '{axis}' twice")
        collective = match[2] or (
            USUAL_COLLECTIVE.get(axes[0], "ring") if len(axes) == 1 else "ring"
        )
        if collective not in COLLECTIVES:
            raise Error(unknown_name("collective", collective, COLLECTIVES))
        if any(one[:2] == (axes, collective) for one in traffic):
            raise Error(f"traffic {match[1]}={collective} is given twice; add it up")
        traffic.append(Traffic(axes, collective, parse_bytes(match[3])))
    return traffic


def rank_order(mesh: Mapping[str, int]) -> list[str]:
    """Name the axes, the fastest first, as ranks are numbered by default."""
    known = [name for name in USUAL_ORDER if name in mesh]
    return known + [name for name in mesh if name not in known]


def order_axes(
    allocation: Allocation,
    mesh: Mapping[str, int],
    traffic: Sequence[Traffic],
    progress: Callable[[int], bool] | None = None,
) -> MeshOrders:
    """Find the order of a mesh's axes in which its traffic takes least time.

    Time is that of the objective ``time``, added up over the traffic, since programs
    do one thing after the other; groups that do the same at once share the links.

    Parameters
    ----------
    allocation, mesh, traffic
        Where, what, and what it sends.
    progress
        Called now and then with the messages measured so far; once it returns False
        the orders are the best so far.

    Raises
    ------
    topoloom.Error
        For more ranks than slots, with the sizes that fit, and more than 8 axes.
    """
    check_fit(mesh, prod(mesh.values()), allocation)
    names = rank_order(mesh)
    extents = [mesh[name] for name in names]
    orders = _order_axes(
        allocation, extents, [_numbered(one, names) for one in traffic], progress
    )
    return MeshOrders(mesh, traffic, allocation, *orders)


def mesh_graph(
    mesh: Mapping[str, int], traffic: Sequence[Traffic]
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a mesh, and the phases that it is the sum of."""
    names = rank_order(mesh)
    extents = [mesh[name] for name in names]
    phases = [
        phase
        for one in traffic
        for phase in mesh_phases(extents, _numbered(one, names))
    ]
    return summed(prod(extents), phases), phases


def summed(ranks: int, phases: Sequence[CommGraph]) -> CommGraph:
    """Add up phases of the same ranks."""
    rows = np.concatenate([np.zeros((0, 4), np.int64), *map(edge_rows, phases)])
    source, target = rows[:, :2].astype(np.uint32).T
    return CommGraph.from_edges(ranks, source, target, rows[:, 2], rows[:, 3])


def devices_of(allocation: Allocation, order: AxisOrder) -> NDArray[np.int64]:
    """Return the device of every rank."""
    device_of_slot = np.full(allocation.machine.slot_count, -1, np.int64)
    device_of_slot[allocation.slots] = np.arange(allocation.slot_count)
    return device_of_slot[order.slots]


def check_fit(mesh: Mapping[str, int], ranks: int, allocation: Allocation) -> None:
    """Refuse a job of more ranks than slots, with the sizes that fit."""
    slots = allocation.slot_count
    if ranks <= slots:
        return
    fitting = [
        f"{name}={slots * size // ranks}"
        for name, size in mesh.items()
        if slots * size >= ranks
    ]
    text = ",".join(f"{name}={size}" for name, size in mesh.items())
    raise Error(
        f"the mesh {text} has {ranks} ranks, but the allocation has only {slots} "
        f"slots; {' or '.join(fitting) or 'a smaller mesh'} fits"
    )


def _numbered(traffic: Traffic, names: list[str]) -> tuple[list[int], str, int]:
    for axis in traffic.axes:
        if axis not in names:
            raise Error(unknown_name("axis of the mesh", axis, names))
    axes = [names.index(axis) for axis in traffic.axes]
    return axes, traffic.collective, traffic.bytes
