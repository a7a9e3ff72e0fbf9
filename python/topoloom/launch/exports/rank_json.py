# SPDX-License-Identifier: BSD-3-Clause
"""JSON for programs: host, slot, CPUs, nearest GPU and NIC of each rank."""

from __future__ import annotations

import json

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices
from topoloom.launch.rank_location import RankLocation, find_host, order_by_rank
from topoloom.support.json_values import get_value, parse_document

NAME = "topoloom-ranks"


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
    head = json.dumps({"format": NAME, "version": 1, "hosts": placement.hosts})
    body = ",\n".join(map(json.dumps, ranks))
    return f'{head[:-1]}, "ranks": [\n{body}\n]}}\n'


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the document that `write` writes."""
    listed = []
    for entry in get_value(parse_document(text, NAME, 1), "ranks", list):
        if not isinstance(entry, dict):
            raise Error("ranks must be objects")
        host = find_host(job, get_value(entry, "host", str))
        slot = get_value(entry, "slot", int)
        listed.append((get_value(entry, "rank", int), RankLocation(host, slot)))
    return order_by_rank(listed, ranks)


FORMAT = ExportFormat(
    name="json",
    summary="JSON: host, slot, CPUs, nearest GPU and network interface of each rank",
    usage='json.load(open("FILE"))["ranks"]',
    write=write,
    selects_gpus=lambda _: True,
    starts_with=r'\{"format": "topoloom-ranks"',
    read=read,
    sharing="",
    binds="ranks",
    is_for_launchers=False,
)
