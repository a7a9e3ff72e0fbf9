# SPDX-License-Identifier: BSD-3-Clause
"""Parallelism axes of AI training: meshes of ranks, traffic along axes, axis orders.

The number of ranks is the product of all axes, as in a JAX mesh; for other layouts see
`topoloom.frameworks`. Ranks are numbered along `USUAL_ORDER` first, then along other
axes as written. A device is a slot, numbered by position in the allocation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, Protocol

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
from topoloom.graphs.phases import add_phases
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.units import parse_bytes

#: Common axes in the default order, fastest first.
USUAL_ORDER = ("tp", "cp", "ep", "dp", "pp")

COLLECTIVES = ("ring", "alltoall", "halving", "chain")

#: Default collective of an axis by name; other axes use rings.
USUAL_COLLECTIVE = {"ep": "alltoall", "pp": "chain"}

_AXIS = r"[A-Za-z_]\w*"


class Traffic(NamedTuple):
    """Traffic per step in each group along one axis, or along several axes jointly.

    Attributes
    ----------
    axes
        Axes of the groups, fastest first.
    collective
        One of `COLLECTIVES`.
    bytes
        Bytes that a rank sends.
    calls
        Number of calls that share these bytes.
    """

    axes: tuple[str, ...]
    collective: str
    bytes: int
    calls: int = 1

    @property
    def name(self) -> str:
        """The axes in the format of `parse_traffic`: ``dp+ep``."""
        return "+".join(self.axes)


class GroupTimes(Protocol):
    """Times of a library's collectives, in place of those at line rates.

    A traffic takes as many times longer than at line rates as its slowest group does
    alone. Chains keep line rates.
    """

    @property
    def domain(self) -> int:
        """Slots per domain of fast links."""

    def predict_seconds(self, one: Traffic, ranks: int, domains: int) -> float:
        """Predict the seconds of a group alone, with ranks in so many domains."""


@dataclass(frozen=True)
class JobOrders:
    """Three axis orders of a job on a machine, each a `topoloom._core.AxisOrder`.

    Attributes
    ----------
    traffic, allocation
        The messages and the slots of the job.
    given
        The default order, with ranks on the slots in order.
    nested
        The best order that has a name, on the same slots.
    best
        The best order, which may use any slots.
    """

    traffic: Sequence[Traffic]
    allocation: Allocation
    given: AxisOrder
    nested: AxisOrder
    best: AxisOrder

    def placement(self, order: AxisOrder) -> Placement:
        """Make the placement of the ranks in an order."""
        return Placement(self.allocation, order.slots)

    def device_of_rank(self, order: AxisOrder) -> NDArray[np.int64]:
        """Return the device of every rank in an order."""
        device_of_slot = np.full(self.allocation.machine.slot_count, -1, np.int64)
        device_of_slot[self.allocation.slots] = np.arange(self.allocation.slot_count)
        return device_of_slot[order.slots]


@dataclass(frozen=True)
class MeshOrders(JobOrders):
    """Three orders of the axes of a mesh.

    `nested` keeps axes whole. `best` may also split axes, walk every second row
    backwards, and leave slots unused.
    """

    mesh: Mapping[str, int]

    def text(self, order: AxisOrder) -> str:
        """Format an order, fastest axis first, such as ``tp-cp-dp`` or ``dp2-tp-dp4``.

        Only split axes have sizes. Axes of one rank are omitted.
        """
        names = rank_order(self.mesh)
        pieces = [(names[axis], size) for axis, size in order.pieces if size > 1]
        return "-".join(
            name if size == self.mesh[name] else f"{name}{size}"
            for name, size in pieces
        )

    def back_and_forth(self, order: AxisOrder) -> list[str]:
        """List the axes of which every second row is walked backwards."""
        names = rank_order(self.mesh)
        return [names[axis] for axis, back in enumerate(order.back_and_forth) if back]

    def graph(self, order: AxisOrder) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph of an order, and its phases."""
        return mesh_graph(self.mesh, self.traffic, order.ring_shapes)

    def devices(self, order: AxisOrder) -> NDArray[np.int64]:
        """Return the device of each mesh position, as an array of the mesh's shape.

        For JAX: ``Mesh(np.asarray(jax.devices())[devices], tuple(mesh))``.
        """
        slowest_first = rank_order(self.mesh)[::-1]
        shape = [self.mesh[name] for name in slowest_first]
        axes = [slowest_first.index(name) for name in self.mesh]
        return np.transpose(self.device_of_rank(order).reshape(shape), axes)


