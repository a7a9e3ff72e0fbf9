# SPDX-License-Identifier: BSD-3-Clause
"""Traces of Pajé have the messages of their links."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.graphs.traces.trace_formats import (
    IncompleteTraceError,
    detect_trace_format,
    read_trace,
)

#: Events with fields in an order that differs from SimGrid's.
HEADER = """\
%EventDef PajeCreateContainer 1
% Time date
% Name string
% Alias string
%EndEventDef
%EventDef PajeStartLink 2
% Key string
% StartContainer string
% Size int
%EndEventDef
%EventDef PajeEndLink 3
% EndContainer string
% Key string
%EndEventDef
%EventDef PajePushState 4
% Container string
% Value string
%EndEventDef
"""
RANKS = "".join(f'1 0.0 "rank-{rank}" c{rank}\n' for rank in range(4))


def read(path: Path, events: str, head: str = "", **options: bool) -> set[object]:
    path.write_text(head + HEADER + RANKS + events)
    assert detect_trace_format(path) == "paje"
    profile = read_trace(path, **options).profile
    assert profile.rank_count == 4
    return {(row[2], row[3], row[4], row[5]) for row in profile.traffic.tolist()}


def test_links_are_joined_by_their_keys(tmp_path: Path) -> None:
    events = "2 a c1 10\n2 a c2 20\n3 c3 a\n2 b c0 5\n3 c0 a\n3 c1 b\n4 c1 anything\n"
    assert read(tmp_path / "t.trace", events) == {
        *((1, 3, 10, 1), (2, 0, 20, 1), (0, 1, 5, 1))
    }


def test_a_link_without_end_makes_the_trace_incomplete(tmp_path: Path) -> None:
    events = "2 a c1 10\n3 c3 a\n2 b c2 20\n3 c2 d\n"
    with pytest.raises(IncompleteTraceError, match="2 messages without a sender"):
        read(tmp_path / "t.trace", events)
    assert read(tmp_path / "t.trace", events, partial=True) == {(1, 3, 10, 1)}


def test_messages_that_wait_for_others_are_in_later_phases(tmp_path: Path) -> None:
    chain, last = "2 a c0 10\n3 c1 a\n2 b c1 20\n3 c2 b\n", "2 d c0 5\n3 c3 d\n"
    bcast, barrier = (
        "".join(f"4 c{rank} {name}\n" for rank in range(4))
        for name in ("MPI_Bcast", "PMPI_Barrier")
    )
    expected = {chain + last: [0, 1, 0], bcast + chain + barrier + last: [0, 0, 1]}
    for number, (events, phases) in enumerate(expected.items()):
        path = tmp_path / f"{number}.trace"
        path.write_text(HEADER + RANKS + events)
        profile = read_trace(path).profile
        assert profile.traffic[:, 2:4].tolist() == [[0, 1], [1, 2], [0, 3]]
        assert profile.traffic[:, 0].tolist() == phases


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ("2 a c1\n", "the message has no size; for SimGrid"),
        ("2 a c1 many\n", "is not a Pajé event"),
        ("3 c9 a\n2 a c1 1\n", "unknown container 'c9'"),
        ("", "no messages were traced"),
        ('1 0 "node-0" n0\n2 a c1 1\n3 n0 a\n', "of several kinds"),
        ('1 0 "rank" n0\n2 a c1 1\n3 n0 a\n', "has no number"),
        ('1 0 "rank-1" n0\n2 a c1 1\n3 n0 a\n', "of several kinds"),
    ],
)
def test_wrong_traces_are_refused(events: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Error, match=why):
        read(tmp_path / "t.trace", events)
