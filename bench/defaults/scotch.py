# SPDX-License-Identifier: BSD-3-Clause
"""Scotch's static mapping onto any allocation of any machine.

The target is a decomposition (``deco 0``): the distance of every pair of slots, and a
binary tree of domains. Each domain is divided between two distant slots.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from peers import graphs
from peers.adapters.common import (
    Answer,
    ToolFailure,
    UnsupportedInstance,
    run_and_measure,
)
from peers.files import format_scotch_graph, read_scotch_mapping
from topoloom import Allocation, CommGraph, Placement

Ints = NDArray[np.int64]


def scotch(graph: CommGraph, allocation: Allocation) -> Placement | None:
    """Map with Scotch's best quality, one rank per slot; None if Scotch fails."""
    far = slot_distances(allocation)
    with tempfile.TemporaryDirectory() as folder:
        source, target, mapping = (Path(folder) / name for name in ("g", "t", "m"))
        source.write_text(format_scotch_graph(graphs.from_topoloom(graph)))
        target.write_text(deco(far))
        try:
            run_and_measure(
                ["scotch_gmap", source, target, mapping, "-cq", "-b0"], Answer()
            )
        except (ToolFailure, UnsupportedInstance):
            return None
        place = read_scotch_mapping(mapping.read_text(), graph.rank_count)
    return Placement(
        allocation, np.asarray(allocation.slots)[move_doubled_ranks(place, far)]
    )


def slot_distances(allocation: Allocation) -> Ints:
    """Return distances of slots: 1 inside a node, plus 1 per link between nodes."""
    machine = allocation.machine
    nodes = np.asarray(allocation.slots) // machine.slots_per_node
    used, place = np.unique(nodes, return_inverse=True)
    hops = [[machine.hops(int(a), int(b)) for b in used] for a in used]
    return np.asarray(1 + np.array(hops, np.int64)[np.ix_(place, place)])


def deco(far: Ints) -> str:
    """Format the target; domain d is divided into domains 2 d and 2 d + 1."""
    domain = np.zeros(len(far), np.int64)
    parts = [(1, np.arange(len(far)))]
    while parts:
        number, members = parts.pop()
        if len(members) == 1:
            domain[members] = number
            continue
        halves = _halve(members, far)
        parts += [(2 * number + side, half) for side, half in enumerate(halves)]
    lines = ["deco 0", f"{len(far)} {domain.max()}"]
    lines += [f"{slot} 1 {number}" for slot, number in enumerate(domain.tolist())]
    lines += [" ".join(map(str, far[row, :row].tolist())) for row in range(1, len(far))]
    return "\n".join(lines) + "\n"


def _halve(members: Ints, far: Ints) -> tuple[Ints, Ints]:
    one = members[np.argmax(far[members[0], members])]
    two = members[np.argmax(far[one, members])]
    nearer = far[one, members] - far[two, members]
    order = members[np.argsort(nearer, kind="stable")]
    middle = len(order) // 2
    return order[:middle], order[middle:]


def move_doubled_ranks(place: Ints, far: Ints) -> Ints:
    """Move ranks beyond the first on a slot to the nearest free slot."""
    move_doubled_ranks = place.copy()
    free = np.setdiff1d(np.arange(len(far)), place)
    _, first = np.unique(place, return_index=True)
    for rank in np.setdiff1d(np.arange(len(place)), first):
        nearest = int(np.argmin(far[place[rank], free]))
        move_doubled_ranks[rank] = free[nearest]
        free = np.delete(free, nearest)
    return move_doubled_ranks
