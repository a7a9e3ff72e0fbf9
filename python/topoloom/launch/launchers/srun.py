# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's srun: `-m arbitrary` reads the host of each rank from SLURM_HOSTFILE.

With Cray MPICH, ranks are renumbered instead if renumbering can express the placement.
taskset binds the ranks, because ``--cpu-bind`` has one list for all nodes, and has no
effect without Slurm's ``task/affinity``.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch import srun_options
from topoloom.launch.command_line import CommandLine, LauncherSyntax, split_names
from topoloom.launch.launcher import Launch, reject_options
from topoloom.launch.srun_options import CORES, find_core_options
from topoloom.support.files import write_text
from topoloom.support.hostlist import expand_hostlist

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "Slurm"
NEEDS_SHARED_FILES = True
IS_LOCAL_BY_DEFAULT = False
ENVIRONMENT_OPTION = None
BINDING = srun_options.BINDING

#: Options that a placement replaces, and options that conflict with a placement.
REPLACED = frozenset({"N", "nodes", "w", "nodelist"})
PLACING = frozenset(
    {"m", "distribution", "r", "relative", "x", "exclude", "multi-prog", "X", "Z"}
    | {"ntasks-per-node", "ntasks-per-core", "ntasks-per-socket"}
)

SYNTAX = LauncherSyntax(
    values=dict.fromkeys(
        split_names(
            "A account b begin c cpus-per-task chdir cluster-constraint comment "
            "constraint C container core-spec S cpu-bind cpu-freq "
            "cpus-per-gpu D deadline delay-boot d dependency e epilog error "
            "export extra-node-info B gpu-bind gpu-freq gpus G gpus-per-node "
            "gpus-per-socket gpus-per-task gres gres-flags hint i input "
            "J job-name jobid licenses L mail-type mail-user mcs-label "
            "mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi n ntasks network "
            "o output open-mode p partition power priority profile prolog "
            "q qos reservation signal slurmd-debug sockets-per-node "
            "cores-per-socket switches task-epilog task-prolog thread-spec "
            "threads-per-core time t time-min tmp tres-per-task tres-bind "
            "wait W wckey msg-timeout nodefile F N nodes w nodelist m distribution "
            "r relative x exclude ntasks-per-node ntasks-per-core "
            "ntasks-per-socket"
        ),
        1,
    ),
    flags=frozenset(
        split_names(
            "contiguous disable-status X exact external-launcher hold H interactive "
            "label l multi-prog no-allocate Z no-kill k O overcommit oversubscribe s "
            "overlap pty preserve-env E quiet Q quit-on-interrupt reboot "
            "send-libs spread-job stepmgr test-only use-min-nodes u v verbose "
            "bcast compress exclusive immediate I kill-on-bad-exit K nice propagate "
            "unbuffered whole"
        )
    ),
    ranks=frozenset({"n", "ntasks"}),
    joins_short_options=True,
)


def parse_version(text: str) -> tuple[int, ...] | None:
    """Parse ``slurm 22.05.8`` or ``slurm-wlm 22.05.8``."""
    match = re.match(r"slurm\S* ([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def list_hosts(command: CommandLine) -> list[str] | None:
    """List the hosts in the option ``-w``, or else the hosts of the job."""
    for option in command.find_options({"w", "nodelist"}):
        return list(dict.fromkeys(expand_hostlist(option.values[0])))
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    return expand_hostlist(nodes) if nodes else None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Write a file with one host per rank, or let Cray MPICH renumber the ranks."""
    from topoloom.launch.exports import slurm_hostfile
    from topoloom.launch.hybrid_ranks import find_thread_settings
    from topoloom.launch.launchers.cray import apply_by_rank_order
    from topoloom.launch.launchers.taskset_wrapper import wrap_with_taskset

    reject_options(command, PLACING)
    if placement.bind is not None:
        reject_options(command, BINDING)
    if launch := apply_by_rank_order(command, placement, directory, REPLACED):
        return launch
    used = placement.drop_unused_hosts()
    path = directory / "hosts-of-ranks"
    write_text(path, slurm_hostfile.write(used))
    extra = ["-N", str(len(used.hosts)), "-m", "arbitrary"]
    if used.shares_slots and not command.is_set({"O", "overcommit"}):
        extra.append("--overcommit")
    loss = slurm_hostfile.FORMAT.find_loss(replace(used, bind=None))
    core_options = find_core_options(command, used)
    if bound := wrap_with_taskset(command, used, "SLURM_PROCID"):
        extra.append("--cpu-bind=none")
        command, loss = bound.without_options(CORES), None
    else:
        extra += core_options
    is_bound = bound is not None or not command.is_set(BINDING)
    environment = {"SLURM_HOSTFILE": str(path)}
    environment |= find_thread_settings(used, is_bound, command)
    if "MPICH_RANK_REORDER_METHOD" in os.environ:
        environment["MPICH_RANK_REORDER_METHOD"] = "1"  # keep the launcher's order
    return Launch(
        command.build(REPLACED, extra, placement.rank_count), environment, loss
    )
