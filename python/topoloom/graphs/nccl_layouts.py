# SPDX-License-Identifier: BSD-3-Clause
"""Makes the messages of a training job that uses NCCL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, mesh_phases
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import Layout
from topoloom.graphs.messages import concatenate, make_messages
from topoloom.graphs.nccl_collectives import make_nccl_expansion
from topoloom.graphs.phases import add_phases


def make_nccl_graph(
    layout: Layout,
    traffic: Sequence[Traffic],
    device_of_rank: NDArray[np.int64],
    devices: int,
    gpus_per_node: int,
) -> tuple[CommGraph, list[CommGraph]]:
    """Make the communication graph of a job, and its phases.

    Rings and halvings become allreduces in which each rank sends the same number of
    bytes; chains
    stay as they are. Raises `topoloom.Error` if the devices do not fill whole nodes in
    order.
    """
    expansion = make_nccl_expansion(devices, gpus_per_node)
    phases = []
    for one in traffic:
        if one.collective == "chain":
            extents, axes, collective, bytes = layout.number_axes(one)
            phases.extend(mesh_phases(extents, (axes, collective, bytes)))
            continue
        parts = [make_messages([], [], [])]
        for group in layout.groups(*one.axes):
            others = len(group) - 1
            if others == 0:
                continue
            members = device_of_rank[group].tolist()
            if one.collective == "alltoall":
                sent = expansion("alltoall", members, one.bytes // others, 0)
            else:
                size = one.bytes * len(group) // (2 * others)
                sent = expansion("allreduce", members, size, 0)
            parts.append(sent.renumbered(group))
        phases.append(concatenate(parts).summed().graph(len(device_of_rank)))
    return add_phases(phases, len(device_of_rank)), phases
