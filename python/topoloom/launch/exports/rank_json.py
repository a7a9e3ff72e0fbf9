# SPDX-License-Identifier: BSD-3-Clause
"""JSON for programs: host, slot, CPUs, nearest GPU and interface of each rank."""

from __future__ import annotations

import json

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices

NAME = "json"
SUMMARY = "JSON: host, slot, CPUs, nearest GPU and network interface of each rank"
USE = 'json.load(open("FILE"))["ranks"]'


def keeps_slots(placement: HostPlacement) -> bool:
    """Return True: slots are listed in it."""
    return True


def write(placement: HostPlacement) -> str:
    """Write the document, one rank per line; what is not known is null."""
    gpus, nics = nearest_devices(placement, "gpu"), nearest_devices(placement, "nic")
    ranks = [
        {
            "rank": rank,
            "host": placement.name(rank),
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
