# SPDX-License-Identifier: BSD-3-Clause
"""Binding lists for launchers that use the same list on every host.

``srun --cpu-bind``, ``--gpu-bind`` and Flux's ``cpu-affinity=map:`` bind the i-th rank
of each host, counted in rank order, to entry i.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers
from topoloom.support.number_ranges import compress_ranges

T = TypeVar("T")


def find_uniform_cpus(placement: HostPlacement) -> list[tuple[int, ...]] | None:
    """List the CPUs for the i-th rank of each host; None if unbound or hosts differ.

    Each host with ranks must have all these CPUs: Slurm checks the whole list.
    """
    if placement.bind is None:
        return None
    cpus = _find_uniform_values(placement.ranks_of_hosts(), placement.cpus)
    return None if cpus is None or _lacks_cpus(placement, cpus) else cpus


def find_uniform_gpus(placement: HostPlacement) -> list[int] | None:
    """List the GPU for the i-th rank of each host; None if unknown or hosts differ."""
    numbers = list_nearest_gpu_numbers(placement)
    return (
        None
        if numbers is None
        else _find_uniform_values(placement.ranks_of_hosts(), numbers.__getitem__)
    )


def can_bind_uniformly(placement: HostPlacement) -> bool:
    """Return whether all hosts have the same CPU list, or need none."""
    return find_uniform_cpus(placement) is not None or placement.fills_in_rank_order()


def make_cpu_mask(cpus: tuple[int, ...]) -> int:
    """Return a bit mask of CPUs."""
    return sum(1 << cpu for cpu in cpus)


def format_cpu_lists(cpus: list[tuple[int, ...]], separator: str) -> str:
    """Format the CPUs of ranks as ascending ranges, such as ``0-1,8-9;2-3,10-11``."""
    return separator.join(compress_ranges(sorted(each)) for each in cpus)


def list_mask_cpus(mask: int) -> tuple[int, ...]:
    """List the CPUs of a bit mask, the inverse of `make_cpu_mask`."""
    return tuple(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def _lacks_cpus(placement: HostPlacement, cpus: list[tuple[int, ...]]) -> bool:
    """Return whether a host with ranks lacks one of these CPUs."""
    used = np.unique(placement.host).tolist()
    known = {
        id(parts): parts for parts in map(placement.parts_of_host.__getitem__, used)
    }
    wanted = set(itertools.chain(*cpus))
    return any(
        not wanted <= set(itertools.chain(*parts.cpus)) for parts in known.values()
    )


def find_cpus_in_slot_order(placement: HostPlacement) -> list[tuple[int, ...]] | None:
    """List the CPUs of the i-th rank of each host by its slot; None if hosts differ."""
    hosts = placement.ranks_of_hosts()
    for ranks in hosts:
        ranks.sort(key=placement.slot.__getitem__)
    return _find_uniform_values(hosts, placement.cpus)


def _find_uniform_values(
    hosts: list[list[int]], value_of: Callable[[int], T]
) -> list[T] | None:
    """List the values of the host with the most ranks; None if another host differs."""
    listed = [value_of(rank) for rank in max(hosts, key=len)]
    for ranks in hosts:
        if any(value_of(r) != entry for r, entry in zip(ranks, listed, strict=False)):
            return None
    return listed
