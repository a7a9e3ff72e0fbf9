# SPDX-License-Identifier: BSD-3-Clause
"""Training steps of FSDP2, and of DDP with each of its communication hooks.

All ranks are equal, so one emulated rank represents all.
"""

from __future__ import annotations

import os
from collections.abc import Callable

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import (
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    quantization_hooks,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

STEPS = 4


def make_power_state() -> powerSGD_hook.PowerSGDState:
    """Return a state that starts PowerSGD compression in the third step."""
    return powerSGD_hook.PowerSGDState(None, 2, start_powerSGD_iter=2)


def make_local_state() -> post_localSGD_hook.PostLocalSGDState:
    """Return a state that reduces within pairs of ranks from the third step on."""
    pairs, _ = dist.new_subgroups(2)
    world = dist.group.WORLD
    return post_localSGD_hook.PostLocalSGDState(world, pairs, start_localSGD_iter=2)


#: name -> (function that makes the hook's state, hook)
HOOKS: dict[str, tuple[Callable[[], object], object]] = {
    "fp16": (lambda: None, default_hooks.fp16_compress_hook),
    "bf16": (lambda: None, default_hooks.bf16_compress_hook),
    "PowerSGD": (make_power_state, powerSGD_hook.powerSGD_hook),
    "fp16 PowerSGD": (
        make_power_state,
        default_hooks.fp16_compress_wrapper(powerSGD_hook.powerSGD_hook),
    ),
    "quantized": (
        lambda: dist.group.WORLD,
        quantization_hooks.quantization_perchannel_hook,
    ),
    "local SGD": (make_local_state, post_localSGD_hook.post_localSGD_hook),
}


def make_layers() -> torch.nn.Sequential:
    """Make a model."""
    return torch.nn.Sequential(torch.nn.Linear(300, 200), torch.nn.Linear(200, 100))


def train(model: torch.nn.Module) -> None:
    """Run some training steps."""
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for _ in range(STEPS):
        model(torch.ones(8, 300)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def main() -> None:
    """Run one rank of the job."""
    dist.init_process_group("gloo")
    mesh = init_device_mesh(
        "cpu", (dist.get_world_size() // 2, 2), mesh_dim_names=("replicate", "shard")
    )
    sharded = make_layers()
    for layer in sharded:
        fully_shard(layer, mesh=mesh)
    train(fully_shard(sharded, mesh=mesh))
    train(DistributedDataParallel(make_layers()))
    for state, hook in HOOKS.values():
        model = DistributedDataParallel(make_layers())
        model.register_comm_hook(state(), hook)
        train(model)
    model = DistributedDataParallel(make_layers())
    model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)
    train(model)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
