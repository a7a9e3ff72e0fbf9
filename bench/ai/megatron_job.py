# SPDX-License-Identifier: BSD-3-Clause
"""Emulates one rank of a Megatron-Core job, in Megatron's own groups.

Arguments: a wheel, the sizes for `initialize_model_parallel`, and the bytes that a rank
sends along each axis. The rank uses an allgather per axis, and messages in both
directions along pp.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

import torch
import torch.distributed as dist

#: our axis name, and Megatron's name of its group
GROUPS = {
    "tp": "tensor_model_parallel",
    "cp": "context_parallel",
    "dp": "data_parallel",
    "etp": "expert_tensor_parallel",
    "ep": "expert_model_parallel",
    "edp": "expert_data_parallel",
}


def main(wheel: str, sizes: dict[str, int], sent: dict[str, int]) -> None:
    """Run one rank of the job."""
    sys.path.insert(0, wheel)
    parallel_state = import_module("megatron.core.parallel_state")
    dist.init_process_group("nccl")
    parallel_state.initialize_model_parallel(**sizes)
    for axis, name in GROUPS.items():
        if axis in sent:
            group = getattr(parallel_state, f"get_{name}_group")()
            others = dist.get_world_size(group) - 1
            part = torch.empty(sent[axis] // others // 4)
            whole = torch.empty(part.numel() * (others + 1))
            dist.all_gather_into_tensor(whole, part, group=group)
    activations = torch.empty(sent["pp"] // 2 // 4)
    before, after = (
        None if is_end() else rank()
        for is_end, rank in (
            (
                parallel_state.is_pipeline_first_stage,
                parallel_state.get_pipeline_model_parallel_prev_rank,
            ),
            (
                parallel_state.is_pipeline_last_stage,
                parallel_state.get_pipeline_model_parallel_next_rank,
            ),
        )
    )
    for source, target in ((before, after), (after, before)):
        if target is not None:
            dist.send(activations, target)
        if source is not None:
            dist.recv(activations, source)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]))
