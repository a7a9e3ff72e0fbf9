# SPDX-License-Identifier: BSD-3-Clause
"""What the axes of a training job send, by NCCL on the nodes where ranks are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, mesh_phases
from topoloom.graphs.axes import Traffic, summed
from topoloom.graphs.layouts import Layout
from topoloom.graphs.messages import joined, messages
from topoloom.graphs.nccl_collectives import nccl_expansion


def graph_by_nccl(
    layout: Layout,
    traffic: Sequence[Traffic],
    device_of_rank: NDArray[np.int64],
    devices: int,
    gpus_per_node: int,
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a job, and a phase for each of its traffic.

    A ring or halving is an all-reduce in which a rank sends as many bytes; chains send
    as they do without NCCL. The devices fill nodes in their order, some of them may
    be left over.

    Raises
    ------
    topoloom.Error
        If the devices do not fill their nodes.
    """
    expansion = nccl_expansion(devices, gpus_per_node)
    phases = []
    for one in traffic:
        if one.collective == "chain":
            extents, axes, collective, bytes = layout.numbered(one)
            phases.extend(mesh_phases(extents, (axes, collective, bytes)))
            continue
        parts = [messages([], [], [])]
        for group in layout.groups(*one.axes):
            others = len(group) - 1
            if others == 0:
                continue
            members = device_of_rank[group].tolist()
            if one.collective == "all-to-all":
                sent = expansion("alltoall", members, one.bytes // others, 0)
            else:
                size = one.bytes * len(group) // (2 * others)
                sent = expansion("allreduce", members, size, 0)
            parts.append(sent.renamed(group))
        phases.append(joined(parts).summed().graph(len(device_of_rank)))
    return summed(len(device_of_rank), phases), phases
