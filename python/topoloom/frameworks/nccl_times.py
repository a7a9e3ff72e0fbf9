# SPDX-License-Identifier: BSD-3-Clause
"""Predicts how long NCCL takes for the traffic of a job on GPUs with NVLink.

NCCL reaches a part of the line rates, which depends on the bytes of a call and on the
algorithm, and a group uses the NICs of all its GPUs. The time of a group is that of
`topoloom.nccl.times`. Groups that share links slow each other down as much as at line
rates. Chains, such as pipeline stages, send at line rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, AxisOrder, MachineText, Placement, mesh_phases
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import View
from topoloom.graphs.phases import add_phases
from topoloom.machines.topology_keys import write_topology
from topoloom.nccl.hardware import Hardware
from topoloom.nccl.times import predict_algorithms
from topoloom.placements import objective_value

#: Least line rate of a GPU's NVLinks in one direction, generation, and the share of the
#: line rate that NCCL counts (2.30, src/graph/topo.h).
_GENERATIONS = (
    (800e9, "blackwell", 40.1 / 50),
    (400e9, "hopper", 20.6 / 25),
    (0.0, "ampere", 20.0 / 25),
)

#: Share of the line rate of a NIC that NCCL counts (src/graph/search.cc).
_NIC_PAYLOAD = 0.96

#: Collective of `Traffic` -> NCCL's operation, and how often it sends its bytes. A ring
#: is an allgather or a reduce_scatter.
_OPERATIONS = {
    "ring": ("allgather", 1),
    "halving": ("allreduce", 2),
    "alltoall": ("alltoall", 1),
}


class NcclTimes:
    """Predicts times of NCCL on the GPUs of an allocation."""

    def __init__(self, allocation: Allocation, domain: int) -> None:
        """`domain` is the number of GPUs per NVLink domain."""
        self.allocation, self.domain = allocation, domain
        self._nvlink_rate, self._nic_rate = _find_rates(allocation, domain)

    def time_order(
        self, order: AxisOrder, views: Sequence[View], traffic: Sequence[Traffic]
    ) -> AxisOrder:
        """Return an order with the seconds of NCCL in place of those at line rates.

        Parameters
        ----------
        order
            The order.
        views, traffic
            The traffic, and for each entry the mesh that has its axes. Members of a
            group are numbered so that the first of its axes varies fastest.
        """
        seconds = [
            taken * self._compare_with_line_rates(order, view, one)
            for taken, view, one in zip(order.seconds, views, traffic, strict=True)
        ]
        return order.with_seconds(seconds)

    def _compare_with_line_rates(
        self, order: AxisOrder, view: View, one: Traffic
    ) -> float:
        """Divide the time of the slowest group alone by its time at line rates."""
        groups = order.slots[_list_groups(view, one.axes)].astype(np.int64)
        ranks = groups.shape[1]
        if ranks == 1 or one.collective not in _OPERATIONS:
            return 1.0
        slowest, taken, domains = 0.0, 0.0, 1
        for group, count in _list_shapes(groups // self.domain):
            alone = self._time_at_line_rates(groups[group], one)
            if alone > slowest:
                slowest, domains = alone, count
                taken = self._time_by_nccl(ranks, domains, one)
        return taken / slowest if slowest else 1.0

    def _time_at_line_rates(self, slots: NDArray[np.int64], one: Traffic) -> float:
        ranks = len(slots)
        phases = mesh_phases([ranks], ([0], one.collective, one.bytes))
        return objective_value(
            add_phases(phases, ranks),
            self.allocation,
            Placement(self.allocation, slots),
            objective="time",
            phases=phases,
        )

    def _time_by_nccl(self, ranks: int, domains: int, one: Traffic) -> float:
        operation, passes = _OPERATIONS[one.collective]
        sent = one.bytes / one.calls / passes
        bytes = round(sent * ranks / (ranks - 1))
        local = -(-ranks // domains)
        return one.calls * _predict_seconds(
            self._nvlink_rate, self._nic_rate, domains, local, operation, bytes
        )


def make_nccl_times(allocation: Allocation) -> NcclTimes | None:
    """Return times of NCCL if the machine has NVLink domains and bandwidths."""
    machine = allocation.machine
    topology = write_topology(MachineText(machine.text))
    if topology["kind"] != "rails" or not machine.has_bandwidths:
        return None
    domain = topology["levels"][0]
    if machine.slots_per_node > 1 or domain == 1:
        return None
    return NcclTimes(allocation, domain)


def _find_rates(allocation: Allocation, domain: int) -> tuple[float, float]:
    """Find the line rates of NVLink and of a NIC; without a link, that of the other."""
    machine = allocation.machine
    slots = allocation.slots.tolist()
    rates: dict[bool, float] = {}
    for is_inside in (True, False):
        for slot in slots[1:]:
            if (slot // domain == slots[0] // domain) == is_inside:
                link, _ = machine.route(slots[0], slot)[0]
                rates[is_inside] = machine.bandwidth(link)
                break
    nvlink, nic = rates.get(True), rates.get(False)
    return nvlink or nic or 1.0, nic or nvlink or 1.0


def _list_groups(view: View, axes: Sequence[str]) -> NDArray[np.int64]:
    """List the ranks of groups; members count along the first of the axes first."""
    sizes = dict(view)
    names = list(sizes)[::-1]
    mesh = np.arange(np.prod(list(sizes.values()))).reshape(list(sizes.values())[::-1])
    along = [names.index(axis) for axis in reversed(axes)]
    across = [axis for axis in range(len(names)) if axis not in along]
    size = int(np.prod([sizes[axis] for axis in axes]))
    groups: NDArray[np.int64] = mesh.transpose(across + along).reshape(-1, size)
    return groups


def _list_shapes(domains: NDArray[np.int64]) -> list[tuple[int, int]]:
    """List groups of different shapes on domains, with their numbers of domains.

    Two groups have the same shape if members are in the same or in another domain than
    their predecessor at the same places.
    """
    changes = np.diff(domains, axis=1) != 0
    _, first = np.unique(changes, axis=0, return_index=True)
    return [(int(group), len(np.unique(domains[group]))) for group in first]


@lru_cache(maxsize=1024)
def _predict_seconds(
    nvlink_rate: float,
    nic_rate: float,
    domains: int,
    local: int,
    operation: str,
    bytes: int,
) -> float:
    """Predict the seconds of a call; each GPU of the group has a NIC."""
    generation, share = next(
        (name, share) for least, name, share in _GENERATIONS if nvlink_rate >= least
    )
    hardware = Hardware(
        generation,
        gpus=local,
        nics=local,
        nvlink_rate=nvlink_rate * share,
        nic_rate=nic_rate * _NIC_PAYLOAD,
        source="line rates of the machine",
        sums_in_switch=generation != "ampere",
    )
    return predict_algorithms(hardware, domains, operation, bytes)[0].seconds
