# SPDX-License-Identifier: BSD-3-Clause
"""The mesh of a job's hosts, and the spread of groups of hosts over leaf groups.

Ranks fill hosts in rank order, so the fastest axes are inside hosts. The other axes
form a mesh whose cells are hosts. The spread of a group of hosts along some axes is the
number of leaf groups of the network that it spans. Leaf groups are the minipods of
Arnold (He et al., NeurIPS 2025, arXiv:2509.15940).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error

Integers = NDArray[np.int64]


class TrafficAxes(NamedTuple):
    """Traffic along some axes of the mesh, within each group of hosts.

    Attributes
    ----------
    name
        The axes as the user wrote them: ``dp`` or ``dp+ep``.
    axes
        Indices of the mesh axes along which the members of a group differ.
    weight
        Bytes sent per rank.
    """

    name: str
    axes: tuple[int, ...]
    weight: float


@dataclass(frozen=True)
class HostMesh:
    """A mesh of hosts; cells are numbered with the first axis fastest.

    Attributes
    ----------
    names, extents
        The axes between hosts, fastest first, and their sizes, at least 2 each.
    along
        Traffic whose groups span several hosts.
    weighted
        Whether the cost weights spreads by bytes; otherwise it is the largest spread,
        with the sum of spreads as a tie-breaker.
    """

    names: tuple[str, ...]
    extents: tuple[int, ...]
    along: tuple[TrafficAxes, ...]
    weighted: bool = True

    @property
    def hosts(self) -> int:
        """Number of hosts, the cells of the mesh."""
        return prod(self.extents)

    @cached_property
    def coordinates(self) -> Integers:
        """Coordinates of each cell; shape (hosts, axes)."""
        cells = np.arange(self.hosts)
        places = np.cumprod((1, *self.extents))
        return np.stack(
            [
                cells // place % extent
                for place, extent in zip(places, self.extents, strict=False)
            ]
            or [cells],
            axis=1,
        )

    @cached_property
    def group_of(self) -> tuple[Integers, ...]:
        """Group number of every cell, for each entry of `along`."""
        found = []
        for one in self.along:
            group, place = np.zeros(self.hosts, np.int64), 1
            for axis, extent in enumerate(self.extents):
                if axis not in one.axes:
                    group += place * self.coordinates[:, axis]
                    place *= extent
            found.append(group)
        return tuple(found)

    def size(self, one: TrafficAxes) -> int:
        """Count the hosts in a group."""
        return prod(self.extents[axis] for axis in one.axes)

    def groups(self, one: TrafficAxes) -> int:
        """Count the groups of this traffic."""
        return self.hosts // self.size(one)

    def spreads(self, leaf_of: Integers) -> list[Integers]:
        """Return the spreads of all groups, for each entry of `along`."""
        leaves = int(leaf_of.max()) + 1
        found = []
        for one, group in zip(self.along, self.group_of, strict=True):
            there = np.zeros((self.groups(one), leaves), bool)
            there[group, leaf_of] = True
            found.append(there.sum(axis=1))
        return found

    def cost(self, most: Sequence[int]) -> float:
        """Return the cost of the maximum spreads, one for each entry of `along`.

        With weights, the cost is the byte-weighted mean of the spreads.
        """
        if not self.weighted:
            return float(max(most, default=0) * self._max_spread_sum + sum(most))
        total = sum(one.weight for one in self.along)
        return (
            sum(one.weight * many for one, many in zip(self.along, most, strict=True))
            / total
        )

    def measure(self, cost: float) -> float:
        """Convert a cost to the mean spread per byte, or to the largest spread."""
        return cost if self.weighted else cost // self._max_spread_sum

    @property
    def _max_spread_sum(self) -> int:
        """An upper bound on the sum of spreads."""
        return self.hosts * len(self.along) + 1


def make_host_mesh(
    mesh: Mapping[str, int],
    per_host: int,
    weights: Mapping[str, float],
    weighted: bool = True,
) -> HostMesh:
    """Build the mesh of hosts from a mesh of ranks.

    Parameters
    ----------
    mesh
        Sizes of the axes, fastest first.
    per_host
        The number of ranks per host.
    weights
        Bytes by axes, such as ``{"dp": 3e9, "dp+ep": 1e9}``.
    weighted
        See `HostMesh.weighted`.

    Raises
    ------
    topoloom.Error
        If an axis does not fit into hosts, or the job does not fill a host.
    """
    ranks = prod(mesh.values())
    if ranks % per_host:
        raise Error(
            f"a mesh of {ranks} ranks does not fill hosts of {per_host}; change an "
            "axis, or choose nodes for the job's communication pattern"
        )
    left, between = per_host, dict[str, int]()
    for name, size in mesh.items():
        inside = gcd(left, size)
        if left > 1 and inside not in (left, size):
            raise Error(
                f"axis {name} = {size} does not fit into hosts of {per_host} ranks: "
                f"{left} ranks per host remain for this axis; change its size"
            )
        left //= inside
        if size > inside:
            between[name] = size // inside
    names = tuple(between)
    along = []
    for written, weight in weights.items():
        axes = tuple(
            names.index(axis) for axis in written.split("+") if axis in between
        )
        if axes:
            along.append(TrafficAxes(written, axes, weight))
    return HostMesh(names, tuple(between.values()), tuple(along), weighted)
