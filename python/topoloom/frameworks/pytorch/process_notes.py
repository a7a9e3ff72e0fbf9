# SPDX-License-Identifier: BSD-3-Clause
"""Reads the notes of PyTorch processes: counted calls as Kineto events.

`injected.py` describes the files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.graphs.traces.kineto import read_events
from topoloom.graphs.traces.trace import Trace
from topoloom.support.files import prefix_errors
from topoloom.support.plain_text import is_number


class ProcessStart(NamedTuple):
    """Identity, attempt and start time of a process."""

    process: str = ""  # host and process id
    agent: str = ""  # host and process id of its parent
    #: Number of earlier restarts by torchrun; None without torchrun.
    attempt: int | None = None
    began: float = 0.0  # start of its world, in seconds on its host's clock

    def is_restart_of(self, other: ProcessStart) -> bool:
        """Return whether torchrun started this process to replace `other`.

        Each torchrun counts only the restarts that it started itself, not those that
        torchrun on other hosts started.
        """
        if self.attempt is None or other.attempt is None:
            return False
        same = self.attempt == other.attempt and self.agent == other.agent
        return same or self.attempt > other.attempt


class ProcessNotes(NamedTuple):
    """The counts of one process in one world."""

    rank: int
    world: int  # number of ranks
    events: list[dict[str, Any]]  # distinct calls; ``Calls`` is the count
    #: Members of each group of a fake world, in order of creation.
    groups: list[tuple[int, ...]]
    lost: dict[str, int]  # description of uncounted calls -> number
    refused: str  # why recording failed, or ""
    start: ProcessStart = ProcessStart()


def read_notes(folder: Path) -> list[ProcessNotes]:
    """Read the notes in a folder, sorted by rank.

    The incomplete last line of a killed process is ignored.

    Raises `topoloom.Error` if a file is damaged.
    """
    found = []
    for file in sorted(folder.glob("*.calls")):
        with prefix_errors(file):
            one = _read_process(file)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: one.rank)


def _read_process(file: Path) -> ProcessNotes | None:
    whole = file.read_text(encoding="utf-8").rpartition("\n")[0]
    if not whole:
        return None
    try:
        about, *lines = map(json.loads, whole.split("\n"))
        counts = np.fromfile(file.with_suffix(".counts"), np.uint64).tolist()
        release, refused = about["torch"], about.get("refused", "")
        if refused:
            refused = f"PyTorch {release} cannot be recorded: {refused}"
        host, number, _ = file.stem.rsplit("-", 2)
        attempt = about.get("attempt")
        start = ProcessStart(
            f"{host} {number}",
            f"{host} {about.get('parent', 0)}",
            None if attempt is None else int(attempt),
            about.get("began", 0.0),
        )
        noted = ProcessNotes(about["rank"], about["world"], [], [], {}, refused, start)
        slot = 0
        for line in lines:
            if "group" in line:
                noted.groups.append(tuple(line["group"]))
                continue
            calls, slot = counts[slot], slot + 1
            if "lost" in line:
                noted.lost[line["lost"]] = calls
            elif calls:
                line["args"]["Calls"] = calls
                noted.events.append(line)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        raise Error("damaged; record the job again") from None
    return noted


def count_restarts(folder: Path) -> int:
    """Return the number of restarts by torchrun, even if they started no world."""
    attempts = (file.stem.rpartition("-")[2] for file in folder.glob("*.begun"))
    return max(map(int, filter(is_number, attempts)), default=0)


class LastStarts(NamedTuple):
    """The last start of each rank, and the number of earlier starts."""

    noted: list[ProcessNotes]
    left_out: int


def select_last_starts(noted: Sequence[ProcessNotes]) -> LastStarts:
    """Select the last process of each rank if torchrun has restarted ranks.

    Raises `topoloom.Error` if a rank has several processes for another reason.
    """
    last: dict[int, ProcessStart] = {}
    attempts: dict[str, int] = {}
    for one in sorted(noted, key=lambda one: one.start.began):
        start = one.start
        before = last.get(one.rank, start)
        if start.process != before.process and not start.is_restart_of(before):
            raise Error(
                f"the command started rank {one.rank} twice, as two jobs would; record "
                "each job separately"
            )
        last[one.rank] = start
        most = attempts.get(start.agent, 0)
        attempts[start.agent] = max(most, start.attempt or 0)
    kept = [
        one
        for one in noted
        if one.start.process == last[one.rank].process
        and (one.start.attempt or 0) == attempts[one.start.agent]
    ]
    processes, counted = (
        {(one.start.process, one.start.attempt) for one in some}
        for some in (noted, kept)
    )
    return LastStarts(kept, len(processes - counted))


def merge_notes(noted: Sequence[ProcessNotes]) -> Trace:
    """Merge the notes of all ranks of a job into one trace.

    Raises `topoloom.Error` if worlds differ in size, as in an elastic job.
    """
    worlds = sorted({one.world for one in noted})
    if len(worlds) > 1:
        raise Error(
            f"the job had worlds of {worlds[0]} and {worlds[-1]} ranks; record only "
            "one of them"
        )
    trace = Trace(worlds[0])
    for one in noted:
        trace.seen.add(one.rank)
        read_events(trace, one.rank, one.events, {})
        for what, calls in one.lost.items():
            trace.add_loss(f"rank {one.rank} lost {calls} {what}")
        if one.refused:
            trace.add_loss(one.refused)
    trace.add_missing_ranks()
    return trace
