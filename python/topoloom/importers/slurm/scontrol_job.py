# SPDX-License-Identifier: BSD-3-Clause
"""Reads the nodes and CPUs of this process's Slurm job from ``scontrol``.

The job's environment variables have less information, and persist in a shell after the
job has ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.child_processes import run_system_command
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.plain_text import is_number

_MAX_CPUS = 65_536
_ENDED = re.compile(
    "BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|LAUNCH_FAILED|NODE_FAIL"
    "|OUT_OF_MEMORY|PREEMPTED|RECONFIG_FAIL|REVOKED|TIMEOUT"
)
_RECORD = re.compile(r"^(?=JobId=)", re.MULTILINE)
# Keys are matched only at the start of lines, because a job's name may contain
# anything.
_NODES = re.compile(r"^\s*NodeList=(\S+)", re.MULTILINE)
_STATE = re.compile(r"^\s*JobState=(\S+)", re.MULTILINE)
_CPU_IDS = re.compile(r"^\s*Nodes=(\S+) CPU_IDs=([0-9,\-]+)", re.MULTILINE)
_CPUS_PER_TASK = re.compile(r"^\s*NumNodes=.* CPUs/Task=([0-9]+)", re.MULTILINE)
_TASKS_PER_NODE = re.compile(
    r"^\s*Socks/Node=.* NtasksPerN:B:S:C=([0-9]+)", re.MULTILINE
)

_COUNT = re.compile(r"([1-9][0-9]{0,5})(?:\(x([0-9]{1,7})\))?", re.ASCII)
_MAX_NODES = 500_000


class JobNode(NamedTuple):
    """A node of the job.

    `cpus` are the job's CPUs in Slurm's numbering, socket by socket and core by core;
    None if unknown. `tasks` is the requested number of tasks per node (0 if
    unspecified), with `cpus_per_task` each.
    """

    host: str
    cpus: tuple[int, ...] | None
    tasks: int = 0
    cpus_per_task: int = 1


def list_job_nodes(environment: Mapping[str, str]) -> list[JobNode] | None:
    """List the running job's nodes in the order in which ``srun`` fills them.

    Returns None outside a job, and if ``scontrol`` fails. Raises `topoloom.Error` if
    the job has ended while its shell continues.
    """
    number = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID")
    if not number:
        return None
    if not is_number(number):
        raise Error(f"SLURM_JOB_ID: '{number[:40]}' is not a job number")
    output = run_system_command("scontrol", "show", "job", "-d", number)
    if "Invalid job id" in output.errors:
        raise Error(f"SLURM_JOB_ID: Slurm has no job {number} (any more); {_REMEDY}")
    if output.status != 0:
        return None
    return read_job(output.text, number)


def read_job(text: str, number: str) -> list[JobNode]:
    """Read the output of ``scontrol show job -d`` for all components of a job.

    If the number is that of a job array, only the array task with that number is read.
    """
    records = _RECORD.split(text)
    wanted = re.compile(rf"JobId={number}\s|JobId=[0-9]+ HetJobId={number}\s")
    cpus: dict[str, set[int] | None] = {}
    requested: dict[str, tuple[int, int]] = {}
    for record in filter(wanted.match, records):
        state, nodes = _STATE.search(record), _NODES.search(record)
        if state and _ENDED.fullmatch(state[1]):
            raise Error(f"SLURM_JOB_ID: job {number} has ended ({state[1]}); {_REMEDY}")
        if nodes is None or nodes[1] == "(null)":
            continue
        given = _parse_job_cpus(record)
        for host in expand_hostlist(nodes[1]):
            # Components of a heterogeneous job may share a node.
            before, now = cpus.get(host, set()), given.get(host)
            cpus[host] = None if before is None or now is None else before | now
            requested[host] = (
                _find_number(_TASKS_PER_NODE, record),
                _find_number(_CPUS_PER_TASK, record),
            )
    if not cpus:
        raise Error(f"SLURM_JOB_ID: job {number} has no nodes; {_REMEDY}")
    return [
        JobNode(
            host,
            None if numbers is None else tuple(sorted(numbers)),
            requested[host][0],
            max(1, requested[host][1]),
        )
        for host, numbers in cpus.items()
    ]


_REMEDY = "start a job, or leave this one's shell (or unset SLURM_JOB_ID)"


def _parse_job_cpus(record: str) -> dict[str, set[int]]:
    given = {}
    for hosts, numbers in _CPU_IDS.findall(record):
        with prefix_errors("'scontrol show job': CPU_IDs"):
            cpus = set(expand_ranges(numbers, _MAX_CPUS))
        given.update(dict.fromkeys(expand_hostlist(hosts), cpus))
    return given


def _find_number(pattern: re.Pattern[str], record: str) -> int:
    match = pattern.search(record)
    return int(match[1]) if match else 0


def parse_cpu_counts(text: str) -> list[int]:
    """Parse the CPUs of a job on each node, such as ``3,1(x2)``."""
    counts: list[int] = []
    for part in text.split(","):
        match = _COUNT.fullmatch(part)
        if match is None or len(counts) + int(match[2] or 1) > _MAX_NODES:
            raise Error(f"'{text[:60]}' is not a list of counts, such as 3,1(x2)")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts
