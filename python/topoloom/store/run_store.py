# SPDX-License-Identifier: BSD-3-Clause
"""The run store: runs, files by content, and an index of programs and placements."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.store.durable_files import (
    add_by_content,
    make_folder,
    read_file,
    remove_unfinished,
    replace_file,
)
from topoloom.store.run_files import (
    MERGE_COUNT,
    LastRuns,
    StoredRuns,
    merge_runs,
    read_last_runs,
    read_runs,
    remove_runs,
    write_run,
)
from topoloom.store.stored_record import Record, parse_record

#: Version of the format, which each record contains.
VERSION = 1
_FILE_NAME = re.compile(r"[0-9a-f]{64}\.(npz|json)")


class RunStore:
    """A directory of runs.

    Methods that write raise `OSError` if the directory is not writable, or full.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._runs, self._files, self._index = (
            root / name for name in ("runs", "files", "index")
        )

    def create(self) -> None:
        """Create the directory, readable only by the user, and its folders."""
        if not self.root.is_dir():
            self.root.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.root.mkdir(mode=0o700)
        for folder in (self._runs, self._files, self._index):
            make_folder(folder, self.root)

    def write_run(self, record: Record) -> None:
        """Write a run, or replace its record while it is in progress."""
        write_run(self._runs, {"version": VERSION, **record})

    def read_runs(self) -> StoredRuns:
        """Read all runs, the oldest first."""
        return read_runs(self._runs)

    def read_last_runs(self, count: int, texts: Mapping[str, str]) -> LastRuns:
        """Read the last runs that have one of these texts as the value of its key."""
        return read_last_runs(self._runs, count, texts)

    def merge_runs(self, at_least: int = MERGE_COUNT) -> int:
        """Merge files of ended runs if there are many of them."""
        return merge_runs(self._runs, at_least)

    def remove_runs(self, removed: Collection[str]) -> int:
        """Remove runs, and the files that only these runs need.

        Returns the number of removed files.
        """
        if not self.root.is_dir():
            return 0
        named = self._list_named_files()
        remove_runs(self._runs, set(removed))
        for folder in (
            self._runs,
            self._files,
            *self._files.glob("*"),
            *self._index.glob("*"),
        ):
            remove_unfinished(folder)
        # A file is written before the run that names it. So only files that were named
        # can be removed: others may belong to a run that is in progress.
        needless = named - self._list_named_files()
        for path in self._index.glob("*/*.json"):
            entry = self._read_entry(path)
            if entry is not None and needless.intersection(_list_files(entry)):
                path.unlink(missing_ok=True)
        for name in needless:
            (self._files / name[:2] / name).unlink(missing_ok=True)
        return len(needless)

    def add_file(self, suffix: str, write: Callable[[Path], object]) -> str:
        """Store the file that `write` writes; return its name."""
        return add_by_content(self._files, suffix, write)

    def find_file(self, name: object) -> Path | None:
        """Return the path of a stored file; None if it is missing."""
        if not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
            return None
        path = self._files / name[:2] / name
        return path if path.is_file() else None

    def write_entry(self, key: str, entry: Record) -> None:
        """Set the entry of a key in the index."""
        path = self._locate_entry(key)
        make_folder(path.parent, self._index)
        replace_file(path, json.dumps(entry, allow_nan=False).encode())

    def read_entry(self, key: str) -> Record | None:
        """Return the entry of a key; None if it is missing or damaged."""
        return self._read_entry(self._locate_entry(key))

    def _locate_entry(self, key: str) -> Path:
        return self._index / key[:2] / f"{key}.json"

    @staticmethod
    def _read_entry(path: Path) -> Record | None:
        try:
            entry = parse_record(read_file(path))
        except OSError:
            return None
        return entry if isinstance(entry, dict) else None

    def _list_named_files(self) -> set[str]:
        return {
            name for record in self.read_runs().records for name in _list_files(record)
        }


def _list_files(record: Record) -> list[str]:
    """List the stored files that a record or an entry names."""
    names = (record.get(key) for key in ("recording", "placement", "placed_by"))
    return [
        name for name in names if isinstance(name, str) and _FILE_NAME.fullmatch(name)
    ]


def make_key(kind: str, facts: Any) -> str:
    """Return the key of an entry: a hash of its kind and of facts in JSON."""
    text = json.dumps([kind, facts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def make_run_id() -> str:
    """Make the identifier of a run: its start in UTC, and a random number."""
    start = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return f"{start}-{secrets.token_hex(4)}"


def find_run(records: list[Record], name: str) -> Record:
    """Find a run by its identifier, or by the beginning or the end of it.

    Raises `topoloom.Error` if no run or several match.
    """
    found = [
        record
        for record in records
        if record["id"].startswith(name) or record["id"].endswith(name)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Error(f"the store has no run '{name}'; list them with 'topoloom runs'")
    raise Error(
        f"'{name}' matches {len(found)} runs, such as {found[0]['id']} and "
        f"{found[1]['id']}; write more of the identifier"
    )
