# SPDX-License-Identifier: BSD-3-Clause
"""Levels of switches above leaf groups, and exchanges that use fewer switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

#: The most swaps of leaf groups times hosts, and the most swaps.
_WORK, _TRIALS = 1_000_000, 4_000


def find_switch_levels(hops: NDArray[np.integer]) -> list[Integers]:
    """Find the groups of leaf groups at each level, from the lowest up.

    `hops` is between hosts of each two leaf groups. Each level has the group of each
    leaf group. Distances that do not form groups, as in a dragonfly, make no level.
    """
    apart = hops[~np.eye(len(hops), dtype=bool)]
    levels = []
    for distance in np.unique(apart)[:-1].tolist():
        near = hops <= distance
        np.fill_diagonal(near, True)
        group = near.argmax(axis=1)
        if (near == (group[:, None] == group)).all():
            levels.append(group)
    return levels


def reduce_switches(
    mesh: HostMesh,
    leaf_of: Integers,
    free: Sequence[int],
    levels: Sequence[Integers],
    proceed: Callable[[], bool] = lambda: True,
) -> Integers:
    """Exchange whole leaf groups while that reduces the switches above groups.

    The spreads over leaf groups do not change.

    Parameters
    ----------
    leaf_of
        The leaf group of every cell.
    free
        The number of free hosts of each leaf group.
    levels
        The result of `find_switch_levels`.
    proceed
        Called now and then; once it returns False, the search ends.
    """
    if not levels:
        return leaf_of
    room = np.asarray(free)
    trials = min(_TRIALS, _WORK // mesh.hosts)
    best, least = leaf_of, _rank(mesh, leaf_of, levels)
    improved = True
    while improved and proceed():
        improved = False
        for old in np.unique(best).tolist():
            counts = np.bincount(best, minlength=len(room))
            fits = (counts[old] <= room) & (counts <= room[old])
            elsewhere = levels[0] != levels[0][old]
            for new in np.flatnonzero(fits & elsewhere & (counts[old] > 0)).tolist():
                if trials == 0:
                    return best
                trials -= 1
                names = np.arange(len(room))
                names[[old, new]] = new, old
                rank = _rank(mesh, names[best], levels)
                if rank < least:
                    best, least, improved = names[best], rank, True
                    break
    return best


def _rank(
    mesh: HostMesh, leaf_of: Integers, levels: Sequence[Integers]
) -> tuple[float, float]:
    """Return the sums of largest and of mean spreads over all levels."""
    most, mean = 0.0, 0.0
    for level in levels:
        spreads = mesh.spreads(level[leaf_of])
        most += mesh.cost([int(one.max()) for one in spreads])
        mean += sum(
            along.weight * float(one.mean())
            for along, one in zip(mesh.along, spreads, strict=True)
        )
    return most, round(mean, 9)
