# SPDX-License-Identifier: BSD-3-Clause
"""Describes the links of a torus as arrays, and computes link loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom.support.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from topoloom._core import Judgement, Machine

Array = npt.NDArray[Any]

AXES = "xyz"


@dataclass(frozen=True)
class TorusLinks:
    """The links between routers of a torus or mesh.

    These links have the lowest ids. Links between nodes and routers follow.
    """

    shape: tuple[int, ...]  # extents of the axes
    axis: Array  # int array of shape (links,): axis of the link
    #: bool array of shape (links,): whether the link leads in the + direction.
    forward: Array
    start: Array  # int array of shape (links, axes): coordinates of the source router
    wraps: Array  # bool array of shape (links,): whether the link closes a ring


def count_host_links(machine: Machine) -> int:
    """Count the links between nodes and routers; these links have the highest ids.

    Each node has two consecutive links: to its router, and back.
    """
    return 2 * machine.node_count * machine.host_hops


def find_torus_links(machine: Machine) -> TorusLinks:
    """Compute the axis, direction and start of each link from its ends. O(links)."""
    shape = tuple(int(extent) for extent in machine.shape)
    between = machine.link_count - count_host_links(machine)
    pairs = [machine.link_ends(link) for link in range(between)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    start = np.stack(np.unravel_index(ends[:, 0], shape), axis=1)
    end = np.stack(np.unravel_index(ends[:, 1], shape), axis=1)
    axis = np.argmax(start != end, axis=1)
    rows = np.arange(len(axis))
    step = end[rows, axis] - start[rows, axis]
    wraps = np.abs(step) > 1
    forward = (step > 0) != wraps
    # On a ring of two nodes, both directions have the same ends; the core numbers the +
    # links of an axis before its - links.
    for index, extent in enumerate(shape):
        along = np.flatnonzero(axis == index)
        if extent == 2 and bool(machine.wraps[index]):
            forward[along] = np.arange(len(along)) < len(along) // 2
            wraps[along] = forward[along] != (step[along] > 0)
    return TorusLinks(shape, axis, forward, start, wraps)


@dataclass(frozen=True)
class LoadUnit:
    """Unit of link loads: seconds if bandwidths are known, else bytes."""

    bandwidth: Array
    in_seconds: bool

    @property
    def title(self) -> str:
        """Axis title of link loads, with the unit."""
        return "time to send its bytes" if self.in_seconds else "bytes on a link"

    def compute_loads(self, judgement: Judgement) -> Array:
        """Compute the load of each link, in the order of link ids."""
        return np.asarray(judgement.loads, dtype=float) / self.bandwidth

    def format(self, value: float) -> str:
        """Format a load with its unit."""
        if self.in_seconds:
            return format_seconds(float(f"{value:.3g}"))
        return format_bytes(value)


def choose_load_unit(machine: Machine) -> LoadUnit:
    """Choose the unit of loads: bytes if the machine has no bandwidths."""
    bandwidth = np.array(
        [machine.bandwidth(link) for link in range(machine.link_count)]
    )
    return LoadUnit(bandwidth, machine.has_bandwidths)


@dataclass(frozen=True)
class LinkLoads:
    """Link loads of several placements, which share a scale."""

    busy: dict[str, Array]  # load of each link, by the name of the mapper
    top: float  # the maximum load, above 0
    unit: LoadUnit  # unit of the loads
