# SPDX-License-Identifier: BSD-3-Clause
"""Plain list: the slot number of each rank, one line per rank."""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation, list_numbered_lines
from topoloom.support.plain_text import is_number


def write(placement: HostPlacement) -> str:
    """Write one slot number per line; line i is rank i."""
    return "".join(f"{slot}\n" for slot in placement.machine_slot.tolist())


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read one slot number of the machine per line; line i is rank i."""
    place_of = {
        slot: RankLocation(host, local)
        for slot, host, local in zip(
            job.machine_slot.tolist(), job.host.tolist(), job.slot.tolist(), strict=True
        )
    }
    located = []
    for number, line in list_numbered_lines(text):
        if not is_number(line) or int(line) not in place_of:
            raise Error(f"line {number}: '{line[:40]}' is no slot of the allocation")
        located.append(place_of[int(line)])
    return located[:ranks]


FORMAT = ExportFormat(
    name="list",
    summary="plain text: the machine's slot of each rank, one per line",
    usage='numpy.loadtxt("FILE", dtype=int)',
    write=write,
    selects_gpus=lambda _: True,
    starts_with=r"[0-9]+$",
    read=read,
    sharing="",
    is_for_launchers=False,
)
