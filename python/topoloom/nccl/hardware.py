# SPDX-License-Identifier: BSD-3-Clause
"""Documented rates and latencies of GPU machines, in SI units.

Rates of NVLink are those of NCCL's search (2.30, src/graph/topo.h): payload in one
direction of all links of a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from topoloom._core import Error
from topoloom.nccl.tuning import PROTOCOLS
from topoloom.support.nearest import unknown_name


@dataclass(frozen=True)
class Hardware:
    """Nodes with identical GPUs and NICs.

    Attributes
    ----------
    generation
        GPU generation: a name from `topoloom.nccl.tuning.GENERATIONS`.
    gpus, nics
        Number of GPUs and NICs per node.
    nvlink_rate, nic_rate
        Bytes per second of one GPU's NVLinks, and of one NIC, in one direction.
    net_latency_s
        Added to each message by a network plugin; 0 for InfiniBand.
    post_s
        CPU time to post a message between nodes: 1 us with Intel's CPUs, 2 us with
        AMD's.
    amd
        Whether CPUs are AMD's, with which small messages between nodes are slower.
    sums_in_switch
        Whether NVSwitches sum (NVLS).
    protocols
        Those of `topoloom.nccl.tuning.PROTOCOLS` that the vendor's settings allow.
    slowness
        Time of a launch and a step relative to NCCL's constants.
    source
        Source of the rates.
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
        """Return a copy with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]


_GBIT = 1e9 / 8
#: NCCL counts 48 GB/s for 400 Gbit/s, 24 for 200 and 12 for 100 (src/graph/search.cc).
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
    """Find a machine by its name in `MACHINES`.

    Raises
    ------
    topoloom.Error
        For an unknown name.
    """
    if name not in MACHINES:
        raise Error(unknown_name("machine of GPUs", name, MACHINES))
    return MACHINES[name]
