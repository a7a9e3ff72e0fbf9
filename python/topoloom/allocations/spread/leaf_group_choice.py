# SPDX-License-Identifier: BSD-3-Clause
"""Chooses hosts for a mesh of ranks, with a lower bound on the cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topoloom._core import Error
from topoloom.allocations.spread.block_layouts import enumerate_layouts, fill_in_order
from topoloom.allocations.spread.cell_exchange import CellExchange
from topoloom.allocations.spread.host_mesh import HostMesh, Integers
from topoloom.allocations.spread.spread_bounds import bound_cost, bound_spreads

#: Number of exchanges per target, and number of layouts from which they start.
_TRIALS, _STARTS = 40_000, 2
#: Maximum number of target spreads.
_MAX_TARGETS = 12


@dataclass(frozen=True)
class LeafAssignment:
    """An assignment of the cells of a mesh to leaf groups.

    Attributes
    ----------
    leaf_of
        The leaf group of every cell.
    most, mean
        The largest and the mean spread for each entry of `HostMesh.along`.
    cost
        The value of ``HostMesh.cost(most)``.
    """

    leaf_of: Integers
    most: tuple[int, ...]
    mean: tuple[float, ...]
    cost: float

    def segments(self) -> list[int]:
        """Return the number of hosts in each used leaf group, descending."""
        counts = np.bincount(self.leaf_of)
        return sorted(counts[counts > 0].tolist(), reverse=True)


@dataclass(frozen=True)
class Spreads:
    """The best assignment found, the assignments of schedulers, and lower bounds.

    Attributes
    ----------
    chosen
        The best assignment found.
    first
        The scheduler's choice of the first free hosts, in order.
    packed
        Bin packing: leaf groups in descending order of free hosts.
    least, least_cost
        Lower bounds on the largest spread of each kind of group, and on the cost.
    """

    mesh: HostMesh
    chosen: LeafAssignment
    first: LeafAssignment
    packed: LeafAssignment
    least: tuple[int, ...]
    least_cost: float

    @property
    def proven(self) -> bool:
        """Whether the bound proves that `chosen` is optimal."""
        return self.chosen.cost <= self.least_cost * (1 + 1e-9)


def choose_leaf_groups(
    mesh: HostMesh,
    free: Sequence[int],
    seed: int = 1,
    proceed: Callable[[], bool] = lambda: True,
) -> Spreads:
    """Choose leaf groups for all hosts of a mesh.

    Parameters
    ----------
    mesh
        The hosts to place.
    free
        The number of free hosts of each leaf group, in machine order.
    seed
        Seed of the random exchanges.
    proceed
        Called repeatedly; the search ends when it returns False.

    Raises
    ------
    topoloom.Error
        If there are too few free hosts.
    """
    if sum(free) < mesh.hosts:
        raise Error(f"the mesh needs {mesh.hosts} hosts, but {sum(free)} are free")
    leaves = range(len(free))
    first = _make_assignment(mesh, fill_in_order(mesh, leaves, free))
    largest = sorted(leaves, key=lambda leaf: -free[leaf])
    packed = _make_assignment(mesh, fill_in_order(mesh, largest, free))
    found = [first, packed]
    for layout in enumerate_layouts(mesh, free):
        found = sorted([*found, _make_assignment(mesh, layout)], key=_sort_key)[
            :_STARTS
        ]
        if not proceed():
            break
    least = bound_spreads(mesh, free)
    bound = bound_cost(mesh, free, found[0].most)
    best = found[0]
    for target in _list_targets(mesh, best.most, least, bound):
        if mesh.cost(target) >= best.cost * (1 - 1e-9) or not proceed():
            continue
        for number, start in enumerate(found):
            exchanges = CellExchange(mesh, start.leaf_of, free, seed + number)
            reached = exchanges.anneal_to_target(target, _TRIALS)
            if reached is not None:
                best = _make_assignment(mesh, reached)
                break
    return Spreads(mesh, best, first, packed, tuple(least), bound)


def _list_targets(
    mesh: HostMesh, most: Sequence[int], least: Sequence[int], bound: float
) -> list[tuple[int, ...]]:
    """List targets cheaper than `most`; the most expensive (easiest) are first."""
    steps = [tuple(most)]
    for _ in range(3):
        steps += [
            (*one[:kind], one[kind] + by, *one[kind + 1 :])
            for one in steps
            for kind in range(len(most))
            for by in (-1, 1)
            if one[kind] + by >= least[kind]
        ]
        steps = list(dict.fromkeys(steps))
    cost = mesh.cost(most)
    lower = [one for one in steps if bound - 1e-9 <= mesh.cost(one) < cost * (1 - 1e-9)]
    return sorted(lower, key=lambda one: -mesh.cost(one))[:_MAX_TARGETS]


def _make_assignment(mesh: HostMesh, leaf_of: Integers) -> LeafAssignment:
    spreads = mesh.spreads(leaf_of)
    most = tuple(int(one.max()) for one in spreads)
    mean = tuple(float(one.mean()) for one in spreads)
    return LeafAssignment(leaf_of, most, mean, mesh.cost(most))


def _sort_key(one: LeafAssignment) -> tuple[float, float]:
    return one.cost, sum(one.mean)
