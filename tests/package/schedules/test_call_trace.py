# SPDX-License-Identifier: BSD-3-Clause
"""Traces of calls show which rank waited for which other rank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from topoloom import Error
from topoloom.figure import draw_timeline
from topoloom.schedules import load_traces

#: Rank 1 sends its first message 3 s late; the second arrives before rank 0 waits.
EVENTS: list[list[Any]] = [
    [0, "call", 0, 0, 0, 10.0, 16.0],
    [0, "receive", 0, 1, 64, 10.0, 14.0],
    [0, "copy", 0, 0, 0, 14.0, 14.5],
    [0, "receive", 1, 1, 32, 14.5, 15.0],
    [1, "call", 0, 0, 0, 12.0, 15.0],
    [1, "send", 0, 0, 64, 13.0, 13.5],
    [1, "send", 1, 0, 32, 13.5, 14.0],
]
LINE = {
    "format": "topoloom-trace",
    "version": 1,
    "operation": "gather",
    "schedule": "linear",
    "bytes": 64,
    "ranks": 2,
    "events": EVENTS,
}


def write_trace(folder: Path, **changed: object) -> Path:
    path = folder / "trace.jsonl"
    path.write_text(json.dumps({**LINE, **changed}) + "\n\n")
    return path


def test_a_rank_waits_for_messages_sent_after_it_is_ready(tmp_path: Path) -> None:
    (trace,) = load_traces(write_trace(tmp_path))
    (wait,) = trace.waits()
    assert (wait.receive.rank, wait.receive.peer, wait.receive.bytes) == (0, 1, 64)
    assert (wait.ready, wait.sent, wait.receive.end) == (10.0, 13.0, 14.0)
    assert (trace.begin, trace.seconds) == (10.0, 6.0)


def test_the_last_message_of_a_round_determines_the_wait(tmp_path: Path) -> None:
    last = [[0, "receive", 0, 2, 8, 10.0, 14.2], [2, "send", 0, 0, 8, 12.0, 12.1]]
    call = [2, "call", 0, 0, 0, 10.0, 12.1]
    path = write_trace(tmp_path, ranks=3, events=[*EVENTS, call, *last])
    (trace,) = load_traces(path)
    (wait,) = trace.waits()
    assert (wait.receive.peer, wait.sent) == (2, 12.0)


def test_timelines_are_reproducible(tmp_path: Path) -> None:
    (trace,) = load_traces(write_trace(tmp_path))
    pictures = [tmp_path / name for name in ("one.svg", "two.svg")]
    for picture in pictures:
        draw_timeline(picture, trace)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


@pytest.mark.parametrize(
    "changed",
    [
        {"format": "topoloom-decisions"},
        {"version": 2},
        {"events": []},
        {"events": [[0, "sleep", 0, 0, 0, 1.0, 2.0], *EVENTS]},
        {"events": [[2, "call", 0, 0, 0, 1.0, 2.0], *EVENTS]},
        {"events": [[0, "call", 0], *EVENTS]},
        {"events": None},
        {"ranks": "two"},
    ],
)
def test_an_invalid_trace_is_refused_with_its_line(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    path = write_trace(tmp_path, **changed)
    with pytest.raises(Error, match=r"trace\.jsonl:1: not the trace of a collective"):
        load_traces(path)
