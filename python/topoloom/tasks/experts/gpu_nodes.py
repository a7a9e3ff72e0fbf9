# SPDX-License-Identifier: BSD-3-Clause
"""Groups GPUs by fast interconnect: by NVLink domain, else by node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, Error, MachineText
from topoloom.machines.topology_keys import write_topology
from topoloom.support.units import counted


def find_gpu_nodes(allocation: Allocation, count: int) -> NDArray[np.uint32]:
    """Return the node number of each of the first `count` GPUs.

    Raises
    ------
    Error
        If there are more GPUs than slots.
    """
    machine = allocation.machine
    if count > allocation.slot_count:
        raise Error(
            f"experts on {count:,} GPUs require one slot each, but the allocation of "
            f"{machine.name} has {counted(allocation.slot_count, 'slot')}"
        )
    nodes = allocation.slots[:count] // machine.slots_per_node
    topology = write_topology(MachineText(machine.text))
    if topology["kind"] == "rails":
        nodes = nodes // topology["levels"][0]
    return np.unique(nodes, return_inverse=True)[1].astype(np.uint32)
