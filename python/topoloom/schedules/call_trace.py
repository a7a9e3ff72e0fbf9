# SPDX-License-Identifier: BSD-3-Clause
"""Reads the traces of collective calls that libtopoloom-collective writes."""

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
    """An action of a rank; `begin` and `end` are in seconds on a common clock.

    A send begins when the rank calls MPI; a receive begins when the rank is ready for
    the message. Sends and receives end when MPI reports completion. Copies include
    reductions.
    """

    rank: int
    kind: str  # one of KINDS
    round: int
    peer: int
    bytes: int
    begin: float
    end: float


class LateWait(NamedTuple):
    """A round in which a rank waited for a message that was sent late."""

    receive: Event
    sent: float  # time at which the sender called MPI
    ready: float  # time at which the receiver was ready


@dataclass(frozen=True)
class CallTrace:
    """One call of a collective by all ranks of a communicator."""

    operation: str
    schedule: str
    bytes: int
    ranks: int
    events: list[Event]

    def select(self, *kinds: str) -> list[Event]:
        """List the events of the given kinds in recorded order."""
        return [event for event in self.events if event.kind in kinds]

    @property
    def begin(self) -> float:
        """Time at which the first rank began the call."""
        return min(event.begin for event in self.select("call"))

    @property
    def seconds(self) -> float:
        """Seconds from the first rank's begin to the last rank's end."""
        return max(event.end for event in self.select("call")) - self.begin

    def waits(self) -> Iterator[LateWait]:
        """Find rounds whose last message was sent after its receiver was ready."""
        sent = self._match_send_times()
        last: dict[tuple[int, int], Event] = {}
        for event in self.select("receive"):
            key = event.rank, event.round
            if key not in last or event.end > last[key].end:
                last[key] = event
        for receive in last.values():
            if sent[receive] > receive.begin:
                yield LateWait(receive, sent[receive], receive.begin)

    def _match_send_times(self) -> dict[Event, float]:
        """Map each receive to the time when the matching send began."""
        sends: dict[tuple[int, int], list[float]] = defaultdict(list)
        for event in self.select("send"):
            sends[event.rank, event.peer].append(event.begin)
        left = {pair: iter(begins) for pair, begins in sends.items()}
        return {
            event: next(left.get((event.peer, event.rank), iter(())), event.begin)
            for event in self.select("receive")
        }


def load_traces(path: str | Path) -> list[CallTrace]:
    """Read a file of traces, one call per line.

    Raises
    ------
    topoloom.Error
        If a line is not the trace of a collective call.
    OSError
        If the file cannot be read.
    """
    return parse_traces(read_text(path), str(path))


def parse_traces(text: str, name: str) -> list[CallTrace]:
    """Parse traces; error messages contain `name` and the line number."""
    lines = enumerate(text.splitlines(), 1)
    return [
        _parse_trace(line, f"{name}:{number}") for number, line in lines if line.strip()
    ]


def _parse_trace(line: str, where: str) -> CallTrace:
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
            f"{where}: not the trace of a collective call; record traces with "
            "TOPOLOOM_COLLECTIVES=trace=FILE"
        ) from None
