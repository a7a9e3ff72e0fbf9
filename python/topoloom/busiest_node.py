# SPDX-License-Identifier: BSD-3-Clause
"""The most bytes in or out of a node: what its network cards carry, at least one way.

On rails a node here is the box that GPUs are in, as for the bytes between nodes.
"""

from __future__ import annotations

import numpy as np

from topoloom._core import Allocation, CommGraph, Judgement, Placement, judge
from topoloom.phases import edge_rows


def busiest_node(
    judgement: Judgement,
    graph: CommGraph,
    allocation: Allocation,
    placement: Placement,
) -> int:
    """Count the bytes that leave or enter one node, whichever is the most."""
    known = busiest_of(judgement)
    if known is not None:
        return known
    source, target, amount, messages = edge_rows(graph).T
    ends = (target.astype(np.uint32), source.astype(np.uint32))
    back = CommGraph.from_edges(graph.rank_count, *ends, amount, messages)
    entering = judge(back, allocation, placement, hottest=0).inter_node_max
    return max(judgement.inter_node_max, entering)


def busiest_of(judgement: Judgement) -> int | None:
    """Count them by a judgement alone; None where GPUs of a box are its nodes."""
    entering = judgement.node_bytes_in
    if int(entering.sum()) != judgement.inter_node_bytes:
        return None
    return max(judgement.inter_node_max, int(entering.max(initial=0)))
