# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's torchrun: a line for each host, in the order of its `--node-rank`.

torchrun numbers the ranks of a node consecutively, and its process i of a node takes
the i-th of CUDA_VISIBLE_DEVICES. Slots are GPUs, unless the machine names its GPUs.
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.consecutive import consecutive_runs
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import nearest_gpu_numbers

NAME = "torchrun"
SUMMARY = "PyTorch: node rank, host, ranks and GPUs of each host"
USE = (
    "read -r node host ranks gpus < <(awk -v h=$(hostname) '$2 == h' FILE); "
    "CUDA_VISIBLE_DEVICES=$gpus torchrun --nnodes {nodes} --node-rank $node "
    "--nproc-per-node $ranks --master-addr {first_host} train.py   (on each host)"
)


def keeps_slots(placement: HostPlacement) -> bool:
    """Return True: it has the GPU of each rank."""
    return True


def write(placement: HostPlacement) -> str:
    """Write the table; raise `topoloom.Error` where ranks of a host are apart."""
    runs = consecutive_runs(
        placement,
        "torchrun",
        "export to bindings or json and start each rank with RANK and LOCAL_RANK set, "
        "or to slurm-hostfile for srun",
    )
    gpus = nearest_gpu_numbers(placement) or placement.slot.tolist()
    lines, rank = ["# node_rank host nproc_per_node cuda_visible_devices\n"], 0
    for node, (host, count) in enumerate(runs):
        devices = gpus[rank : rank + count]
        if len(set(devices)) < count:
            raise Error(
                f"torchrun starts one rank for each GPU, but ranks {rank} to "
                f"{rank + count - 1} on host '{placement.hosts[host]}' are nearest to "
                f"{len(set(devices))} GPUs; place fewer ranks on a node"
            )
        lines.append(
            f"{node} {placement.hosts[host]} {count} {','.join(map(str, devices))}\n"
        )
        rank += count
    return "".join(lines)
