# SPDX-License-Identifier: BSD-3-Clause
"""Files of runs: one JSON line for each run, in a file of its own or in a merged file.

A run that is in progress has a file of its own, which its process replaces when the run
ends. Files of ended runs never change. They can therefore be merged at any time by any
process: the merged file is written first, then its parts are deleted. A run that is
found twice in between has the same identifier.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from topoloom.store.durable_files import UNFINISHED, read_file, replace_file
from topoloom.store.stored_record import Record, is_record, parse_record

#: Suffixes of the file of one run, and of a merged file.
ONE, MERGED = ".json", ".jsonl"
#: States of a run: it runs; it has ended, and its next run is being placed; done.
STARTED, PLACING, ENDED = "started", "placing", "ended"
#: Number of files of single runs from which they are merged.
MERGE_COUNT = 256
#: A line of a merged file; the version and the identifier are its first values.
_LINE = re.compile(rb'^\{"version":[0-9]+,"id":"([-0-9A-Za-z_]+)".*\n', re.MULTILINE)
#: Readings of a folder whose files are being merged by other processes.
_ATTEMPTS = 5


class StoredRuns(NamedTuple):
    """The records of runs, the oldest first, and the number of unreadable lines."""

    records: list[Record]
    damaged: int


def write_run(folder: Path, record: Record) -> None:
    """Write the file of a run, whose name is the run's identifier."""
    replace_file(folder / f"{record['id']}{ONE}", _format_line(record))


def read_runs(folder: Path) -> StoredRuns:
    """Read all runs of a folder; a folder that does not exist has none."""
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):
            return _read_names(folder, _list_names(folder))
    return _read_names(folder, _list_names(folder), skip_missing=True)


class LastRuns(NamedTuple):
    """The last runs, the oldest first, the number of all that match, and of damage."""

    records: list[Record]
    total: int
    damaged: int


def read_last_runs(
    folder: Path, count: int, texts: Mapping[str, str] = MappingProxyType({})
) -> LastRuns:
    """Read the last runs that have one of these texts as the value of its key.

    Without texts, all runs match. Only the lines of the last runs are parsed; damaged
    files of runs before them are not found.
    """
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):
            return _LastLines(folder, count, texts).read()
    return _LastLines(folder, count, texts, skip_missing=True).read()


class _LastLines:
    """Collects the lines of the last runs, by identifier."""

    def __init__(
        self,
        folder: Path,
        count: int,
        texts: Mapping[str, str],
        skip_missing: bool = False,
    ) -> None:
        self._folder, self._count, self._skip_missing = folder, count, skip_missing
        # Quotes inside of strings are escaped, so this finds keys and values only.
        self._wanted = [
            f"{json.dumps(key)}:{json.dumps(text)}".encode()
            for key, text in texts.items()
        ]
        self._lines: dict[bytes, bytes | None] = {}
        self._seen: set[bytes] = set()
        self._damaged = 0

    def read(self) -> LastRuns:
        names = _list_names(self._folder)
        for name in names:
            if name.endswith(MERGED):
                self._add_merged(name)
        for name in names:
            if name.endswith(ONE):
                self._add_one(name)
        self._drop_first()
        read = (self._read_line(key) for key in sorted(self._lines))
        lines = [line for line in read if line is not None]
        found, damaged = _parse_lines(b"".join(lines)) if lines else ([], 0)
        return LastRuns(found, len(self._seen), self._damaged + damaged)

    def _add_merged(self, name: str) -> None:
        data = self._read_file(name) or b""
        found = 0
        for match in _LINE.finditer(data):
            found += 1
            self._add(match[1], match[0] if self._matches(match[0]) else b"")
        self._damaged += data.count(b"\n") - found
        self._drop_first()

    def _add_one(self, name: str) -> None:
        key = name.removesuffix(ONE).encode()
        if not self._wanted:
            self._add(key, None)  # It is read if it is one of the last.
        elif key not in self._seen and (line := self._read_file(name)):
            self._add(key, line if self._matches(line) else b"")

    def _add(self, key: bytes, line: bytes | None) -> None:
        if line != b"" and key not in self._seen:
            self._seen.add(key)
            self._lines[key] = line

    def _matches(self, line: bytes) -> bool:
        return not self._wanted or any(text in line for text in self._wanted)

    def _drop_first(self) -> None:
        """Forget all but the last lines, so that memory is bounded."""
        for key in sorted(self._lines)[: -self._count or None]:
            del self._lines[key]

    def _read_line(self, key: bytes) -> bytes | None:
        line = self._lines[key]
        return self._read_file(f"{key.decode()}{ONE}") if line is None else line

    def _read_file(self, name: str) -> bytes | None:
        """Read a file; an unreadable one is a damaged line."""
        try:
            return read_file(f"{self._folder}/{name}")
        except FileNotFoundError:
            if self._skip_missing:
                return None
            raise
        except OSError:
            return b"?\n"


