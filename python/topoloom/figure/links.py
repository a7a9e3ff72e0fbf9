# SPDX-License-Identifier: BSD-3-Clause
"""The links of a torus as arrays, and how busy a placement makes each link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from topoloom._core import Judgement, Machine

Array = npt.NDArray[Any]

AXES = "xyz"


@dataclass(frozen=True)
class TorusLinks:
    """Where each link between the routers of a torus or mesh is.

    These have the lowest ids; those between nodes and routers follow.

    Attributes
    ----------
    shape : tuple of int
        Extents of the torus.
    axis : int array of shape ``(links,)``
        The axis along which a link leads.
    forward : bool array of shape ``(links,)``
        Whether it leads in the + direction.
    start : int array of shape ``(links, axes)``
        Coordinates of the router that the link leaves.
    wraps : bool array of shape ``(links,)``
        Whether it closes a ring.
    """

    shape: tuple[int, ...]
    axis: Array
    forward: Array
    start: Array
    wraps: Array


def host_links(machine: Machine) -> int:
    """Count the links between nodes and routers, which have the highest ids.

    A node has two after each other: the one to its router, and the one back.
    """
    return 2 * machine.node_count * machine.host_hops


def torus_links(machine: Machine) -> TorusLinks:
    """Find where each link is from its two ends. O(links)."""
    shape = tuple(int(extent) for extent in machine.shape)
    between = machine.link_count - host_links(machine)
    pairs = [machine.link_ends(link) for link in range(between)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    start = np.stack(np.unravel_index(ends[:, 0], shape), axis=1)
    end = np.stack(np.unravel_index(ends[:, 1], shape), axis=1)
    axis = np.argmax(start != end, axis=1)
    rows = np.arange(len(axis))
    step = end[rows, axis] - start[rows, axis]
    wraps = np.abs(step) > 1
    forward = (step > 0) != wraps
    # On a ring of two nodes both directions have the same two ends; the core numbers
    # the + links of an axis before its - links.
    for index, extent in enumerate(shape):
        along = np.flatnonzero(axis == index)
        if extent == 2 and bool(machine.wraps[index]):
            forward[along] = np.arange(len(along)) < len(along) // 2
            wraps[along] = forward[along] != (step[along] > 0)
    return TorusLinks(shape, axis, forward, start, wraps)


@dataclass(frozen=True)
class Busyness:
    """What a link is measured in: bytes, or seconds where bandwidths are known."""

    bandwidth: Array
    in_seconds: bool

    @property
    def what(self) -> str:
        """What the number of a link says."""
        return "time to send its bytes" if self.in_seconds else "bytes on a link"

    def of(self, judgement: Judgement) -> Array:
        """How busy each link is, by link id."""
        return np.asarray(judgement.loads, dtype=float) / self.bandwidth

    def text(self, value: float) -> str:
        """Write a number of a link with its unit."""
        if self.in_seconds:
            return _scaled(value, 1e3, ["ns", "us", "ms", "s"], 1e-9)
        return _scaled(value, 1e3, ["B", "kB", "MB", "GB", "TB", "PB"], 1.0)


def busyness(machine: Machine) -> Busyness:
    """Choose the measure: without bandwidths loads count in bytes."""
    bandwidth = np.array(
        [machine.bandwidth(link) for link in range(machine.link_count)]
    )
    return Busyness(bandwidth, machine.has_bandwidths)


@dataclass(frozen=True)
class Loads:
    """How busy the links are under each placement, on one scale.

    Attributes
    ----------
    busy
        Of each link, by the name of the mapper.
    top
        The busiest of all, more than 0.
    measure
        What they are counted in.
    """

    busy: dict[str, Array]
    top: float
    measure: Busyness


def _scaled(value: float, step: float, units: list[str], least: float) -> str:
    value /= least
    index = 0
    while abs(value) >= step * 0.9995 and index < len(units) - 1:
        value /= step
        index += 1
    return f"{value:.3g} {units[index]}"
