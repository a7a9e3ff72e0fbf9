# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the store survive kills, merges and damage, with many writers."""

from __future__ import annotations

import itertools
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from topoloom.store.durable_files import UNFINISHED
from topoloom.store.run_files import (
    merge_runs,
    read_last_runs,
    read_runs,
    remove_runs,
    write_run,
)
from topoloom.store.run_store import RunStore, find_run, make_key, make_run_id


def make_run(number: int, state: str = "ended") -> dict[str, object]:
    return {"id": f"2026-{number:06}", "state": state, "number": number}


def list_numbers(folder: Path) -> list[int]:
    return [record["number"] for record in read_runs(folder).records]


def test_any_sequence_of_operations_keeps_what_was_written(tmp_path: Path) -> None:
    random.seed(1)
    expected: dict[int, str] = {}
    for _ in range(150):
        number = random.randrange(60)
        chance = random.random()
        if chance < 0.6:
            if expected.get(number) != "ended":
                expected[number] = random.choice(["started", "ended"])
                write_run(tmp_path, make_run(number, expected[number]))
        elif chance < 0.8:
            merge_runs(tmp_path, at_least=2)
        else:
            remove_runs(tmp_path, {f"2026-{number:06}"})
            expected.pop(number, None)
        found = {r["number"]: r["state"] for r in read_runs(tmp_path).records}
        assert found == expected
    assert list(tmp_path.glob("*.jsonl"))


def test_the_last_runs_are_those_at_the_end_of_all_runs(tmp_path: Path) -> None:
    random.seed(2)
    names = ["a", 'b"c', "é"]
    for number in random.sample(range(60), 40):
        run = {"version": 1, **make_run(number), "note": '"program":"a"'}
        write_run(tmp_path, {**run, "program": random.choice(names)})
        if number % 9 == 0:
            merge_runs(tmp_path, at_least=4)
    assert list(tmp_path.glob("*.jsonl"))
    every = read_runs(tmp_path).records
    for name, count in itertools.product([None, *names, "d"], [0, 1, 7, 100]):
        texts = {} if name is None else {"program": name, "user": name}
        matching = [run for run in every if name in (None, run["program"])]
        found = read_last_runs(tmp_path, count, texts)
        assert found.records == (matching[-count:] if count else [])
        assert (found.total, found.damaged) == (len(matching), 0)


def write_until_killed(folder: Path, first: int, reported: int) -> None:
    for number in range(first, first + 100_000):
        write_run(folder, make_run(number))
        os.write(reported, b"%d\n" % number)
        if number % 16 == 15:
            merge_runs(folder, at_least=8)


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[tuple[list[int], IO[str]]]:
    """Start four writers; return their process numbers, and the lines they report."""
    outlet, inlet = os.pipe()
    processes = []
    for writer in range(4):
        process = os.fork()
        if process == 0:
            try:
                write_until_killed(tmp_path, 100_000 * writer, inlet)
            finally:
                os._exit(1)
        processes.append(process)
    os.close(inlet)
    with os.fdopen(outlet) as lines:
        yield processes, lines


def test_killed_writers_lose_no_run_that_they_reported(
    tmp_path: Path, writers: tuple[list[int], IO[str]]
) -> None:
    processes, lines = writers
    reported = set()
    for process in processes:
        reported |= {int(line) for line in itertools.islice(lines, 40)}
        os.kill(process, signal.SIGKILL)
    for process in processes:
        os.waitpid(process, 0)
    reported |= {int(line) for line in lines}
    found = set(list_numbers(tmp_path))
    assert reported <= found
    assert read_runs(tmp_path).damaged == 0
    assert len(found) - len(reported) <= len(processes)


def test_damaged_lines_are_counted_and_skipped(tmp_path: Path) -> None:
    for number in range(4):
        write_run(tmp_path, make_run(number))
    merge_runs(tmp_path, at_least=2)
    [merged] = tmp_path.glob("*.jsonl")
    lines = merged.read_bytes().splitlines(keepends=True)
    merged.write_bytes(lines[0] + b'{"id": 7\n' + b"[]\n" + lines[3])
    (tmp_path / f"{UNFINISHED}x.json").write_bytes(b"{")
    assert list_numbers(tmp_path) == [0, 3]
    assert read_runs(tmp_path).damaged == 2


