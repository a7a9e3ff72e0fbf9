# SPDX-License-Identifier: BSD-3-Clause
"""IBM jsrun's explicit resource file (LSF): node, CPUs and GPU of each rank.

Nodes are numbered from 1 in LSF's order, which excludes the launch node here. CPUs are
hardware threads, numbered as by the operating system (`cpu_index_using: physical`).
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import CPUS_REMEDY, HostPlacement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers

NAME = "jsrun-erf"
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


FORMAT = ExportFormat(
    name=NAME,
    summary="LSF with jsrun: node, CPUs and GPU of each rank",
    usage="{variables}jsrun --erf_input FILE ./app",
    write=write,
    binds="ranks",
    sharing="",
    hybrid=HybridOptions(binds=True),
)
