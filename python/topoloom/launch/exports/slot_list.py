# SPDX-License-Identifier: BSD-3-Clause
"""Plain list: the machine's slot of each rank, one line per rank."""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement

NAME = "list"
SUMMARY = "plain text: the machine's slot of each rank, one per line"
USE = 'numpy.loadtxt("FILE", dtype=int)'


def keeps_slots(placement: HostPlacement) -> bool:
    """Return True: it has the slot of each rank."""
    return True


def write(placement: HostPlacement) -> str:
    """Write one slot for each rank; line i is rank i."""
    return "".join(f"{slot}\n" for slot in placement.machine_slot.tolist())