def parse_mesh(text: str) -> dict[str, int]:
    """Parse ``tp=8,cp=2,pp=4,dp=16``; raises `topoloom.Error` if it is invalid."""
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
    """Parse ``tp=2GiB,ep=alltoall:64MiB,dp+ep=ring:1GiB``.

    Raises `topoloom.Error` if the text is invalid, or an axis is not in the mesh.
    """
    traffic: list[Traffic] = []
    for part in text.split(","):
        match = re.fullmatch(
            rf"\s*({_AXIS}(?:\+{_AXIS})*)\s*=\s*(?:([a-z-]+)\s*:)?([^:]*)", part
        )
        if match is None:
            raise Error(
                f"cannot read '{part}' of the traffic: write AXIS=BYTES or "
                "AXIS=COLLECTIVE:BYTES, as in tp=2GiB,ep=alltoall:64MiB,dp+ep=1GiB"
            )
        axes = tuple(match[1].split("+"))
        for axis in axes:
            if axis not in mesh:
                raise Error(describe_unknown_name("axis of the mesh", axis, mesh))
            if axes.count(axis) > 1:
                raise Error(f"traffic '{match[1]}' names axis '{axis}' twice")
        collective = match[2] or (
            USUAL_COLLECTIVE.get(axes[0], "ring") if len(axes) == 1 else "ring"
        )
        if collective not in COLLECTIVES:
            raise Error(describe_unknown_name("collective", collective, COLLECTIVES))
        if any(one[:2] == (axes, collective) for one in traffic):
            raise Error(f"traffic {match[1]}={collective} is given twice; give the sum")
        traffic.append(Traffic(axes, collective, parse_bytes(match[3])))
    return traffic


def rank_order(mesh: Mapping[str, int]) -> list[str]:
    """List the axes in the default order of ranks, fastest first."""
    known = [name for name in USUAL_ORDER if name in mesh]
    return known + [name for name in mesh if name not in known]


def order_axes(
    allocation: Allocation,
    mesh: Mapping[str, int],
    traffic: Sequence[Traffic],
    progress: Callable[[int], bool] | None = None,
    default: Sequence[tuple[str, int]] = (),
    times: GroupTimes | None = None,
) -> MeshOrders:
    """Find the order of a mesh's axes that minimizes the time of the traffic.

    Time is the objective ``time``, summed over the entries of `traffic`, which are
    executed one after another. The groups of an entry communicate concurrently and
    share links. On a torus, a group that spans several dimensions has a ring along
    each of them if that is faster.

    Parameters
    ----------
    allocation, mesh, traffic
        The slots, the mesh, and its messages.
    progress
        Called regularly with the number of messages evaluated; if it returns False, the
        search ends with the best orders so far.
    default
        The default order: (axis, size) of the pieces along the slots, fastest first;
        without pieces, `rank_order`.
    times
        Times of groups, by which orders are compared in place of line rates.

    Raises
    ------
    topoloom.Error
        For more than 8 axes, or more ranks than slots. The error message suggests
        smaller sizes.
    """
    check_fit(mesh, prod(mesh.values()), allocation)
    names = rank_order(mesh)
    extents = [mesh[name] for name in names]
    orders = _order_axes(
        allocation,
        extents,
        [_number_axes(one, names) for one in traffic],
        progress,
        [(names.index(axis), size) for axis, size in default],
        number_times(times, traffic),
    )
    return MeshOrders(traffic, allocation, *orders, mesh)


def number_times(
    times: GroupTimes | None, traffic: Sequence[Traffic]
) -> tuple[int, Callable[[int, int, int], float]] | None:
    """Return times for the compiled search, which numbers the entries of `traffic`."""
    if times is None:
        return None
    predict = times.predict_seconds
    return times.domain, lambda number, *group: predict(traffic[number], *group)


def mesh_graph(
    mesh: Mapping[str, int],
    traffic: Sequence[Traffic],
    ring_shapes: Sequence[Sequence[int]] | None = None,
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a mesh, and the graphs of its phases.

    `ring_shapes` has the sizes of the rings of each traffic; by default, a group has
    one ring.
    """
    names = rank_order(mesh)
    extents = [mesh[name] for name in names]
    phases = [
        phase
        for one, shape in zip(traffic, ring_shapes or [()] * len(traffic), strict=True)
        for phase in mesh_phases(extents, _number_axes(one, names), shape)
    ]
    return add_phases(phases, prod(extents)), phases


def check_fit(mesh: Mapping[str, int], ranks: int, allocation: Allocation) -> None:
    """Raise an error if an axis is empty, or ranks outnumber slots: suggest sizes."""
    for name, size in mesh.items():
        if size < 1:
            raise Error(f"axis '{name}' has {size} ranks; it needs at least 1")
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


def _number_axes(traffic: Traffic, names: list[str]) -> tuple[list[int], str, int]:
    for axis in traffic.axes:
        if axis not in names:
            raise Error(describe_unknown_name("axis of the mesh", axis, names))
    axes = [names.index(axis) for axis in traffic.axes]
    return axes, traffic.collective, traffic.bytes
