# SPDX-License-Identifier: BSD-3-Clause
"""Reads Slurm's map of a job step, which ``srun -v`` prints when ranks start.

``srun --test-only`` prints no map, so a no-op program is started. Outside a job,
srun would wait for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.apply.job_map import JobMap
from topoloom.launch.apply.launcher_failure import describe_failure
from topoloom.launch.apply.trial_run import NOOP_PROGRAM, SHARED_CPUS
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launchers import srun
from topoloom.launch.launchers.launcher_commands import read_command
from topoloom.support.child_processes import run_child
from topoloom.support.files import make_local_directory, write_text
from topoloom.support.number_ranges import expand_ranges

_TASKS = re.compile(r"srun: launching .* on host (\S+), [0-9]+ tasks: \[?([0-9,-]+)\]?")


def read_job_map(
    target: ExportFormat,
    text: str,
    placement: HostPlacement,
    program: str,
    options: Sequence[str],
) -> JobMap:
    """Start a no-op program with the host file `text`, and read its ranks' hosts.

    `options` are additional options of srun. Raises `topoloom.Error` outside a job.
    """
    command = read_command([program, *NOOP_PROGRAM])
    if command.launcher is not srun:
        raise Error(f"'{program}' is {command.launcher.NAME}, not srun")
    if "SLURM_JOB_ID" not in os.environ:
        raise Error(
            f"{program} reports where ranks would start only inside a job; check "
            f"{target.name} after salloc, or in a batch script"
        )
    nodes = str(int((placement.ranks_per_host() > 0).sum()))
    ranks = str(placement.rank_count)
    ours = ["-v", "--mpi=none", "-m", "arbitrary", "-N", nodes, "-n", ranks]
    with make_local_directory("export") as directory:
        file = Path(directory) / "hosts-of-ranks"
        write_text(file, text)
        environment = {**os.environ, **SHARED_CPUS, "SLURM_HOSTFILE": str(file)}
        words = [program, *ours, *options, *NOOP_PROGRAM]
        done = run_child(words, environment=environment)
    started = _TASKS.findall(done.stderr) if done.returncode == 0 else []
    hosts = {
        rank: host
        for host, listed in started
        for rank in expand_ranges(listed, placement.rank_count)
    }
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    name = f"{command.launcher.NAME} {'.'.join(map(str, command.version))}"
    return JobMap(name, describe_failure("\n".join(errors)) or "", hosts, {})
