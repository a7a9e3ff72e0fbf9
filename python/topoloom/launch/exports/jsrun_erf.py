# SPDX-License-Identifier: BSD-3-Clause
"""IBM jsrun's explicit resource file (LSF): node, CPUs and GPU of each rank.

Nodes are numbered from 1 in LSF's order, which excludes the launch node here. CPUs are
hardware threads, numbered as by the operating system (`cpu_index_using: physical`).
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import CPUS_REMEDY, HostPlacement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers
from topoloom.launch.rank_location import (
    RankLocation,
    find_slot_of_cpu,
    find_slot_of_thread,
    list_numbered_lines,
    order_by_rank,
)

NAME = "jsrun-erf"
_LINE = re.compile(
    r"rank:\s*([0-9]{1,9})\s*:\s*\{\s*host:\s*([0-9]{1,7})\s*;\s*cpu:\s*\{([0-9]{1,7})"
)
_NUMBERING = re.compile(r"^\s*cpu_index_using\s*:\s*(logical|physical)", re.MULTILINE)
# Ranks with the same nearest GPU share it.
_HEAD = "cpu_index_using: physical\noverlapping_rs: allow\noversubscribe_gpu: allow\n"


def write(placement: HostPlacement) -> str:
    """Write one resource set per rank; raise `topoloom.Error` if CPUs are unknown."""
    if not all(parts.cpus for parts in placement.parts_of_host):
        raise Error(
            f"{NAME} requires CPUs, but the machine has no CPUs of its slots; "
            f"{CPUS_REMEDY}"
        )
    gpus = list_nearest_gpu_numbers(placement)
    lines = [_HEAD]
    for rank, host in enumerate(placement.host.tolist()):
        gpu = "" if gpus is None else f" ; gpu: {{{gpus[rank]}}}"
        cpus = ",".join(map(str, placement.cpus(rank)))
        lines.append(f"rank: {rank}: {{ host: {host + 1}; cpu: {{{cpus}}}{gpu} }}\n")
    return "".join(lines)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``rank: N: { host: H; cpu: {CPUS} }`` .

    Physical CPUs are numbered as by the system, logical ones in the order of slots.
    """
    numbering = _NUMBERING.search(text)
    if not numbering:
        raise Error("'cpu_index_using: logical' or 'physical' is missing")
    is_logical = numbering[1] == "logical"
    find_slot = find_slot_of_thread if is_logical else find_slot_of_cpu
    listed = []
    for number, line in list_numbered_lines(text):
        if not line.startswith("rank:"):
            continue
        match = _LINE.match(line)
        if not match:
            raise Error(
                f"line {number}: expected 'rank: N: {{ host: H; cpu: {{CPUS}} }}'"
            )
        host = int(match[2]) - 1
        if not 0 <= host < len(job.hosts):
            raise Error(f"line {number}: the allocation has no host {match[2]}")
        slot = find_slot(job, host, int(match[3]))
        listed.append((int(match[1]), RankLocation(host, slot)))
    return order_by_rank(listed, ranks)


FORMAT = ExportFormat(
    name=NAME,
    summary="LSF with jsrun: node, CPUs and GPU of each rank",
    usage="{variables}jsrun --erf_input FILE ./app",
    write=write,
    selects_gpus=lambda _: True,
    binds="ranks",
    starts_with=r"cpu_index_using|overlapping_rs|rank:",
    read=read,
    sharing="",
    hybrid=HybridOptions(binds=True),
)
