# SPDX-License-Identifier: BSD-3-Clause
"""Recordings and profiles are read completely, or rejected with a one-line error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mpis import pairs

from topoloom import Error
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.mpi_time import load_mpi_time
from topoloom.graphs.profile import KINDS, Profile, load_profile
from topoloom.preload.record import read_recording

HEAD = b"topoloom-recording 3\n".ljust(32, b"\0")
MARK = 0x746F706F6C6F6F6D


def list_block_words(
    rank: int,
    counters: list[list[int]],
    records: list[list[int]] | None = None,
    communicators: list[list[int]] | None = None,
    size: int = 3,
) -> list[int]:
    """Write a block in the format of ``mpi/record/rank_block.c``."""
    records, communicators = records or [], communicators or []
    parts = [*counters, *records, *communicators]
    body = [word for part in parts for word in part]
    counts = [len(counters), len(records), len(communicators)]
    times = [2_000_000_000, 500_000_000 * (rank + 1)]
    return [MARK, 11 + len(body), rank, size, 1, *times, 0, *counts, *body]


def write_recording(folder: Path, words: list[int], name: str = "recording-1") -> Path:
    file = folder / f"{name}.topoloom"
    file.write_bytes(HEAD + np.array(words, dtype=np.int64).tobytes())
    return file


def write_example(folder: Path) -> Profile:
    """Read a recording of sends, gets, a bcast and a v-collective on {2, 1, 0}."""
    bcast = [7, OPERATIONS.index("bcast"), 99, 1, 50, 4]
    sends = [[0, 0, 0, 1, 100, 2], [7, 0, 0, 1, 10, 1], [7, 4, 1, 2, 5, 1]]
    got = [[0, KINDS.index("get"), 0, 0, 30, 3]]
    words = [
        *list_block_words(0, sends, [], [[1, 99, 3, 2]]),  # rank 2 lists the members
        *list_block_words(2, got, [bcast], [[4, 99, 3, 1, 2, 1, 0]]),
        *list_block_words(1, []),
    ]
    write_recording(folder, words)
    return read_recording(folder)


def test_a_recording_becomes_a_profile(tmp_path: Path) -> None:
    profile = write_example(tmp_path)
    assert profile.rank_count == 3
    assert profile.phases == [0, 7]
    assert profile.wall_seconds == 2.0
    assert profile.mpi_seconds.tolist() == [0.5, 1.0, 1.5]
    assert profile.mpi_time == (2.0, 0.5, 1.0, 1.5, 0.25)
    assert pairs(profile.point_to_point()) == {(0, 1): (110, 3), (0, 2): (30, 3)}
    assert pairs(profile.point_to_point(7)) == {(0, 1): (10, 1)}
    assert pairs(profile.direct()) == {(0, 2): (5, 1)}
    assert sorted(profile.traffic[:, [1, 6]].tolist()) == [[0, -1]] * 2 + [
        [3, -1],
        [4, 0],
    ]
    # The root is rank 1 of {2, 1, 0}; the bcast follows a ring.
    assert pairs(profile.sum_collectives()) == {(1, 0): (200, 4), (1, 2): (200, 4)}
    assert not pairs(profile.sum_collectives(0))
    assert pairs(profile.edges("keep")) == pairs(profile.edges("drop"))
    assert profile.edges("expand").bytes.sum() == 140 + 5 + 400
    assert profile.graph("keep", 7).total_bytes == 10


def test_members_with_a_stride_are_listed_without_a_list(tmp_path: Path) -> None:
    record = [0, OPERATIONS.index("barrier"), 5, -1, 0, 1]
    write_recording(tmp_path, list_block_words(0, [], [record], [[1, 5, 2, 0, 0, 2]]))
    assert read_recording(tmp_path).communicators[0].tolist() == [0, 2]


def test_partial_files_are_merged_and_missing_ones_named(tmp_path: Path) -> None:
    for rank in (0, 2):
        words = list_block_words(rank, [[0, 0, 0, 1, 8, 1]])
        words[4] = 0
        write_recording(tmp_path, words, f"partial-{rank}-1")
    profile = read_recording(tmp_path)
    assert profile.partial == [0, 2]
    assert profile.missing == [1]


def test_a_saved_profile_is_the_same_when_loaded(tmp_path: Path) -> None:
    profile = write_example(tmp_path)
    profile.save(tmp_path / "a.npz")
    again = load_profile(tmp_path / "a.npz")
    np.testing.assert_array_equal(again.traffic, profile.traffic)
    np.testing.assert_array_equal(again.records, profile.records)
    assert [m.tolist() for m in again.communicators] == [[2, 1, 0]]
    assert again.wall_seconds == profile.wall_seconds
    assert again.mpi_seconds.tolist() == profile.mpi_seconds.tolist()
    assert again.run_seconds.tolist() == profile.run_seconds.tolist()
    assert load_mpi_time(tmp_path / "a.npz") == profile.mpi_time
    profile.save(tmp_path / "b.npz", "drop")
    dropped = load_profile(tmp_path / "b.npz")
    assert not len(dropped.records)
    assert not len(dropped.direct().source)


def test_a_program_that_sends_nothing_has_an_empty_graph(tmp_path: Path) -> None:
    write_recording(
        tmp_path,
        [*list_block_words(0, []), *list_block_words(1, []), *list_block_words(2, [])],
    )
    profile = read_recording(tmp_path)
    assert profile.graph().edge_count == 0
    profile.save(tmp_path / "empty.npz")
    assert load_profile(tmp_path / "empty.npz").rank_count == 3


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not a recording"),
        (b"PK\3\4" + bytes(100), "not a recording"),
        (HEAD.replace(b"3", b"1"), "version '1', but this topoloom reads version 3"),
        (HEAD, "truncated"),
        (HEAD + bytes(96), "damaged at byte 32"),
        (
            HEAD + np.array(list_block_words(0, []), dtype=">i8").tobytes(),
            "other byte order",
        ),
        (
            HEAD
            + np.array(list_block_words(0, [[0] * 6]), dtype=np.int64).tobytes()[:-8],
            "truncated",
        ),
        (HEAD + np.array(list_block_words(3, []), dtype=np.int64).tobytes(), "damaged"),
        (
            HEAD
            + np.array(
                list_block_words(0, [[0, 0, 0, 3, 1, 1]]), dtype=np.int64
            ).tobytes(),
            "damaged",
        ),
        (
            HEAD
            + np.array(
                list_block_words(0, [[0, 4, 1, 2, 5, 1]]), dtype=np.int64
            ).tobytes(),
            "damaged",
        ),
        (
            HEAD
            + np.array(
                list_block_words(0, [], [], [[1, 5, 9, 0, 0, 1]]), dtype=np.int64
            ).tobytes(),
            "damaged",
        ),
    ],
)
def test_a_damaged_recording_is_refused_by_name(
    data: bytes, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "recording-1.topoloom").write_bytes(data)
    with pytest.raises(Error, match=problem) as caught:
        read_recording(tmp_path)
    assert "recording-1.topoloom" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_programs_in_one_command_are_refused(tmp_path: Path) -> None:
    write_recording(tmp_path, list_block_words(0, []), "recording-1")
    write_recording(tmp_path, list_block_words(0, []), "recording-2")
    with pytest.raises(Error, match="2 MPI programs"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("profile_version", np.array(9), "profile version 9"),
        (
            "profile_traffic",
            np.array([[0, 0, 0, 9, 1, 1, -1]]),
            "rank 9 is not one of 3",
        ),
        ("profile_traffic", np.array([[0, 9, 0, 1, 1, 1, -1]]), "kind 9 is not one of"),
        ("profile_traffic", np.array([[0, 0, 0, 1, -1, 1, -1]]), "negative"),
        ("profile_traffic", np.array([[0, 4, 0, 1, 1, 1, 5]]), "communicator 5 is not"),
        ("profile_traffic", np.array([1, 2, 3]), "damaged profile"),
        ("profile_collectives", np.array([[0, 99, 0, 0, 1, 1]]), "operation 99 is not"),
        ("profile_collectives", np.array([[0, 1, 5, 0, 1, 1]]), "communicator 5 is"),
    ],
)
def test_a_damaged_profile_is_refused_by_name(
    name: str, value: np.ndarray, problem: str, tmp_path: Path
) -> None:
    write_example(tmp_path).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        changed = {**arrays, name: value}
    np.savez(tmp_path / "b.npz", **changed)
    with pytest.raises(Error, match=problem) as caught:
        load_profile(tmp_path / "b.npz")
    assert "b.npz" in str(caught.value)


def test_a_profile_without_a_recording_is_refused(tmp_path: Path) -> None:
    write_example(tmp_path).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        bare = {k: v for k, v in arrays.items() if not k.startswith("profile_")}
    np.savez(tmp_path / "b.npz", **bare)
    with pytest.raises(Error, match="no profile of a recorded run"):
        load_profile(tmp_path / "b.npz")
    with pytest.raises(OSError, match="nowhere"):
        load_profile(tmp_path / "nowhere.npz")