def test_pruning_removes_only_files_that_no_run_names(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "store")
    store.create()
    names = [
        store.add_file(".npz", lambda path, n=n: path.write_text(f"recording {n}"))
        for n in range(3)
    ]
    assert (
        store.add_file(".npz", lambda path: path.write_text("recording 0"))
        == (names[0])
    )
    store.write_run({**make_run(1), "recording": names[0]})
    store.write_run({**make_run(2), "placed_by": names[0], "placement": names[1]})
    store.write_entry(make_key("program", "a"), {"recording": names[0]})
    store.write_entry(make_key("program", "b"), {"recording": names[2]})
    assert store.remove_runs(["2026-000002"]) == 1
    kept = [store.find_file(name) is not None for name in names]
    assert kept == [True, False, True]  # the last may belong to a run in progress
    assert store.read_entry(make_key("program", "a")) == {"recording": names[0]}
    assert store.remove_runs(["2026-000001"]) == 1
    assert store.read_entry(make_key("program", "a")) is None
    assert store.find_file("../../x.npz") is None


def test_a_group_can_write_to_a_shared_store(tmp_path: Path) -> None:
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o2770)
    store = RunStore(root)
    store.create()
    store.add_file(".npz", lambda path: path.write_text("x"))
    store.write_entry(make_key("program", "a"), {})
    folders = [path for path in root.rglob("*") if path.is_dir()]
    assert len(folders) == 5
    assert {path.stat().st_mode & 0o7777 for path in folders} == {0o2770}
    private = RunStore(tmp_path / "data" / "private")
    private.create()
    assert private.root.stat().st_mode & 0o7777 == 0o700


def test_runs_are_found_by_a_part_of_their_identifier() -> None:
    records = [{"id": make_run_id(), "state": "ended"} for _ in range(2)]
    assert records[0]["id"] != records[1]["id"]
    assert find_run(records, records[1]["id"][-8:]) is records[1]
    with pytest.raises(ValueError, match="matches 2 runs"):
        find_run(records, "20")
    with pytest.raises(ValueError, match="has no run 'x'"):
        find_run(records, "x")


#: Values that no version has written, for every key whose value is used.
ODD = ["[" * 5000, "NaN", "-1e400", "9" * 400, "[[1]]", '{"run": "x"}', "true", "1e12"]
KEYS = ["id", "state", "started", "nodes", "ranks", "command", "mpi_time", "predicted"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ODD)
def test_records_with_odd_values_are_damaged(
    key: str, value: str, tmp_path: Path
) -> None:
    if (key, value) in (("ranks", "1e12"), ("nodes", "1e12")):
        value = '"1"'
    good = '{"version":1,"id":"2026-a","state":"ended"}\n'
    odd = f'{{"version":1,"id":"2026-b","state":"ended","{key}":{value}}}\n'
    (tmp_path / "merged-x.jsonl").write_text(good + odd)
    found = read_runs(tmp_path)
    assert [record["id"] for record in found.records] == ["2026-a"]
    assert found.damaged == 1
    assert read_last_runs(tmp_path, 9).damaged == 1


def test_devices_in_a_store_are_empty(tmp_path: Path) -> None:
    (tmp_path / "2026-a.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "2026-b.json")
    write_run(tmp_path, make_run(1))
    assert list_numbers(tmp_path) == [1]
    assert len(read_last_runs(tmp_path, 9).records) == 1


def test_damaged_entries_are_missing(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.create()
    key = make_key("program", "x")
    store.write_entry(key, {"a": 1})
    [file] = tmp_path.glob("index/*/*.json")
    for text in ("[" * 100_000, '{"a": NaN}', "[]", ""):
        file.write_text(text)
        assert store.read_entry(key) is None
