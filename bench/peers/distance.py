# SPDX-License-Identifier: BSD-3-Clause
"""Distances between slots, in NumPy: for tools that need them all, and for repairs.

The Python of the peers does not have Topoloom. J is never computed from these
distances.
"""

from __future__ import annotations

import numpy as np

from peers.graphs import Ints
from peers.instance import Instance


def distances(instance: Instance, one: Ints, two: Ints) -> Ints:
    """Return the distances of pairs of slots; arrays are broadcast."""
    ids = instance.slot_ids()
    one, two = np.broadcast_arrays(ids[one], ids[two])
    if not instance.hierarchy:
        grid = np.stack(np.unravel_index(np.stack([one, two]), instance.extents))
        apart = np.abs(grid[:, 0] - grid[:, 1])
        around = np.array(instance.extents)[:, None] - apart
        return np.asarray(np.minimum(apart, around).sum(axis=0), np.int64)
    far = np.zeros(one.shape, np.int64)
    for arity, distance in zip(instance.hierarchy, instance.distances, strict=True):
        far[one != two] = distance
        one, two = one // arity, two // arity
    return far
