# SPDX-License-Identifier: BSD-3-Clause
"""Of choices with the same spread over leaf groups, one that is under few switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

#: Swaps of leaf groups that are tried, times hosts, and at most.
_WORK, _TRIALS = 1_000_000, 4_000


def find_switch_levels(hops: NDArray[np.integer]) -> list[Integers]:
    """Find what leaf groups are in, from the lowest level up.

    Parameters
    ----------
    hops
        Between hosts of each two leaf groups, shape (leaf groups, leaf groups).

    Returns
    -------
    list of int arrays
        For each level the number of the group that each leaf group is in. Distances
        that do not make groups, such as those of a dragonfly, give no level.
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
    """Exchange leaf groups for others while groups then are under fewer switches.

    All hosts of a leaf group change together, which leaves the spreads over leaf groups
    as they are.

    Parameters
    ----------
    leaf_of
        The leaf group of the host of every cell.
    free
        The free hosts of each leaf group.
    levels
        As of `find_switch_levels`.
    proceed
        Asked now and then; once it returns False the best so far is returned.
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
    """Give the largest spreads over the groups of all levels, and the mean ones."""
    most, mean = 0.0, 0.0
    for level in levels:
        spreads = mesh.spreads(level[leaf_of])
        most += mesh.cost([int(one.max()) for one in spreads])
        mean += sum(
            along.weight * float(one.mean())
            for along, one in zip(mesh.along, spreads, strict=True)
        )
    return most, round(mean, 9)
