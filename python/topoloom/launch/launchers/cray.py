# SPDX-License-Identifier: BSD-3-Clause
"""Cray MPICH under srun: ranks in blocks, renumbered by `MPICH_RANK_ORDER`.

On a Cray XC srun's arbitrary distribution fails. Slurm fills the nodes in its own
order, whatever ``-w`` says, and its task ids are no longer the ranks.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine
from topoloom.launch.exports import mpich_rank_order
from topoloom.launch.exports.launch_formats import what_is_lost
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch, used_hosts_in_order
from topoloom.launch.launchers.bind_myself import bind_myself
from topoloom.support.files import write_text
from topoloom.support.hostlist import expand_hostlist


def apply_by_order(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    replaced: Collection[str],
) -> Launch | None:
    """Let Cray MPICH renumber the ranks, where its module is loaded in a job.

    The options `replaced` are left out. None where the module is not loaded, its file
    cannot express the placement, or the user has a SLURM_HOSTFILE, which would take
    precedence.
    """
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    if not nodes or "CRAY_MPICH_VERSION" not in os.environ:
        return None
    if "SLURM_HOSTFILE" in os.environ:
        return None
    used = used_hosts_in_order(placement, expand_hostlist(nodes))
    if used is None:
        return None
    try:
        text = mpich_rank_order.write(used)
    except Error:
        return None
    path = directory / "MPICH_RANK_ORDER"
    write_text(path, text)
    each = str(used.ranks_per_host().max())
    extra = ["-N", str(len(used.hosts)), "-w", ",".join(used.hosts)]
    extra += ["--ntasks-per-node", each, "-m", "block"]
    loss = what_is_lost(mpich_rank_order, used)
    if placement.bind is not None:
        order = used.launch_order().tolist()
        if before := bind_myself(used, "SLURM_PROCID", order):
            extra.append("--cpu-bind=none")
            command = command.behind(before)
            loss = None
    return Launch(
        command.rebuilt(replaced, extra, used.rank_count),
        {"MPICH_RANK_REORDER_METHOD": "3", "MPICH_RANK_REORDER_FILE": str(path)},
        loss,
    )
