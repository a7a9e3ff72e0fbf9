# SPDX-License-Identifier: BSD-3-Clause
"""Bounds the load of the links at nodes with fixed ranks.

A message between a fixed rank and another one leaves the router or node of the fixed
rank, unless the other rank is there, too. The fewest bytes leave if the slots that are
left there get the ranks that save the most.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, CommGraph, Wiring
from topoloom.graphs.phases import edge_rows

#: Maximum number of pairs of a router and a rank whose bytes are added up.
_MAX_PAIRS = 2**22
#: Rounding errors of sums of bandwidths.
_ROUNDING_MARGIN = 1 - 1e-12

Integers = npt.NDArray[np.int64]


class FixedPorts:
    """The routers or nodes that have fixed ranks, with the bandwidth of their links.

    With `shared`, each slot has room for all ranks.
    """

    def __init__(
        self,
        allocation: Allocation,
        fixed: Mapping[int, int],
        rank_count: int,
        shared: bool,
    ) -> None:
        wiring, machine = Wiring(allocation.machine), allocation.machine
        vertex_of_slot = np.asarray(wiring.vertex, dtype=np.int64)[
            np.asarray(allocation.slots, dtype=np.int64) // machine.slots_per_node
        ]
        fixed_slots = np.array(list(fixed.values()), dtype=np.int64)
        vertices, port = np.unique(
            np.asarray(wiring.vertex, dtype=np.int64)[
                fixed_slots // machine.slots_per_node
            ],
            return_inverse=True,
        )
        size = wiring.vertex_count
        out = np.bincount(wiring.link_from, wiring.bandwidth, minlength=size)
        into = np.bincount(wiring.link_to, wiring.bandwidth, minlength=size)
        self._out = out[vertices].astype(np.float64)
        self._in = into[vertices].astype(np.float64)
        self._port = np.full(rank_count, -1, dtype=np.int64)
        self._port[list(fixed)] = port.reshape(-1)
        slots = np.bincount(vertex_of_slot, minlength=size)[vertices]
        held = np.bincount(port.reshape(-1), minlength=len(vertices))
        free = rank_count - len(fixed)
        free_slots = len(vertex_of_slot) - len(fixed)
        inside = np.full(len(vertices), free) if shared else slots - held
        self._most_inside = np.minimum(inside, free)
        outside = free if shared else free_slots - inside
        self._least_inside = np.maximum(free - outside, 0)

    def bound_seconds(self, graph: CommGraph) -> float:
        """Bound the bytes / bandwidth of the busiest link; 0 for large problems."""
        if len(self._out) * graph.rank_count > _MAX_PAIRS:
            return 0.0
        edges = edge_rows(graph)
        there, back = edges[:, [0, 1, 2]], edges[:, [1, 0, 2]]
        return _ROUNDING_MARGIN * max(
            self._bound_direction(there, back, self._out),
            self._bound_direction(back, there, self._in),
        )

    def _bound_direction(
        self, own: Integers, others: Integers, bandwidth: npt.NDArray[np.float64]
    ) -> float:
        """Bound one direction: `own` edges begin at a fixed rank, `others` end there.

        A free rank elsewhere makes its `own` edges cross the port. A free rank at the
        port makes its edges with fixed ranks elsewhere cross it.
        """
        ports, is_free = len(bandwidth), self._port < 0
        shape = (ports, len(self._port))
        of_rank, to_rank = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for edges, found in ((own, of_rank), (others, to_rank)):
            rows = edges[self._port[edges[:, 0]] >= 0]
            np.add.at(found, (self._port[rows[:, 0]], rows[:, 1]), rows[:, 2])
        best = 0.0
        for port in range(ports):
            elsewhere = ~is_free & (self._port != port)
            leaving = int(of_rank[port, elsewhere].sum())
            if_outside = of_rank[port, is_free]
            if_inside = (to_rank.sum(axis=0) - to_rank[port])[is_free]
            saved = -np.sort(if_inside - if_outside)
            least, most = int(self._least_inside[port]), int(self._most_inside[port])
            count = min(max(int((saved > 0).sum()), least), most)
            leaving += int(if_outside.sum() - saved[:count].sum())
            if leaving > 0 and bandwidth[port] > 0:
                best = max(best, leaving / float(bandwidth[port]))
        return best
