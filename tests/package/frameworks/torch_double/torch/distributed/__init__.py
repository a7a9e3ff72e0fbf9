# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and groups of the PyTorch stub."""

from torch.distributed.distributed_c10d import *  # noqa: F403
