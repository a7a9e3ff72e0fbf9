# SPDX-License-Identifier: BSD-3-Clause
"""JAX: the device at each position of a mesh, as JSON.

`devices[i]` numbers the slots of the allocation, host by host, as `jax.devices()` does
with one process per host. On a torus with one slot per node, `coords[i]` is the value
of `device.coords` on TPUs.
"""

from __future__ import annotations

import json

import numpy as np

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.nodes.node_coordinates import has_coordinates


def write(placement: HostPlacement) -> str:
    """Write one line of JSON."""
    first = np.cumsum(placement.slots_of_host) - placement.slots_of_host
    devices = first[placement.host] + placement.slot
    document: dict[str, object] = {"devices": devices.tolist()}
    if placement.slots_per_host == 1 and has_coordinates(placement.machine):
        nodes = placement.nodes[placement.host].tolist()
        document["coords"] = [placement.machine.coordinates(node) for node in nodes]
    return json.dumps(document) + "\n"


FORMAT = ExportFormat(
    name="jax",
    summary="JAX: the device of each position of a mesh, as JSON",
    usage=(
        'numpy.array(jax.devices())[json.load(open("FILE"))["devices"]].reshape(mesh)'
        "   (for jax.sharding.Mesh)"
    ),
    write=write,
)
