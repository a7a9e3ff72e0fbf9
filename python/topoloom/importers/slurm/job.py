# SPDX-License-Identifier: BSD-3-Clause
"""The Slurm job that this process is part of: its nodes, and what it has of each.

``scontrol`` is asked; the job's environment says less, and stays when the job ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.plain_text import is_number
from topoloom.support.program_output import run_program

_MAX_CPUS = 65_536
_ENDED = re.compile(
    "BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|LAUNCH_FAILED|NODE_FAIL"
    "|OUT_OF_MEMORY|PREEMPTED|RECONFIG_FAIL|REVOKED|TIMEOUT"
)
_RECORD = re.compile(r"^(?=JobId=)", re.MULTILINE)
# A job's name may hold any words, so each key is looked for where its line begins.
_NODES = re.compile(r"^\s*NodeList=(\S+)", re.MULTILINE)
_STATE = re.compile(r"^\s*JobState=(\S+)", re.MULTILINE)
_CPU_IDS = re.compile(r"^\s*Nodes=(\S+) CPU_IDs=([0-9,\-]+)", re.MULTILINE)
_CPUS_A_TASK = re.compile(r"^\s*NumNodes=.* CPUs/Task=([0-9]+)", re.MULTILINE)
_TASKS_A_NODE = re.compile(r"^\s*Socks/Node=.* NtasksPerN:B:S:C=([0-9]+)", re.MULTILINE)

_COUNT = re.compile(r"([1-9][0-9]{0,5})(?:\(x([0-9]{1,7})\))?", re.ASCII)
_MAX_NODES = 4_000_000


class JobNode(NamedTuple):
    """A node of the job.

    `cpus` are Slurm's numbers for the CPUs that the job has, socket by socket and core
    by core; None where it does not say. With `tasks`, the job asked for this number of
    tasks on each node (else 0), and `cpus_a_task` for each of them.
    """

    host: str
    cpus: tuple[int, ...] | None
    tasks: int = 0
    cpus_a_task: int = 1


def job_nodes(environment: Mapping[str, str]) -> list[JobNode] | None:
    """List the running job's nodes in the order in which ``srun`` fills them.

    None outside of any job, and where ``scontrol`` does not answer.

    Raises
    ------
    topoloom.Error
        If the job has ended: its variables are left in a shell that outlived it.
    """
    number = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID")
    if not number:
        return None
    if not is_number(number):
        raise Error(f"SLURM_JOB_ID: '{number[:40]}' is not a job number")
    told = run_program("scontrol", "show", "job", "-d", number)
    if "Invalid job id" in told.errors:
        raise Error(
            f"SLURM_JOB_ID: Slurm does not know job {number} (any more); {_WAY_OUT}"
        )
    if told.status != 0:
        return None
    return read_job(told.text, number)


def read_job(text: str, number: str) -> list[JobNode]:
    """Read what ``scontrol show job -d`` prints of a job, with its other components.

    The number of one task of a job array may stand for the whole array: then only the
    task of that number counts.
    """
    records = _RECORD.split(text)
    wanted = re.compile(rf"JobId={number}\s|JobId=[0-9]+ HetJobId={number}\s")
    cpus: dict[str, set[int] | None] = {}
    asked: dict[str, tuple[int, int]] = {}
    for record in filter(wanted.match, records):
        state, nodes = _STATE.search(record), _NODES.search(record)
        if state and _ENDED.fullmatch(state[1]):
            raise Error(
                f"SLURM_JOB_ID: job {number} has ended ({state[1]}); {_WAY_OUT}"
            )
        if nodes is None or nodes[1] == "(null)":
            continue
        given = _given_cpus(record)
        for host in expand_hostlist(nodes[1]):
            # Components of a job may share a node.
            before, now = cpus.get(host, set()), given.get(host)
            cpus[host] = None if before is None or now is None else before | now
            asked[host] = (
                _number(_TASKS_A_NODE, record),
                _number(_CPUS_A_TASK, record),
            )
    if not cpus:
        raise Error(f"SLURM_JOB_ID: job {number} has no nodes; {_WAY_OUT}")
    return [
        JobNode(
            host,
            None if numbers is None else tuple(sorted(numbers)),
            asked[host][0],
            max(1, asked[host][1]),
        )
        for host, numbers in cpus.items()
    ]


_WAY_OUT = "start a job, or leave this one's shell (or unset SLURM_JOB_ID)"


def _given_cpus(record: str) -> dict[str, set[int]]:
    given = {}
    for hosts, numbers in _CPU_IDS.findall(record):
        with prefix_errors("'scontrol show job': CPU_IDs"):
            cpus = set(expand_ranges(numbers, _MAX_CPUS))
        given.update(dict.fromkeys(expand_hostlist(hosts), cpus))
    return given


def _number(pattern: re.Pattern[str], record: str) -> int:
    match = pattern.search(record)
    return int(match[1]) if match else 0


def counted_cpus(text: str) -> list[int]:
    """Read ``3,1(x2)``: the CPUs that a job has on each of its nodes."""
    counts: list[int] = []
    for part in text.split(","):
        match = _COUNT.fullmatch(part)
        if match is None or len(counts) + int(match[2] or 1) > _MAX_NODES:
            raise Error(f"'{text[:60]}' is not a list of counts, such as 3,1(x2)")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts
