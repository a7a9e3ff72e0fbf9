# SPDX-License-Identifier: BSD-3-Clause
"""JSON for programs: host, slot, CPUs, nearest GPU and NIC of each rank."""

from __future__ import annotations

import json

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices


def write(placement: HostPlacement) -> str:
    """Write the document, one rank per line; unknown values are null."""
    gpus, nics = nearest_devices(placement, "gpu"), nearest_devices(placement, "nic")
    ranks = [
        {
            "rank": rank,
            "host": placement.host_name(rank),
            "slot": slot,
            "cpus": placement.cpus(rank) or None,
            "gpu": gpus[rank],
            "nic": nics[rank],
        }
        for rank, slot in enumerate(placement.slot.tolist())
    ]
    head = json.dumps(
        {"format": "topoloom-ranks", "version": 1, "hosts": placement.hosts}
    )
    body = ",\n".join(map(json.dumps, ranks))
    return f'{head[:-1]}, "ranks": [\n{body}\n]}}\n'


FORMAT = ExportFormat(
    name="json",
    summary="JSON: host, slot, CPUs, nearest GPU and network interface of each rank",
    usage='json.load(open("FILE"))["ranks"]',
    write=write,
    sharing="",
    binds="ranks",
)
