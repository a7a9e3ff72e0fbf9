# SPDX-License-Identifier: BSD-3-Clause
"""Hyperedges between tasks, and the bytes of cut hyperedges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph


class Hypergraph(NamedTuple):
    """Hyperedges between tasks, and a graph of task pairs that approximates them.

    Attributes
    ----------
    weights
        Weight of each hyperedge; shape ``(m,)``.
    edges, pins
        Pin i is task ``pins[i]`` of hyperedge ``edges[i]``; shape ``(n,)``.
    graph
        Graph of task pairs. Its bytes are multiplied by `scale`, so that they are
        integers.
    """

    weights: NDArray[np.int64]
    edges: NDArray[np.int64]
    pins: NDArray[np.int64]
    graph: CommGraph
    scale: int

    def compute_cut_weight(self, owners: NDArray[np.uint32]) -> int:
        """Sum, over all hyperedges, weight * (number of ranks with pins - 1)."""
        ranks = int(owners.max()) + 1
        parts = np.unique(self.edges * ranks + owners[self.pins]) // ranks
        further = np.bincount(parts, minlength=len(self.weights)) - 1
        return int((self.weights * np.maximum(further, 0)).sum())
