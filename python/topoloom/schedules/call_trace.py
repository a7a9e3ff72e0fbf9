# SPDX-License-Identifier: BSD-3-Clause
"""Traces of calls: what each rank did, and when; libtopoloom-collective writes them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.support.files import read_text

KINDS = ("call", "copy", "send", "receive")


class Event(NamedTuple):
    """What a rank did from one time to another, in seconds of a common clock.

    A send begins as it is handed to MPI, a receive as the rank is ready for it; both
    end as MPI calls them complete. Copies include what is combined.
    """

    rank: int
    kind: str  # one of KINDS
    round: int
    peer: int
    bytes: int
    begin: float
    end: float


class Wait(NamedTuple):
    """A round in which a rank had to wait: for this message, which ended last."""

    receive: Event
    sent: float  # when it was handed to MPI
    ready: float  # when the rank was ready for it


@dataclass(frozen=True)
class CallTrace:
    """One call of a collective by all ranks of a communicator."""

    operation: str
    schedule: str
    bytes: int
    ranks: int
    events: list[Event]

    def of(self, *kinds: str) -> list[Event]:
        """Give the events of some kinds, in their order."""
        return [event for event in self.events if event.kind in kinds]

    @property
    def begin(self) -> float:
        """When the first rank began."""
        return min(event.begin for event in self.of("call"))

    @property
    def seconds(self) -> float:
        """From the begin of the first rank to the end of the last one."""
        return max(event.end for event in self.of("call")) - self.begin

    def waits(self) -> Iterator[Wait]:
        """Find the rounds whose last message was sent after its receiver was ready."""
        sent = self._sent()
        last: dict[tuple[int, int], Event] = {}
        for event in self.of("receive"):
            key = event.rank, event.round
            if key not in last or event.end > last[key].end:
                last[key] = event
        for receive in last.values():
            if sent[receive] > receive.begin:
                yield Wait(receive, sent[receive], receive.begin)

    def _sent(self) -> dict[Event, float]:
        """Match receives with sends, which meet in the order in which they begin."""
        sends: dict[tuple[int, int], list[float]] = defaultdict(list)
        for event in self.of("send"):
            sends[event.rank, event.peer].append(event.begin)
        left = {pair: iter(begins) for pair, begins in sends.items()}
        return {
            event: next(left.get((event.peer, event.rank), iter(())), event.begin)
            for event in self.of("receive")
        }


def load_traces(path: str | Path) -> list[CallTrace]:
    """Read a file of traces, a call per line.

    Raises
    ------
    topoloom.Error
        If a line is not the trace of a call.
    OSError
        If there is no such file.
    """
    return read_traces(read_text(path), str(path))


def read_traces(text: str, name: str) -> list[CallTrace]:
    """Read traces as `load_traces` does, of a text that errors call `name`."""
    lines = enumerate(text.splitlines(), 1)
    return [_read(line, f"{name}:{number}") for number, line in lines if line.strip()]


def _read(line: str, where: str) -> CallTrace:
    try:
        found: Any = json.loads(line)
        if (found["format"], found["version"]) != ("topoloom-trace", 1):
            raise ValueError
        events = [
            Event(int(r), str(k), int(n), int(p), int(b), float(t), float(u))
            for r, k, n, p, b, t, u in found["events"]
        ]
        ranks = int(found["ranks"])
        if not any(event.kind == "call" for event in events) or any(
            event.kind not in KINDS or not 0 <= event.rank < ranks for event in events
        ):
            raise ValueError
        words = str(found["operation"]), str(found["schedule"])
        return CallTrace(*words, int(found["bytes"]), ranks, events)
    except (ValueError, TypeError, KeyError):
        raise Error(
            f"{where}: not the trace of a call; TOPOLOOM_COLLECTIVES=trace=FILE writes "
            "such"
        ) from None
