# SPDX-License-Identifier: BSD-3-Clause
"""The number of GPUs of a node if no machine defines it."""

from __future__ import annotations

#: As in the servers for which NCCL is tuned, such as DGX H100.
GPUS_PER_NODE = 8
