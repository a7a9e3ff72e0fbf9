# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's own map of a job step: what ``srun -v`` says as it starts ranks.

``srun --test-only`` does not report it, so a program that does nothing is started.
Outside a job, srun would wait for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.apply.job_map import JobMap
from topoloom.launch.apply.trial import EMPTY_PROGRAM, SHARING_CPUS
from topoloom.launch.exports.registry import LaunchFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launchers import srun
from topoloom.launch.launchers.registry import read_command
from topoloom.support.child_processes import run_child
from topoloom.support.files import local_directory, write_text
from topoloom.support.number_ranges import expand_ranges

_TASKS = re.compile(r"srun: launching .* on host (\S+), [0-9]+ tasks: \[?([0-9,-]+)\]?")


def ask(
    entry: LaunchFormat,
    text: str,
    placement: HostPlacement,
    program: str,
    more: Sequence[str],
) -> JobMap:
    """Start nothing as `text` says, and read where; raise `topoloom.Error` in no job.

    `text` is a host file, `more` are options that the user adds.
    """
    read = read_command([program, *EMPTY_PROGRAM])
    if read.launcher is not srun:
        raise Error(f"'{program}' is {read.launcher.NAME}, not srun")
    if "SLURM_JOB_ID" not in os.environ:
        raise Error(
            f"{program} reports where ranks would start only inside a job; check "
            f"{entry.NAME} after salloc, or in a batch script"
        )
    nodes = str(int((placement.ranks_per_host() > 0).sum()))
    ranks = str(placement.rank_count)
    options = ["-v", "--mpi=none", "-m", "arbitrary", "-N", nodes, "-n", ranks]
    with local_directory("export") as directory:
        file = Path(directory) / "hosts-of-ranks"
        write_text(file, text)
        environment = {**os.environ, **SHARING_CPUS, "SLURM_HOSTFILE": str(file)}
        command = [program, *options, *more, *EMPTY_PROGRAM]
        done = run_child(command, environment=environment)
    started = _TASKS.findall(done.stderr) if done.returncode == 0 else []
    hosts = {
        rank: host
        for host, listed in started
        for rank in expand_ranges(listed, placement.rank_count)
    }
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    name = f"{read.launcher.NAME} {'.'.join(map(str, read.version))}"
    return JobMap(name, " ".join(errors)[:400], hosts, {})
