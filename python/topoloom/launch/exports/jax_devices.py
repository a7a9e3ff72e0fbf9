# SPDX-License-Identifier: BSD-3-Clause
"""JAX: the device at each position of a mesh, as JSON.

`devices[i]` numbers the slots of the allocation, host by host, as `jax.devices()` does
with one process per host. On a torus with one slot per node, `coords[i]` is the value
of `device.coords` on TPUs.
"""

from __future__ import annotations

import json

import numpy as np

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation
from topoloom.nodes.node_coordinates import has_coordinates
from topoloom.support.json_values import get_value, parse_json


def write(placement: HostPlacement) -> str:
    """Write one line of JSON."""
    first = np.cumsum(placement.slots_of_host) - placement.slots_of_host
    devices = first[placement.host] + placement.slot
    document: dict[str, object] = {"devices": devices.tolist()}
    if placement.slots_per_host == 1 and has_coordinates(placement.machine):
        nodes = placement.nodes[placement.host].tolist()
        document["coords"] = [placement.machine.coordinates(node) for node in nodes]
    return json.dumps(document) + "\n"


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the devices of the mesh's positions."""
    devices = get_value(parse_json(text), "devices", list)
    ends = np.cumsum(job.slots_of_host)
    located = []
    for device in devices:
        if type(device) is not int or not 0 <= device < ends[-1]:
            raise Error(f"devices: {device!r} is no device of the allocation")
        host = int(np.searchsorted(ends, device, side="right"))
        first = int(ends[host] - job.slots_of_host[host])
        located.append(RankLocation(host, device - first))
    return located[:ranks]


FORMAT = ExportFormat(
    name="jax",
    summary="JAX: the device of each position of a mesh, as JSON",
    usage=(
        'numpy.array(jax.devices())[json.load(open("FILE"))["devices"]].reshape(mesh)'
        "   (for jax.sharding.Mesh)"
    ),
    write=write,
    selects_gpus=lambda _: True,
    starts_with=r'\{"devices":',
    read=read,
    is_for_launchers=False,
)
