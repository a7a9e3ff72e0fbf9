# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds on the largest spread of groups, given the free hosts.

Let a leaf group have c free hosts, and cells of r groups along one axis and of k groups
along another. It holds at most min(c, r k) cells, and at most r or k whole groups. Over
all leaf groups the r sum up to at most R S, where R is the number of groups and S their
largest spread; the k sum up to at most K T, likewise for groups along the other axis.
So spreads S and T are impossible together if, for some prices x of r and y of k,

    sum over leaves of max(min(c, r k) - x r - y k) + x R S + y K T < cells:

This is Lagrangian relaxation: any prices that satisfy the inequality are a proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from topoloom.allocations.spread.host_mesh import HostMesh, TrafficAxes

Floats = NDArray[np.float64]

#: Number of values tried for x, and for y; more values hardly improve the bound.
_PRICES = 40
#: Tolerance for rounding errors in sums of prices, in cells.
_ROUNDING = 1e-6
#: Maximum number of combinations of spreads; with more, pairs are not checked.
_MAX_SPREADS = 200_000


def bound_spreads(mesh: HostMesh, free: Sequence[int]) -> list[int]:
    """Bound the largest spread of each entry of `mesh.along` separately."""
    return [
        max(
            _count_leaves(free, mesh.size(one)),
            _bound_spread(mesh, one, free),
        )
        for one in mesh.along
    ]


def bound_cost(mesh: HostMesh, free: Sequence[int], found: Sequence[int]) -> float:
    """Compute a lower bound on `HostMesh.cost`, at most the cost of `found`."""
    least = bound_spreads(mesh, free)
    impossible = {
        (i, k): _SpreadPairBound(mesh, mesh.along[i], mesh.along[k], free)
        for i, k in combinations(range(len(mesh.along)), 2)
        if not set(mesh.along[i].axes) & set(mesh.along[k].axes)
    }
    best = mesh.cost(found)
    ranges = [
        _list_spreads_up_to(mesh, least, kind, best) for kind in range(len(least))
    ]
    if np.prod([float(len(one)) for one in ranges]) > _MAX_SPREADS:
        return min(best, mesh.cost(least))
    for spreads in product(*ranges):
        cost = mesh.cost(spreads)
        if cost < best and not any(
            pair.is_impossible(spreads[i], spreads[k])
            for (i, k), pair in impossible.items()
        ):
            best = cost
    return best


def _list_spreads_up_to(
    mesh: HostMesh, least: Sequence[int], kind: int, best: float
) -> list[int]:
    """List spreads of one kind that cost at most `best` if all others are minimal."""
    found = [least[kind]]
    while found[-1] < mesh.hosts:
        more = (*least[:kind], found[-1] + 1, *least[kind + 1 :])
        if mesh.cost(more) > best:
            break
        found.append(found[-1] + 1)
    return found


def _count_leaves(free: Sequence[int], hosts: int) -> int:
    """Count the leaf groups needed for `hosts` hosts."""
    total = np.cumsum(np.sort(free)[::-1])
    return int(np.searchsorted(total, hosts) + 1)


def _bound_spread(mesh: HostMesh, one: TrafficAxes, free: Sequence[int]) -> int:
    """Bound S from below: the sum of r over all leaf groups is at most R S."""
    size, groups = mesh.size(one), mesh.groups(one)
    # A group has up to `size` cells in a leaf group; the largest parts are counted
    # first.
    parts = np.concatenate(
        [[size] * (c // size) + [c % size] * (c % size > 0) for c in free]
    )
    total = np.cumsum(np.sort(parts)[::-1])
    return -(-int(np.searchsorted(total, mesh.hosts) + 1) // groups)


class _SpreadPairBound:
    """Proves that pairs of spreads of two kinds of groups are impossible together."""

    def __init__(
        self, mesh: HostMesh, one: TrafficAxes, other: TrafficAxes, free: Sequence[int]
    ) -> None:
        self._cells = mesh.hosts
        rows, columns = mesh.groups(one), mesh.groups(other)
        prices = [
            np.concatenate([[0.0], np.geomspace(0.02, mesh.size(kind), _PRICES)])
            for kind in (one, other)
        ]
        x, y = (each.ravel() for each in np.meshgrid(*prices))
        held: Floats = np.zeros(len(x))
        for leaf, count in Counter(c for c in free if c).items():
            most = np.full(len(x), 0.0)
            for r in range(1, min(leaf, rows) + 1):
                k = np.arange(1, min(-(-leaf // r), columns) + 1)
                cells = np.minimum(r * k, leaf)
                cells = np.minimum(cells, r * mesh.size(one))
                cells = np.minimum(cells, k * mesh.size(other))
                worth = cells[:, None] - k[:, None] * y[None] - r * x[None]
                np.maximum(most, worth.max(axis=0), out=most)
            held += count * most
        self._held, self._x, self._y = held, rows * x, columns * y

    def is_impossible(self, spread: int, other: int) -> bool:
        """Return whether some prices prove that these two spreads are impossible."""
        most = self._held + spread * self._x + other * self._y
        return bool(most.min() < self._cells - _ROUNDING)
