# SPDX-License-Identifier: BSD-3-Clause
"""Predicts how long NCCL takes for the traffic of a job on GPUs with NVLink.

NCCL reaches a part of the line rates, which depends on the bytes of a call and on the
algorithm, and a group uses the NICs of all its GPUs. The time of a group is that of
`topoloom.nccl.times`. Groups that share links slow each other down as much as at line
rates. Chains, such as pipeline stages, send at line rates.
"""

from __future__ import annotations

from functools import lru_cache

from topoloom._core import Allocation, MachineText
from topoloom.graphs.axes import Traffic
from topoloom.machines.topology_keys import write_topology
from topoloom.nccl.hardware import Hardware
from topoloom.nccl.times import predict_algorithms

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
    """Predicts times of NCCL on the GPUs of an allocation; `GroupTimes` of a search."""

    def __init__(self, allocation: Allocation, domain: int) -> None:
        """`domain` is the number of GPUs per NVLink domain."""
        self.domain = domain
        self._nvlink_rate, self._nic_rate = _find_rates(allocation, domain)

    def predict_seconds(self, one: Traffic, ranks: int, domains: int) -> float:
        """Predict the seconds of a group alone, with ranks in so many domains."""
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
