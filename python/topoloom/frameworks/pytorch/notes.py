# SPDX-License-Identifier: BSD-3-Clause
"""What processes of PyTorch have counted, as traces of Kineto say it.

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


class Start(NamedTuple):
    """The start of a process.

    Attributes
    ----------
    process
        Its host and number.
    agent
        The host and number of what started it.
    attempt
        How often torchrun had started its ranks again before; None without torchrun.
    began
        When it started a world, in seconds of its host's clock.
    """

    process: str = ""
    agent: str = ""
    attempt: int | None = None
    began: float = 0.0

    def follows(self, other: Start) -> bool:
        """Return whether torchrun has put this process in the place of another.

        It counts the restarts that it decides, but not those by other hosts.
        """
        if self.attempt is None or other.attempt is None:
            return False
        same = self.attempt == other.attempt and self.agent == other.agent
        return same or self.attempt > other.attempt


class Noted(NamedTuple):
    """What one process has counted in one world.

    Attributes
    ----------
    rank, world
        Its rank, and the number of ranks.
    events
        Calls that differ; ``Calls`` is how often each was called.
    groups
        Members of the groups of a fake world, in the order in which they were made.
    lost
        What could not be counted: in words, and how often.
    refused
        Why PyTorch could not be observed; empty if it was.
    start
        Which process it was.
    """

    rank: int
    world: int
    events: list[dict[str, Any]]
    groups: list[tuple[int, ...]]
    lost: dict[str, int]
    refused: str
    start: Start = Start()


def read_notes(folder: Path) -> list[Noted]:
    """Read what processes left in a folder, by rank.

    Part of a last line, which a process that was killed may leave, does not count.

    Raises
    ------
    topoloom.Error
        For damaged files.
    """
    found = []
    for file in sorted(folder.glob("*.calls")):
        with prefix_errors(file):
            one = _read(file)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: one.rank)


def _read(file: Path) -> Noted | None:
    whole = file.read_text().rpartition("\n")[0]
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
        start = Start(
            f"{host} {number}",
            f"{host} {about.get('parent', 0)}",
            None if attempt is None else int(attempt),
            about.get("began", 0.0),
        )
        noted = Noted(about["rank"], about["world"], [], [], {}, refused, start)
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
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Error(f"damaged: {type(error).__name__}: {error}") from None
    return noted


def last_attempt(folder: Path) -> int:
    """Find how often torchrun has started ranks again, also before they had a world."""
    named = (file.stem.rpartition("-")[2] for file in folder.glob("*.begun"))
    return max(map(int, filter(is_number, named)), default=0)


class LastStarts(NamedTuple):
    """What counts of a job, and how many processes were started again after."""

    noted: list[Noted]
    left_out: int


def last_starts(noted: Sequence[Noted]) -> LastStarts:
    """Take the last process of each rank where torchrun has started ranks again.

    Raises
    ------
    topoloom.Error
        If a rank was several processes otherwise.
    """
    last: dict[int, Start] = {}
    attempts: dict[str, int] = {}
    for one in sorted(noted, key=lambda one: one.start.began):
        start = one.start
        before = last.get(one.rank, start)
        if start.process != before.process and not start.follows(before):
            raise Error(
                f"the command started rank {one.rank} twice, as in two jobs; record "
                "them one by one"
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


def joined(noted: Sequence[Noted]) -> Trace:
    """Join what the ranks of a world have counted.

    Raises
    ------
    topoloom.Error
        For worlds of different sizes, as in a job that has grown or shrunk.
    """
    worlds = sorted({one.world for one in noted})
    if len(worlds) > 1:
        raise Error(
            f"the job had worlds of {worlds[0]} and of {worlds[-1]} ranks; record one "
            "of them"
        )
    trace = Trace(worlds[0])
    for one in noted:
        trace.seen.add(one.rank)
        read_events(trace, one.rank, one.events, {})
        for what, calls in one.lost.items():
            trace.add_loss(f"rank {one.rank} lost {calls} {what}")
        if one.refused:
            trace.add_loss(one.refused)
    trace.report_missing()
    return trace
