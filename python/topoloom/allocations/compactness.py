# SPDX-License-Identifier: BSD-3-Clause
"""Computes an allocation's compactness, and the links shared with other jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topoloom._core import (
    Allocation,
    AllocationShape,
    allocation_shape,
    compact_nodes,
)


def measure_compactness(
    allocation: Allocation, jobs: Mapping[str, Allocation], seed: int
) -> dict[str, Any]:
    """Compare an allocation with the most compact one found if all nodes were free.

    An entry of `jobs` with the same nodes is the allocation itself and is ignored.
    """
    machine = allocation.machine
    shape = allocation_shape(allocation)
    best = compact_nodes(Allocation.whole(machine), len(allocation.nodes), seed)
    # The search may miss a better allocation that the scheduler found.
    best_distance = min(best.average_distance, allocation.average_distance)
    ratio = allocation.average_distance / best_distance if best_distance > 0 else 1.0
    facts: dict[str, Any] = {
        "components": shape.components,
        "average_distance": allocation.average_distance,
        "compact_distance": best_distance,
        "compactness": ratio,
        "links_leaving": shape.links_leaving,
        "links_inside": shape.links_inside,
        "links_used": shape.links_used,
        "links_foreign": shape.links_foreign,
        "foreign_share": shape.foreign_share,
    }
    if jobs:
        facts |= _measure_shared_links(allocation, shape, jobs)
    return facts


def _measure_shared_links(
    allocation: Allocation, shape: AllocationShape, jobs: Mapping[str, Allocation]
) -> dict[str, Any]:
    loads = shape.loads
    own = set(allocation.nodes.tolist())
    hops = float(loads.sum()) or 1.0
    busy = np.zeros(len(loads), dtype=bool)
    sharing: list[dict[str, Any]] = []
    others = 0
    for name, job in jobs.items():
        if set(job.nodes.tolist()) == own:
            continue
        others += 1
        common = (allocation_shape(job).loads > 0) & (loads > 0)
        busy |= common
        if common.any():
            links, share = int(common.sum()), float(loads[common].sum()) / hops
            sharing.append({"job": name, "links": links, "share": share})
    sharing.sort(key=lambda job: (-job["share"], job["job"]))
    return {
        "other_jobs": others,
        "links_shared": int(busy.sum()),
        "links_shared_foreign": int(busy[shape.foreign_links].sum()),
        "shared_share": float(loads[busy].sum()) / hops,
        "sharing": sharing,
    }
