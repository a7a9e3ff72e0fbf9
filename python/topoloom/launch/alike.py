# SPDX-License-Identifier: BSD-3-Clause
"""What the i-th rank of every host has, for launchers with one list for all hosts.

``srun --cpu-bind``, ``--gpu-bind`` and Flux's ``cpu-affinity=map:`` take entry i for
the i-th rank of each host, in rank order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_gpu_numbers
from topoloom.support.number_ranges import compress_ranges

T = TypeVar("T")


def alike(placement: HostPlacement, of_rank: Callable[[int], T]) -> list[T] | None:
    """List `of_rank` of the ranks of the fullest host; None if another host differs."""
    listed = [of_rank(rank) for rank in max(placement.ranks_of_hosts(), key=len)]
    for ranks in placement.ranks_of_hosts():
        if any(of_rank(r) != entry for r, entry in zip(ranks, listed, strict=False)):
            return None
    return listed


def bound_alike(placement: HostPlacement) -> list[tuple[int, ...]] | None:
    """List the CPUs for the i-th rank of every host; None if hosts differ."""
    return None if placement.bind is None else alike(placement, placement.cpus)


def srun_cpu_bind(placement: HostPlacement) -> str | None:
    """Write ``map_cpu:0,2`` or ``mask_cpu:0x3,0xc``; None if hosts differ."""
    listed = bound_alike(placement)
    if listed is None:
        return None
    if all(len(cpus) == 1 for cpus in listed):
        return "map_cpu:" + ",".join(str(cpus[0]) for cpus in listed)
    return "mask_cpu:" + ",".join(f"{cpu_mask(cpus):#x}" for cpus in listed)


def srun_gpu_bind(placement: HostPlacement) -> str | None:
    """Write ``map_gpu:0,1``; None if hosts differ or have no numbered GPUs."""
    listed = _gpus(placement)
    return None if listed is None else "map_gpu:" + ",".join(map(str, listed))


def flux_affinity(placement: HostPlacement) -> list[str]:
    """Write Flux's options, such as ``-o cpu-affinity=map:0,4;1,5``, as words."""
    options = []
    cpus = bound_alike(placement)
    if cpus is not None:
        options += ["-o", "cpu-affinity=map:" + ";".join(map(compress_ranges, cpus))]
    gpus = _gpus(placement)
    if gpus is not None:
        options += ["-o", "gpu-affinity=map:" + ";".join(map(str, gpus))]
    return options


def cpu_mask(cpus: tuple[int, ...]) -> int:
    """Set a bit for each CPU."""
    return sum(1 << cpu for cpu in cpus)


def _gpus(placement: HostPlacement) -> list[int] | None:
    if placement.bind is None:
        return None
    numbers = nearest_gpu_numbers(placement)
    return None if numbers is None else alike(placement, numbers.__getitem__)
