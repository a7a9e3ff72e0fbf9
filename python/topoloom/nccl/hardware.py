# SPDX-License-Identifier: BSD-3-Clause
"""Rates and latencies of GPU machines from data sheets, in SI units.

NVLink rates are from NCCL's topology search (2.30, src/graph/topo.h): payload of all
links of a GPU in one direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from topoloom._core import Error
from topoloom.nccl.tuning import PROTOCOLS
from topoloom.support.name_lookup import describe_unknown_name


@dataclass(frozen=True)
class Hardware:
    """A machine with identical nodes, GPUs and NICs.

    Attributes
    ----------
    generation
        GPU generation: a name from `topoloom.nccl.tuning.GENERATIONS`.
    gpus, nics
        Number of GPUs and NICs per node.
    nvlink_rate, nic_rate
        Bytes per second of one GPU's NVLinks, and of one NIC, in one direction.
    net_latency_s
        Latency in seconds that a network plugin adds per message; 0 for InfiniBand.
    post_s
        CPU seconds to post an inter-node message: 1 us with Intel CPUs, 2 us with AMD
        CPUs.
    amd
        Whether the nodes have AMD CPUs, which slow down small inter-node messages.
    sums_in_switch
        Whether NVSwitches can reduce data (NVLS).
    protocols
        Subset of `topoloom.nccl.tuning.PROTOCOLS` that the vendor's settings allow.
    slowness Factor by which the time of a launch and of a step exceeds NCCL's
    constants. source
        Source of the rates, as a citation.
    """

    generation: str
    gpus: int
    nics: int
    nvlink_rate: float
    nic_rate: float
    source: str
    net_latency_s: float = 0.0
    post_s: float = 1e-6
    amd: bool = False
    sums_in_switch: bool = False
    protocols: tuple[str, ...] = PROTOCOLS
    slowness: float = 1.0

    def __post_init__(self) -> None:
        for what in ("gpus", "nics", "nvlink_rate", "nic_rate", "slowness"):
            if not getattr(self, what) > 0:
                raise Error(
                    f"{what} of a machine is {getattr(self, what)}, not above 0"
                )
        if not set(self.protocols) <= set(PROTOCOLS) or not self.protocols:
            raise Error(
                f"protocols of a machine are {self.protocols}, not of {PROTOCOLS}"
            )

    def with_changes(self, **changes: object) -> Hardware:
        """Return a copy with changed attributes."""
        return replace(self, **changes)  # type: ignore[arg-type]


_GBIT = 1e9 / 8
#: NCCL assumes 48 GB/s for 400 Gbit/s, 24 for 200 and 12 for 100 (src/graph/search.cc).
_PAYLOAD = 0.96

MACHINES = {
    "dgx-a100": Hardware(
        "ampere",
        8,
        8,
        12 * 20.0e9,
        200 * _GBIT * _PAYLOAD,
        "DGX A100 data sheet: 12 NVLinks per GPU, 8 x 200 Gbit/s",
        post_s=2e-6,
        amd=True,
    ),
    "dgx-h100": Hardware(
        "hopper",
        8,
        8,
        18 * 20.6e9,
        400 * _GBIT * _PAYLOAD,
        "DGX H100 data sheet: 18 NVLinks per GPU, 8 x 400 Gbit/s",
        sums_in_switch=True,
    ),
    "hgx-b200": Hardware(
        "blackwell",
        8,
        8,
        18 * 40.1e9,
        400 * _GBIT * _PAYLOAD,
        "HGX B200 data sheet: 18 NVLinks per GPU, 8 x 400 Gbit/s",
        sums_in_switch=True,
    ),
    "p4de": Hardware(
        "ampere",
        8,
        4,
        12 * 20.0e9,
        100 * _GBIT * _PAYLOAD,
        "Amazon EC2 p4de.24xlarge: 4 x 100 Gbit/s; latency of aws-ofi-nccl, "
        "src/platform-aws.cpp",
        net_latency_s=75e-6,
    ),
    "p5": Hardware(
        "hopper",
        8,
        32,
        18 * 20.6e9,
        100 * _GBIT * _PAYLOAD,
        "Amazon EC2 p5.48xlarge: 32 x 100 Gbit/s; latency of aws-ofi-nccl's tuner, "
        "include/nccl_ofi_param.h",
        net_latency_s=20e-6,
        post_s=2e-6,
        amd=True,
        sums_in_switch=True,
    ),
    "a3-mega": Hardware(
        "hopper",
        8,
        8,
        18 * 20.6e9,
        200 * _GBIT * _PAYLOAD,
        "Google Cloud a3-megagpu-8g: 8 x 200 Gbit/s; NCCL_ALGO=Ring,Tree and "
        "NCCL_PROTO=Simple of its GPUDirect-TCPXO",
        protocols=("Simple",),
    ),
}


def find_hardware(name: str) -> Hardware:
    """Find a GPU machine by its name in `MACHINES`.

    Raises
    ------
    topoloom.Error
        If the name is unknown.
    """
    if name not in MACHINES:
        raise Error(describe_unknown_name("machine of GPUs", name, MACHINES))
    return MACHINES[name]
