# SPDX-License-Identifier: BSD-3-Clause
"""Flux task map (RFC 34): blocks of `[first node, nodes, ranks on each, times]`.

Nodes are numbered from 0 in the order in which Flux lists those of the job, which the
allocation must have, too. Flux wants a map for all nodes of the job, in one line.
"""

from __future__ import annotations

import itertools
import json

import numpy as np

from topoloom._core import Error
from topoloom.launch.alike import bound_alike
from topoloom.launch.exports.mpich_rankmap import rank_blocks
from topoloom.launch.host_placement import HostPlacement

NAME = "flux-taskmap"
SUMMARY = "Flux: blocks of ranks by number of the node (RFC 34)"
USE = (
    'flux run -N {nodes} -n {ranks} --taskmap=manual:"$(cat FILE)" {flux_affinity}./app'
)


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether Flux can bind the ranks, or hosts are filled in rank order."""
    return bound_alike(placement) is not None or placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write the map; raise `topoloom.Error` where a host would have no rank."""
    counts = placement.ranks_per_host()
    if counts.size and counts.min() == 0:
        raise Error(
            "a Flux task map gives every node of the job ranks, but host "
            f"'{placement.hosts[int(np.argmin(counts))]}' has none; leave it out of "
            "the allocation, or export to slurm-hostfile and use "
            "--taskmap=hostfile:FILE"
        )
    repeated = itertools.groupby(rank_blocks(placement.runs()))
    blocks = [[*block, len(list(times))] for block, times in repeated]
    return json.dumps(blocks, separators=(",", ":")) + "\n"
