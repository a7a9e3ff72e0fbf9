# SPDX-License-Identifier: BSD-3-Clause
"""CPUs and GPUs of the i-th rank of every host, for launchers with one list for all.

``srun --cpu-bind``, ``--gpu-bind`` and Flux's ``cpu-affinity=map:`` take entry i for
the i-th rank of each host, in rank order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_gpu_numbers

T = TypeVar("T")


def uniform_cpus(placement: HostPlacement) -> list[tuple[int, ...]] | None:
    """List the CPUs to bind to; None if hosts differ or ranks are not to be bound."""
    return None if placement.bind is None else _uniform(placement, placement.cpus)


def uniform_gpus(placement: HostPlacement) -> list[int] | None:
    """List GPU numbers; None if hosts differ, or nothing is to be bound or numbered."""
    numbers = None if placement.bind is None else nearest_gpu_numbers(placement)
    return None if numbers is None else _uniform(placement, numbers.__getitem__)


def can_bind_uniformly(placement: HostPlacement) -> bool:
    """Return whether one list of CPUs serves all hosts, or no slots need naming."""
    return uniform_cpus(placement) is not None or placement.fills_in_rank_order()


def cpu_mask(cpus: tuple[int, ...]) -> int:
    """Set a bit for each CPU."""
    return sum(1 << cpu for cpu in cpus)


def _uniform(placement: HostPlacement, value_of: Callable[[int], T]) -> list[T] | None:
    """List the values for the fullest host; None if another host differs."""
    hosts = placement.ranks_of_hosts()
    listed = [value_of(rank) for rank in max(hosts, key=len)]
    for ranks in hosts:
        if any(value_of(r) != entry for r, entry in zip(ranks, listed, strict=False)):
            return None
    return listed
