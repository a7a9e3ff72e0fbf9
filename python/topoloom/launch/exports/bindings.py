# SPDX-License-Identifier: BSD-3-Clause
"""Plain table for scripts: host, slot, CPUs, nearest GPU and NIC of each rank.

Columns are separated by a space; ``-`` stands for unknown. CPUs are numbered as by the
operating system and ``taskset -c``.
"""

from __future__ import annotations

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices
from topoloom.support.number_ranges import compress_ranges


def write(placement: HostPlacement) -> str:
    """Write a header line with column names, then one line per rank."""
    gpus, nics = nearest_devices(placement, "gpu"), nearest_devices(placement, "nic")
    lines = ["# rank host slot cpus gpu nic\n"]
    for rank, slot in enumerate(placement.slot.tolist()):
        cpus = compress_ranges(placement.cpus(rank)) or "-"
        gpu, nic = gpus[rank] or "-", nics[rank] or "-"
        lines.append(f"{rank} {placement.host_name(rank)} {slot} {cpus} {gpu} {nic}\n")
    return "".join(lines)


FORMAT = ExportFormat(
    name="bindings",
    summary="plain text: rank, host, slot, CPUs, nearest GPU and network interface",
    usage="awk -v r=\"$RANK\" '$1 == r' FILE   (rank host slot cpus gpu nic)",
    write=write,
    sharing="",
    binds="ranks",
)
