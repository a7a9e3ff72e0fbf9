# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI rankfile: `rank N=host slot=CORES`, one line for each rank.

Ranks ascend: Open MPI 4.1 rejects a file in which rank 1 comes before rank 0 on one
host. Cores have logical numbers (hwloc's order), as in Open MPI since 1.7. With
``--use-hwthread-cpus``, hardware threads are numbered instead.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import PU, HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
    order_by_rank,
)
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.units import counted

NAME = "openmpi-rankfile"
#: The first core of a rank: ``3``, ``0-3`` or ``1:3``.
_LINE = re.compile(
    r"rank\s+([0-9]{1,9})\s*=\s*(\S+)\s+slots?\s*=\s*"
    r"((?:[0-9]{1,7}:)?[0-9]{1,7})[-,:0-9]*"
)


def write(placement: HostPlacement) -> str:
    """Write the rankfile; if nodes have packages, cores are ``package:core``."""
    slots = (
        _list_threads(placement) if placement.bind == PU else _format_cores(placement)
    )
    return "".join(
        f"rank {rank}={placement.host_name(rank)} slot={slot}\n"
        for rank, slot in enumerate(slots)
    )


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``rank N=host slot=CORES``; ``+n2`` is the third host."""

    def read_line(number: int, line: str) -> tuple[int, RankLocation]:
        match = _LINE.fullmatch(line)
        if not match:
            raise Error(f"line {number}: expected 'rank N=HOST slot=CORES'")
        rank, name, cores = int(match[1]), match[2], match[3]
        relative = re.fullmatch(r"\+n([0-9]{1,7})", name)
        host = int(relative[1]) if relative else find_host(job, name)
        if host >= len(job.hosts):
            raise Error(f"line {number}: the allocation has no host {name}")
        package, _, core = cores.rpartition(":")
        slot = int(core)
        if package:
            slot += int(package) * int(
                job.slots_of_host[host] // job.packages_of_host[host]
            )
        return rank, RankLocation(host, slot)

    listed = (read_line(*each) for each in list_numbered_lines(text))
    return order_by_rank(listed, ranks)


def list_first_threads(node: NodeParts) -> list[int]:
    """For each slot, list its first hardware thread, numbered over the node."""
    return [0, *itertools.accumulate(len(cpus) for cpus in node.cpus)]


def list_rank_cores(placement: HostPlacement, rank: int) -> range:
    """List the cores of a rank, numbered over the node."""
    first = int(placement.slot[rank]) * placement.cores_per_slot
    return range(first, first + placement.cores_per_slot * placement.slots_per_rank)


def _list_threads(placement: HostPlacement) -> Iterator[str]:
    first = {id(node): list_first_threads(node) for node in placement.parts_of_host}
    of_host = [first[id(node)] for node in placement.parts_of_host]
    pairs = zip(placement.host.tolist(), placement.slot.tolist(), strict=True)
    return (str(of_host[host][slot]) for host, slot in pairs)


def _format_cores(placement: HostPlacement) -> Iterator[str]:
    """Format the cores of each rank: ``3``, ``0-3``, or ``1:3`` in package 1."""
    packages = placement.packages_of_host.tolist()
    cores_of = (placement.slots_of_host // placement.packages_of_host).tolist()
    for host, slot in zip(
        placement.host.tolist(), placement.slot.tolist(), strict=True
    ):
        prefix, core = "", slot
        # A rank of several slots may span packages.
        if packages[host] > 1 and placement.slots_per_rank == 1:
            package, core = divmod(slot, cores_of[host])
            prefix = f"{package}:"
        first = core * placement.cores_per_slot
        last = first + placement.cores_per_slot * placement.slots_per_rank - 1
        yield f"{prefix}{first}" if first == last else f"{prefix}{first}-{last}"


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    by_thread = placement.bind == PU
    return {
        "hwthreads": "--use-hwthread-cpus " if by_thread else "",
        "hwtcpus": ":hwtcpus" if by_thread else "",
        "oversubscribe": ":oversubscribe" if placement.shares_slots else "",
    }


def _describe_special_loss(placement: HostPlacement) -> str | None:
    if placement.machine.nodes_per_host == 1 or placement.node.cpus:
        return None
    return (
        f"{NAME} names cores, not GPUs: the slots of a host are its GPUs, and each is "
        f"written as {counted(placement.cores_per_slot, 'core')} (--cores-per-slot); "
        "torchrun, bindings and json name GPUs"
    )


def _describe_required_version(placement: HostPlacement) -> str | None:
    if not placement.shares_slots:
        return None
    return (
        "Open MPI 4 binds ranks that share cores to them, Open MPI 5 does not bind them"
    )


FORMAT = ExportFormat(
    name=NAME,
    summary="Open MPI: host and cores of each rank",
    usage=(
        "mpirun {hwthreads}{variables}{sharing}--rankfile FILE -n {ranks} ./app   "
        "(Open MPI 5: --map-by rankfile:file=FILE{hwtcpus}{oversubscribe})"
    ),
    write=write,
    usage_values=_get_usage_values,
    binds="ranks",
    starts_with=r"rank\s+[0-9]+\s*=",
    read=read,
    sharing="--oversubscribe",
    relies_on=_describe_required_version,
    hybrid=HybridOptions("-x {name}={value}", binds=True),
    special_loss=_describe_special_loss,
)
