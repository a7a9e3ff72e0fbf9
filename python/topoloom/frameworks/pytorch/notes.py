# SPDX-License-Identifier: BSD-3-Clause
"""What processes of PyTorch have counted, as traces of Kineto say it.

`injected.py` describes the files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.graphs.traces.kineto import read_events
from topoloom.graphs.traces.trace import Trace
from topoloom.support.files import named


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
    """

    rank: int
    world: int
    events: list[dict[str, Any]]
    groups: list[tuple[int, ...]]
    lost: dict[str, int]
    refused: str


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
        with named(file):
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
        noted = Noted(about["rank"], about["world"], [], [], {}, refused)
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


def joined(noted: list[Noted]) -> Trace:
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
            trace.lose(f"rank {one.rank} lost {calls} {what}")
        if one.refused:
            trace.lose(one.refused)
    trace.expect_all()
    return trace
