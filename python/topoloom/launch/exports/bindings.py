# SPDX-License-Identifier: BSD-3-Clause
"""Plain table for scripts: host, slot, CPUs, nearest GPU and interface of each rank.

Columns are separated by a space; what is not known is ``-``. CPUs are numbered as the
system does, so that ``taskset -c`` and the like take them.
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_devices
from topoloom.support.number_ranges import compress_ranges

NAME = "bindings"
SUMMARY = "plain text: rank, host, slot, CPUs, nearest GPU and network interface"
USE = "awk -v r=\"$RANK\" '$1 == r' FILE   (rank host slot cpus gpu nic)"


def keeps_slots(placement: HostPlacement) -> bool:
    """Return True: slots are listed in the table."""
    return True


def write(placement: HostPlacement) -> str:
    """Write a line of titles, then one line per rank."""
    gpus, nics = nearest_devices(placement, "gpu"), nearest_devices(placement, "nic")
    lines = ["# rank host slot cpus gpu nic\n"]
    for rank, slot in enumerate(placement.slot.tolist()):
        cpus = compress_ranges(placement.cpus(rank)) or "-"
        gpu, nic = gpus[rank] or "-", nics[rank] or "-"
        lines.append(f"{rank} {placement.name(rank)} {slot} {cpus} {gpu} {nic}\n")
    return "".join(lines)
