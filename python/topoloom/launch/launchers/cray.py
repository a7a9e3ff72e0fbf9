# SPDX-License-Identifier: BSD-3-Clause
"""Cray MPICH under srun: block distribution, renumbered by `MPICH_RANK_ORDER`.

On a Cray XC, srun's arbitrary distribution fails. Slurm fills the nodes in its own
order and ignores the order of ``-w``. With renumbering, task ids differ from ranks.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine
from topoloom.launch.exports import mpich_rank_order
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.hybrid_ranks import find_thread_settings
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.taskset_wrapper import wrap_with_taskset
from topoloom.launch.srun_options import (
    BINDING,
    CORES,
    find_core_options,
    list_block_options,
)
from topoloom.support.files import write_text
from topoloom.support.hostlist import expand_hostlist


def apply_by_rank_order(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    replaced: Collection[str],
) -> Launch | None:
    """Let Cray MPICH renumber the ranks; drop the options `replaced` of the command.

    Returns None unless this runs in a job with Cray MPICH's module loaded, and
    MPICH_RANK_ORDER can express the placement. Also returns None if SLURM_HOSTFILE is
    set, which would take precedence.
    """
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    if not nodes or "CRAY_MPICH_VERSION" not in os.environ:
        return None
    if "SLURM_HOSTFILE" in os.environ:
        return None
    used = placement.reorder_used_hosts(expand_hostlist(nodes))
    if used is None:
        return None
    try:
        text = mpich_rank_order.write(used)
    except Error:
        return None
    path = directory / "MPICH_RANK_ORDER"
    write_text(path, text)
    extra = ["-N", str(len(used.hosts)), "-w", ",".join(used.hosts)]
    extra += list_block_options(used)
    loss = mpich_rank_order.FORMAT.find_loss(used)
    order = used.launch_order().tolist()
    core_options = find_core_options(command, used)
    if bound := wrap_with_taskset(command, used, "SLURM_PROCID", order):
        extra.append("--cpu-bind=none")
        command, loss = bound.without_options(CORES), None
    else:
        extra += core_options
    is_bound = bound is not None or not command.is_set(BINDING)
    environment = find_thread_settings(used, is_bound, command)
    environment["MPICH_RANK_REORDER_METHOD"] = "3"
    environment["MPICH_RANK_REORDER_FILE"] = str(path)
    return Launch(command.build(replaced, extra, used.rank_count), environment, loss)
