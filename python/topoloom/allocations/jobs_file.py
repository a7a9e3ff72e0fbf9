# SPDX-License-Identifier: BSD-3-Clause
"""Reads nodes of other jobs: an allocation file, or output of ``squeue -o '%i %N'``.

Output of squeue begins with JOBID; each line has a job id and nodes. A job without
nodes is pending and is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Allocation, Error, Machine
from topoloom.allocations.allocation_file import parse_allocation
from topoloom.support.files import prefix_errors, read_text

MAX_BYTES = 64 * 1024 * 1024


def load_jobs(
    machine: Machine, path: str | Path, hosts: Sequence[str] = ()
) -> dict[str, Allocation]:
    """Read each job's nodes; keys are job ids (squeue) or a file name (allocation).

    `hosts` are the names of all nodes of the machine; empty if they have none.

    Raises
    ------
    topoloom.Error
        If a line cannot be read, a node is unknown or named twice, or there is no job.
    OSError
        If the file cannot be read.
    """
    text = read_text(path, MAX_BYTES)
    with prefix_errors(path):
        lines = text.splitlines()
        head = next(filter(None, map(str.split, lines)), [])
        if head[:1] != ["JOBID"]:
            return {Path(path).name: parse_allocation(machine, text, hosts).allocation}
        if len(head) != 2:
            raise Error(
                f"has the columns {' '.join(head)}; write it with squeue -o '%i %N'"
            )
        return _read_squeue(machine, lines, hosts)


def _read_squeue(
    machine: Machine, lines: list[str], hosts: Sequence[str]
) -> dict[str, Allocation]:
    jobs: dict[str, Allocation] = {}
    for number, words in enumerate(map(str.split, lines), start=1):
        if len(words) < 2 or words[0] == "JOBID":
            continue
        job, nodes = words[0], " ".join(words[1:])
        if job in jobs:
            raise Error(f"line {number}: job {job} appears twice")
        try:
            jobs[job] = parse_allocation(machine, nodes, hosts).allocation
        except Error as error:
            what = str(error).removeprefix("line 1: ")
            raise Error(f"line {number}: job {job}: {what}") from None
    if not jobs:
        raise Error("contains no job with nodes")
    return jobs
