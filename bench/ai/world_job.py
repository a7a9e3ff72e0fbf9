# SPDX-License-Identifier: BSD-3-Clause
"""Emulates one rank of a large world: pipeline stages of FSDP and tensor parallelism.

The messages are those that the bench requests from `topoloom ai axes`: an allgather
along every axis except the pipeline, and messages in both directions along the
pipeline.
"""

from __future__ import annotations

import json
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def main(mesh: dict[str, int], sizes: dict[str, int]) -> None:
    """Run one rank; `sizes` are the bytes that it sends along each axis."""
    dist.init_process_group("nccl")
    devices = init_device_mesh("cpu", tuple(mesh.values()), mesh_dim_names=tuple(mesh))
    for axis in ("replicate", "shard", "tp"):
        part = torch.empty(sizes[axis] // (mesh[axis] - 1) // 4)
        whole = torch.empty(part.numel() * mesh[axis])
        dist.all_gather_into_tensor(whole, part, group=devices.get_group(axis))
    stage, last = devices.get_local_rank("pp"), mesh["pp"] - 1
    apart = dist.get_world_size() // mesh["pp"]
    activations = torch.empty(sizes["pp"] // 2 // 4)
    for step in (-1, 1):
        if 0 <= stage + step <= last:
            dist.send(activations, dist.get_rank() + step * apart)
        if 0 <= stage - step <= last:
            dist.recv(activations, dist.get_rank() - step * apart)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
