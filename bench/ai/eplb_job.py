# SPDX-License-Identifier: BSD-3-Clause
"""Runs DeepSeek's EPLB on expert loads; needs a Python that has PyTorch.

Arguments: the folder of EPLB's source (`deepseek.py`), a file of loads, and the output
file.
"""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import torch

folder, given, written = sys.argv[1:]
sys.path.insert(0, folder)
deepseek = importlib.import_module("deepseek")

with np.load(given) as file:
    loads = torch.from_numpy(file["loads"])
    jobs = json.loads(str(file["jobs"]))
maps = {}
for name, job in jobs.items():
    hierarchical = job["groups"] > 1
    held, _, _ = deepseek.rebalance_experts(
        loads,
        job["replicas"],
        job["groups"],
        job["nodes"],
        job["gpus"],
        hierarchical,
    )
    maps[name] = held.numpy()
np.savez(written, **maps)