def merge_runs(folder: Path, at_least: int = MERGE_COUNT) -> int:
    """Merge the files of ended runs if they are many; return how many were merged.

    Only files of this user are merged: in a shared folder, others cannot be deleted.
    """
    if sum(name.endswith(ONE) for name in _list_names(folder)) < at_least:
        return 0
    parts: list[tuple[Path, bytes]] = []
    for path in sorted(_list_own_files(folder)):
        with contextlib.suppress(OSError):
            data = read_file(path)
            record = parse_record(data)
            if is_record(record) and record["state"] == ENDED:
                parts.append((path, data))
    if len(parts) < max(at_least, 2):
        return 0
    _write_merged(folder, b"".join(data for _, data in parts))
    for path, _ in parts:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(parts)


def remove_runs(folder: Path, removed: set[str]) -> None:
    """Remove runs by identifier; merged files are rewritten without them."""
    for name in _list_names(folder):
        path = folder / name
        if name.endswith(ONE):
            if name.removesuffix(ONE) in removed:
                path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(FileNotFoundError):
            found, damaged = _parse_lines(read_file(path))
            kept = [record for record in found if record["id"] not in removed]
            if len(kept) == len(found) and not damaged:
                continue
            if kept:
                _write_merged(folder, b"".join(map(_format_line, kept)))
            path.unlink(missing_ok=True)


def _write_merged(folder: Path, data: bytes) -> None:
    name = f"merged-{hashlib.sha256(data).hexdigest()[:24]}{MERGED}"
    replace_file(folder / name, data)


def _list_own_files(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ONE) and not entry.name.startswith(UNFINISHED):
                with contextlib.suppress(OSError):
                    if entry.stat().st_uid == os.geteuid():
                        yield Path(entry.path)


def _list_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    return sorted(
        name
        for name in names
        if name.endswith((ONE, MERGED)) and not name.startswith(UNFINISHED)
    )


def _read_names(
    folder: Path, names: Iterable[str], skip_missing: bool = False
) -> StoredRuns:
    records: dict[str, Record] = {}
    damaged = 0
    with _pause_garbage_collection():
        for data in _read_data(folder, names, skip_missing):
            found, lost = _parse_lines(data)
            damaged += lost
            for record in found:
                known = records.get(record["id"])
                if known is None or known["state"] != ENDED:
                    records[record["id"]] = record
    return StoredRuns([records[key] for key in sorted(records)], damaged)


def _read_data(
    folder: Path, names: Iterable[str], skip_missing: bool
) -> Iterator[bytes]:
    """Yield the contents of each merged file, and those of all others together.

    An unreadable file is a damaged line.
    """
    single: list[bytes] = []
    for name in names:
        try:
            data = read_file(f"{folder}/{name}")
        except FileNotFoundError:
            if not skip_missing:
                raise
            continue
        except OSError:
            data = b"?\n"
        if name.endswith(MERGED):
            yield data
        else:
            single.append(data)
    yield b"".join(single)


@contextlib.contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Avoid collections, which take a third of the time of reading 100,000 runs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _parse_lines(data: bytes) -> tuple[list[Record], int]:
    """Parse a run in each line; also count the damaged lines."""
    # One parse for all lines is faster, and stores equal keys once.
    joined = data.removesuffix(b"\n").replace(b"\n", b",")
    found = parse_record(b"[" + joined + b"]")
    if found is None:
        found = [parse_record(line) for line in data.splitlines()]
    records = [record for record in found if is_record(record)]
    return records, len(found) - len(records)


def _format_line(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
