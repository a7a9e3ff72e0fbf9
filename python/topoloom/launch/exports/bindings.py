# SPDX-License-Identifier: BSD-3-Clause
"""Plain table for scripts: host, slot, CPUs, nearest GPU and NIC of each rank.

Columns are separated by a space; ``-`` stands for unknown. CPUs are numbered as by the
operating system and ``taskset -c``.
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
    order_by_rank,
)
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.plain_text import is_number


def write(placement: HostPlacement) -> str:
    """Write a header line with column names, then one line per rank."""
    gpus, nics = nearest_devices(placement, "gpu"), nearest_devices(placement, "nic")
    lines = ["# rank host slot cpus gpu nic\n"]
    for rank, slot in enumerate(placement.slot.tolist()):
        cpus = compress_ranges(placement.cpus(rank)) or "-"
        gpu, nic = gpus[rank] or "-", nics[rank] or "-"
        lines.append(f"{rank} {placement.host_name(rank)} {slot} {cpus} {gpu} {nic}\n")
    return "".join(lines)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the rank, host and slot of each line."""
    listed = []
    for number, line in list_numbered_lines(text):
        words = line.split()
        if len(words) < 3 or not is_number(words[0]) or not is_number(words[2]):
            raise Error(f"line {number}: expected 'RANK HOST SLOT ...'")
        location = RankLocation(find_host(job, words[1]), int(words[2]))
        listed.append((int(words[0]), location))
    return order_by_rank(listed, ranks)


FORMAT = ExportFormat(
    name="bindings",
    summary="plain text: rank, host, slot, CPUs, nearest GPU and network interface",
    usage="awk -v r=\"$RANK\" '$1 == r' FILE   (rank host slot cpus gpu nic)",
    write=write,
    selects_gpus=lambda _: True,
    starts_with=r"# rank host slot|[0-9]+\s+\S+\s+[0-9]+\s+\S+\s+\S+\s+\S+$",
    read=read,
    sharing="",
    binds="ranks",
    is_for_launchers=False,
)
