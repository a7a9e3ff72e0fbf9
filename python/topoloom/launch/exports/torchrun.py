# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's torchrun: one line per host, in the order of `--node-rank`.

torchrun numbers the ranks of a node consecutively, and process i of a node uses entry i
of CUDA_VISIBLE_DEVICES. Slots are GPUs, unless the machine names its GPUs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
)

RELIES_ON = (
    "only static rendezvous numbers hosts by --node-rank; c10d and etcd sort them by "
    "their addresses"
)

_LINE = re.compile(r"([0-9]{1,7})\s+(\S+)\s+([0-9]{1,7})\s+([0-9,]+)")


class NodeRow(NamedTuple):
    """A node rank, its host, and the GPUs of its ranks."""

    node_rank: int
    host: str
    gpus: list[int]

    @classmethod
    def parse(cls, node_rank: str, host: str, ranks: str, gpus: str) -> NodeRow:
        """Convert the columns of a row; the first `ranks` GPUs have a rank."""
        numbers = [int(gpu) for gpu in gpus.split(",") if gpu]
        if len(numbers) < int(ranks):
            raise Error(
                f"node rank {node_rank} has {ranks} ranks, but only the GPUs {gpus}"
            )
        return cls(int(node_rank), host, numbers[: int(ranks)])


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


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the table that `write` writes."""
    rows = []
    for number, line in list_numbered_lines(text):
        match = _LINE.fullmatch(line)
        if not match:
            raise Error(f"line {number}: expected 'NODE_RANK HOST RANKS GPUS'")
        rows.append(NodeRow.parse(*match.groups()))
    return locate_ranks(rows, job)[:ranks]


def locate_ranks(rows: Iterable[NodeRow], job: HostPlacement) -> list[RankLocation]:
    """List the locations of ranks: on the first slot that is nearest to their GPU."""
    slot_of: dict[int, dict[int, int]] = defaultdict(dict)
    numbers = list_nearest_gpu_numbers(job) or job.slot.tolist()
    for host, slot, gpu in zip(
        job.host.tolist(), job.slot.tolist(), numbers, strict=True
    ):
        slot_of[host][gpu] = min(slot, slot_of[host].get(gpu, slot))
    located = []
    for row in sorted(rows):
        host = find_host(job, row.host)
        for gpu in row.gpus:
            if gpu not in slot_of[host]:
                raise Error(f"GPU {gpu} of host '{row.host}' is not in the allocation")
            located.append(RankLocation(host, slot_of[host][gpu]))
    return located


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
    starts_with=r"# node_rank host nproc_per_node",
    read=read,
    selects_gpus=lambda _: True,
    relies_on=lambda _: RELIES_ON,
)
