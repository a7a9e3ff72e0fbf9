# SPDX-License-Identifier: BSD-3-Clause
"""From options to what a launcher does with an allocation."""

from __future__ import annotations

from topoloom._core import Error
from topoloom.allocations.launch_order import LAUNCHERS, SLURM, LaunchOrder
from topoloom.cli.problem import at_least
from topoloom.support.nearest import unknown_name
from topoloom.support.units import parse_bytes


def read_order(
    launcher: str = SLURM,
    ranks_per_node: int | None = None,
    cores_per_rank: int = 1,
    memory_per_rank: str | None = None,
) -> LaunchOrder:
    """Check what the options say."""
    if launcher not in LAUNCHERS:
        raise Error(unknown_name("launcher", launcher, LAUNCHERS))
    if ranks_per_node is not None:
        at_least("--ranks-per-node", ranks_per_node, 1)
    at_least("--cores-per-rank", cores_per_rank, 1)
    memory = 0
    if memory_per_rank is not None:
        memory = parse_bytes(memory_per_rank)
        at_least("--memory-per-rank", memory, 1)
    return LaunchOrder(launcher, ranks_per_node, cores_per_rank, memory)
