# SPDX-License-Identifier: BSD-3-Clause
"""Plain list: the slot number of each rank, one line per rank."""

from __future__ import annotations

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement


def write(placement: HostPlacement) -> str:
    """Write one slot number per line; line i is rank i."""
    return "".join(f"{slot}\n" for slot in placement.machine_slot.tolist())


FORMAT = ExportFormat(
    name="list",
    summary="plain text: the machine's slot of each rank, one per line",
    usage='numpy.loadtxt("FILE", dtype=int)',
    write=write,
    sharing="",
)
