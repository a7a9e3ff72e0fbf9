# SPDX-License-Identifier: BSD-3-Clause
"""Environment of a Slurm job step: the output of ``env`` in the job.

The hosts, the tasks of each host, and the first level of the distribution determine
the host of each task. Without a distribution, tasks of a host are consecutive.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_blocks import deal_blocks
from topoloom.launch.rank_location import RankLocation, ReadOnlyFormat, find_host
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.plain_text import is_number

_LINE = re.compile(r"(?:export\s+|declare\s+-x\s+)?(SLURM_[A-Z_]+)=(.*)")
_COUNT = re.compile(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?")
#: Variables of a step come first: a step may have fewer hosts than its job.
_HOSTS = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
_TASKS = ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the variables and list the host of each task."""
    variables = _read_variables(text)
    hosts = [find_host(job, name) for name in expand_hostlist(_get(variables, _HOSTS))]
    counts = _read_counts(_get(variables, _TASKS))
    if len(counts) != len(hosts):
        raise Error(f"lists {len(hosts)} hosts, but tasks per node for {len(counts)}")
    if sum(counts) != ranks:  # srun distributes fewer tasks in another way
        raise Error(
            f"has {sum(counts)} tasks, but the graph has {ranks} ranks; write the "
            "output of env in the job step"
        )
    host_of_rank = dict.fromkeys(range(ranks), 0)
    block = _find_block_size(variables) or ranks
    for host, own in zip(hosts, deal_blocks(counts, block), strict=True):
        host_of_rank.update(dict.fromkeys(own, host))
    return [RankLocation(host) for host in host_of_rank.values()]


def _read_variables(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            try:
                found[match[1]] = "".join(shlex.split(match[2]))
            except ValueError:
                raise Error(f"{match[1]} has an unbalanced quote") from None
    return found


def _get(variables: Mapping[str, str], names: Sequence[str]) -> str:
    for name in names:
        if name in variables:
            return variables[name]
    raise Error(f"{names[0]} is missing; write the output of env in the job step")


def _read_counts(text: str) -> list[int]:
    """Read ``4(x2),3`` as 4, 4 and 3."""
    counts: list[int] = []
    for item in text.split(","):
        match = _COUNT.fullmatch(item)
        if not match or int(match[2] or 1) > 1_000_000:
            raise Error(f"'{text[:40]}' must be tasks per node, such as 4(x2),3")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def _find_block_size(variables: Mapping[str, str]) -> int | None:
    """Find how many consecutive tasks a host gets in turn; None: all of its tasks."""
    kind = re.split("[:,=]", variables.get("SLURM_DISTRIBUTION", "block"))[0].lower()
    if kind in ("block", "*", ""):
        return None
    if kind == "cyclic":
        return 1
    size = variables.get("SLURM_DIST_PLANESIZE", "")
    if kind == "plane" and is_number(size) and int(size):
        return int(size)
    raise Error(
        f"SLURM_DISTRIBUTION is {kind}, which does not determine the hosts of tasks; "
        "write the output of 'srun -l hostname' instead"
    )


FORMAT = ReadOnlyFormat(
    "slurm-environment", r"(?:export\s+|declare\s+-x\s+)?\w+=.*(?s:.)*?SLURM_", read
)
