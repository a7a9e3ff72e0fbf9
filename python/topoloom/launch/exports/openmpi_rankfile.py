# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI rankfile: `rank N=host slot=CORES`, one line for each rank.

Ranks ascend, because Open MPI 4.1 rejects a file in which rank 1 comes before rank 0
on one host. Cores are logical numbers (hwloc's order), as Open MPI since 1.7 has them;
so are hardware threads, which it counts instead with ``--use-hwthread-cpus``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from topoloom.launch.host_placement import PU, HostPlacement

NAME = "openmpi-rankfile"
SUMMARY = "Open MPI: host and cores of each rank"
USE = (
    "mpirun {threads}--rankfile FILE -n {ranks} ./app   "
    "(Open MPI 5: --map-by rankfile:file=FILE{hwtcpus})"
)


def keeps_slots(placed: HostPlacement) -> bool:
    """Tell that it does: it has the core or hardware thread of each rank."""
    return True


def write(placed: HostPlacement) -> str:
    """Write the rankfile; with packages in a node, cores read ``package:core``."""
    slots = _threads(placed) if placed.bind == PU else _cores(placed)
    return "".join(
        f"rank {rank}={placed.name(rank)} slot={slot}\n"
        for rank, slot in enumerate(slots)
    )


def first_threads(placed: HostPlacement) -> list[int]:
    """Count hardware threads over all cores; the first one of each slot."""
    return [0, *itertools.accumulate(len(cpus) for cpus in placed.node.cpus)]


def cores(placed: HostPlacement, rank: int) -> range:
    """Count cores over all packages; those of a rank."""
    first = int(placed.slot[rank]) * placed.cores_per_slot
    return range(first, first + placed.cores_per_slot * placed.slots_per_rank)


def _threads(placed: HostPlacement) -> Iterator[str]:
    first = first_threads(placed)
    return (str(first[slot]) for slot in placed.slot.tolist())


def _cores(placed: HostPlacement) -> Iterator[str]:
    """Write the cores of each rank: ``3``, ``0-3``, or in package 1 ``1:3``."""
    for slot in placed.slot.tolist():
        prefix, core = "", slot
        # Ranks of several slots may reach over packages.
        if placed.packages > 1 and placed.slots_per_rank == 1:
            package, core = divmod(slot, placed.slots_per_node // placed.packages)
            prefix = f"{package}:"
        first = core * placed.cores_per_slot
        last = first + placed.cores_per_slot * placed.slots_per_rank - 1
        yield f"{prefix}{first}" if first == last else f"{prefix}{first}-{last}"
