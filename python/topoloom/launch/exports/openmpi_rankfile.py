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
from topoloom.nodes.node_parts import NodeParts

NAME = "openmpi-rankfile"
SUMMARY = "Open MPI: host and cores of each rank"
USE = (
    "mpirun {threads}--rankfile FILE -n {ranks} ./app   "
    "(Open MPI 5: --map-by rankfile:file=FILE{hwtcpus})"
)


def keeps_slots(placement: HostPlacement) -> bool:
    """Return True: it has the core or hardware thread of each rank."""
    return True


def write(placement: HostPlacement) -> str:
    """Write the rankfile; with packages in a node, cores read ``package:core``."""
    slots = _threads(placement) if placement.bind == PU else _cores(placement)
    return "".join(
        f"rank {rank}={placement.name(rank)} slot={slot}\n"
        for rank, slot in enumerate(slots)
    )


def first_threads(node: NodeParts) -> list[int]:
    """Count hardware threads over all cores; the first one of each slot."""
    return [0, *itertools.accumulate(len(cpus) for cpus in node.cpus)]


def cores(placement: HostPlacement, rank: int) -> range:
    """Count cores over all packages; those of a rank."""
    first = int(placement.slot[rank]) * placement.cores_per_slot
    return range(first, first + placement.cores_per_slot * placement.slots_per_rank)


def _threads(placement: HostPlacement) -> Iterator[str]:
    first = {id(node): first_threads(node) for node in placement.parts_of_host}
    of_host = [first[id(node)] for node in placement.parts_of_host]
    pairs = zip(placement.host.tolist(), placement.slot.tolist(), strict=True)
    return (str(of_host[host][slot]) for host, slot in pairs)


def _cores(placement: HostPlacement) -> Iterator[str]:
    """Write the cores of each rank: ``3``, ``0-3``, or in package 1 ``1:3``."""
    packages = placement.packages_of_host.tolist()
    cores_of = (placement.slots_of_host // placement.packages_of_host).tolist()
    for host, slot in zip(
        placement.host.tolist(), placement.slot.tolist(), strict=True
    ):
        prefix, core = "", slot
        # Ranks of several slots may reach over packages.
        if packages[host] > 1 and placement.slots_per_rank == 1:
            package, core = divmod(slot, cores_of[host])
            prefix = f"{package}:"
        first = core * placement.cores_per_slot
        last = first + placement.cores_per_slot * placement.slots_per_rank - 1
        yield f"{prefix}{first}" if first == last else f"{prefix}{first}-{last}"
