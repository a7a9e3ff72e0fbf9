# SPDX-License-Identifier: BSD-3-Clause
"""Lists, selects, exports and removes stored runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, cast

from topoloom._core import Error
from topoloom.store.location import find_store
from topoloom.store.run_store import RunStore
from topoloom.support.files import open_atomically, write_text
from topoloom.support.optional_imports import import_optional

if TYPE_CHECKING:
    from topoloom.documents.runs import StoredRun
    from topoloom.store.run_files import LastRuns
    from topoloom.tasks.runs.gain_estimate import Estimate

Record = dict[str, Any]

_DAY_SECONDS = 24 * 3600
#: Facts of a run that are columns of exported tables, in this order.
_COLUMNS = (
    *("id", "kind", "started", "user", "host", "job", "partition", "program"),
    *("ranks", "nodes", "ranks_per_node", "threads", "launcher", "machine", "hosts"),
    *("exit_status", "wall_seconds", "mapper", "objective", "verified", "drift"),
    *("note", "key", "recording", "placed_by", "placement", "directory"),
)
#: Facts that a filter of runs compares.
_MATCHED = ("program", "user", "partition", "machine", "kind")
#: Formats of exported tables.
SUFFIXES = (".csv", ".json", ".parquet")


def open_store(named: Path | None) -> RunStore:
    """Open the store to read it.

    Raises `topoloom.Error` if a store that the user named does not exist.
    """
    root = find_store(named)
    if named is not None and not root.is_dir():
        raise Error(f"there is no run store '{named}'")
    return RunStore(root)


def select_runs(records: Sequence[Record], match: str | None) -> list[Record]:
    """Select runs whose program, user, partition, machine or kind is `match`."""
    if match is None:
        return list(records)
    return [
        record
        for record in records
        if any(record.get(name) == match for name in _MATCHED)
    ]


def read_last_runs(store: RunStore, count: int, match: str | None) -> LastRuns:
    """Read the last runs that `select_runs` selects, and count all of them."""
    texts = {} if match is None else dict.fromkeys(_MATCHED, match)
    return store.read_last_runs(max(count, 0), texts)


def make_document(record: Record) -> StoredRun:
    """Return the facts of a run; those that its version did not store are null."""
    found: Record = {name: record.get(name) for name in _COLUMNS}
    found["started"] = record.get("started", 0.0)
    for name in ("user", "host", "program", "machine", "kind", "directory"):
        found[name] = str(record.get(name, ""))
    found["nodes"] = record.get("nodes", 0)
    found["command"] = record.get("command", [])
    found["mpi_time"] = record.get("mpi_time")
    found["predicted"] = record.get("predicted") or {}
    return cast("StoredRun", found)


def draw_runs(
    path: Path, records: Sequence[Record], program: str, gain: Estimate
) -> None:
    """Draw the wall times of the runs that `estimate_gain` compares."""
    from topoloom.figure.run_times import RunTime, draw_run_times
    from topoloom.tasks.runs.gain_estimate import is_complete

    runs = [
        RunTime(each["started"], each["wall_seconds"], each.get("kind") == "placed")
        for each in records
        if is_complete(each) and each.get("wall_seconds")
    ]
    draw_run_times(path, runs, f"{program}: {gain.sentence()}")


def prune_runs(store: RunStore, days: int) -> tuple[int, int]:
    """Remove runs that started more than `days` days ago.

    Returns the number of removed runs, and of the files that only they needed.
    """
    oldest = time() - days * _DAY_SECONDS
    records = store.read_runs().records
    removed = [record["id"] for record in records if record.get("started", 0) < oldest]
    return len(removed), store.remove_runs(removed)


def check_export_name(path: Path) -> None:
    """Raise `topoloom.Error` if the suffix names no format of tables."""
    if path.suffix not in SUFFIXES:
        names = ", ".join(SUFFIXES)
        raise Error(f"{path}: tables of runs are written as {names}; change the suffix")
    if path.suffix == ".parquet":
        import_optional("pyarrow.parquet", "writing .parquet")


def export_runs(records: Sequence[Record], path: Path) -> None:
    """Write a table of runs: .csv, .json, or .parquet with PyArrow."""
    check_export_name(path)
    rows = [_flatten(record) for record in records]
    if path.suffix == ".json":
        write_text(path, json.dumps([make_document(each) for each in records]) + "\n")
        return
    names = list(dict.fromkeys(name for row in rows for name in row)) or [*_COLUMNS]
    if path.suffix == ".csv":
        write_text(path, _format_csv(names, rows))
        return
    table = import_optional("pyarrow", "writing .parquet")
    parquet = import_optional("pyarrow.parquet", "writing .parquet")
    columns = {name: [row.get(name) for row in rows] for name in names}
    with open_atomically(path) as stream:
        parquet.write_table(table.table(columns), stream)


def _flatten(record: Record) -> Record:
    """Make one row of a table: words of commands and pairs of values are columns."""
    row: Record = {name: record.get(name) for name in _COLUMNS}
    row["command"] = " ".join(record.get("command", ()))
    for name in ("run", "min", "mean", "max", "share_at_most"):
        row[f"mpi_{name}"] = (record.get("mpi_time") or {}).get(name)
    for name, (before, after) in (record.get("predicted") or {}).items():
        row[f"{name}_launcher"], row[f"{name}_placed"] = before, after
    return row


def _format_csv(names: Sequence[str], rows: Sequence[Record]) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
