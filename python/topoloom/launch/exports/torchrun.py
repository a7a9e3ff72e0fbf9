# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's torchrun: one line per host, in the order of `--node-rank`.

torchrun numbers the ranks of a node consecutively, and process i of a node uses entry i
of CUDA_VISIBLE_DEVICES. Slots are GPUs, unless the machine names its GPUs.
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers

RELIES_ON = (
    "only static rendezvous numbers hosts by --node-rank; c10d and etcd sort them by "
    "their addresses"
)


def write(placement: HostPlacement) -> str:
    """Write the table of hosts and GPUs; errors are those of `list_nodes`."""
    lines = ["# node_rank host nproc_per_node cuda_visible_devices\n"]
    for node, (host, devices) in enumerate(list_nodes(placement)):
        gpus = ",".join(map(str, devices))
        lines.append(f"{node} {host} {len(devices)} {gpus}\n")
    return "".join(lines)


def list_nodes(placement: HostPlacement) -> list[tuple[str, list[int]]]:
    """List the hosts in rank order, each with the GPUs of its ranks.

    Raises
    ------
    topoloom.Error
        If the ranks of a host are not consecutive, or two ranks have the same nearest
        GPU.
    """
    runs = placement.require_one_run_per_host(
        "torchrun",
        "export to bindings or json and start each rank with RANK and LOCAL_RANK set, "
        "or to slurm-hostfile for srun; or place the job by 'topoloom ai axes "
        "--framework NAME --to name -o FILE', which leaves ranks on their slots",
    )
    gpus = list_nearest_gpu_numbers(placement) or placement.slot.tolist()
    rows, rank = [], 0
    for host, count in runs:
        devices = gpus[rank : rank + count]
        if len(set(devices)) < count:
            raise Error(
                f"torchrun starts one rank for each GPU, but ranks {rank} to "
                f"{rank + count - 1} on host '{placement.hosts[host]}' are nearest to "
                f"{len(set(devices))} GPUs; place fewer ranks on a node"
            )
        rows.append((placement.hosts[host], devices))
        rank += count
    return rows


FORMAT = ExportFormat(
    name="torchrun",
    summary="PyTorch: node rank, host, ranks and GPUs of each host",
    usage=(
        "read -r node host ranks gpus < <(awk -v h=$(hostname) '$2 == h' FILE); "
        "{variables}CUDA_VISIBLE_DEVICES=$gpus torchrun --nnodes {nodes} "
        "--node-rank $node --nproc-per-node $ranks --rdzv-backend static "
        "--master-addr {first_host} train.py   (on each host)"
    ),
    write=write,
    selects_gpus=lambda _: True,
    relies_on=lambda _: RELIES_ON,
)
