# SPDX-License-Identifier: BSD-3-Clause
"""Times FSDP training steps, alternately with and without the recorder.

torchrun starts the job under `topoloom record` and passes an output file. The file
contains CPU seconds of steps, and of calls on a group of one rank.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

LAYERS, WIDTH, BATCH = 8, 512, 256
TURNS, STEPS, CALLS = 8, 4, 500

Seconds = dict[str, list[float]]


def time_alternately(work: Callable[[], None], times: int) -> Seconds:
    """Measure a function's CPU seconds per call, with and without the recorder."""
    recorder = sys.modules["topoloom_injected"]
    seconds: Seconds = {"with": [], "without": []}
    work()
    for turn in range(2 * TURNS):
        is_observed = turn % 2 == 1
        if is_observed and not recorder._kept:
            recorder._kept.extend(recorder.observe())
        elif not is_observed:
            recorder._kept.pop()._destroy()
        begin = process_time()
        for _ in range(times):
            work()
        name = "with" if is_observed else "without"
        seconds[name].append((process_time() - begin) / times)
    return seconds


def main(file: Path) -> None:
    """Run one rank; rank 0 writes the file."""
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    model = fully_shard(torch.nn.Sequential(*layers), mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)

    def step() -> None:
        model(torch.ones(BATCH, WIDTH)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    number = torch.ones(1)
    alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    own = alone[dist.get_rank()]
    calls = time_alternately(lambda: dist.all_reduce(number, group=own), CALLS)
    found = {"step": time_alternately(step, STEPS), "call": calls}
    if dist.get_rank() == 0:
        file.write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
