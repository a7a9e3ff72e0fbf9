# SPDX-License-Identifier: BSD-3-Clause
"""Times of NCCL collectives compared with published results of nccl-tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom.nccl.hardware import Hardware, find_hardware
from topoloom.nccl.times import AlgorithmTime, predict_algorithms
from topoloom.nccl.tuning import RELEASE
from topoloom.support.toml_document import read_toml
from topoloom.support.units import format_exact_bytes

TABLES = Path(__file__).parent / "nccl_tables.toml"
#: A row matches if its relative error is at most this.
NEAR = 0.15


class Row(NamedTuple):
    """Published and predicted time for one message size."""

    bytes: int
    published_us: float
    choice: AlgorithmTime

    @property
    def off(self) -> float:
        """The relative error of the prediction."""
        return self.choice.seconds * 1e6 / self.published_us - 1

    @property
    def is_near(self) -> bool:
        """Whether the prediction is close enough."""
        return abs(self.off) <= NEAR


class Table(NamedTuple):
    """A published table, row by row; `unseen` if read after the model was final."""

    name: str
    operation: str
    address: str
    rows: list[Row]
    unseen: bool

    @property
    def near(self) -> int:
        """Number of matching rows."""
        return sum(row.is_near for row in self.rows)


def compare(path: Path = TABLES) -> list[Table]:
    """Predict every row of the published tables."""
    return [_predict_table(table) for table in read_toml(path)["table"]]


def _predict_table(table: dict[str, Any]) -> Table:
    hardware: Hardware = find_hardware(table["machine"]).with_changes(
        **table.get("input", {})
    )
    rows = []
    for number, published in enumerate(table["us"]):
        size = table["first"] << number
        release = tuple(table.get("release", RELEASE))
        found = predict_algorithms(
            hardware, table["nodes"], table["operation"], size, release=release
        )
        requested = table.get("algorithm")
        chosen = next(c for c in found if requested in (None, c.algorithm))
        rows.append(Row(size, published, chosen))
    return Table(
        table["name"],
        table["operation"],
        table["address"],
        rows,
        table.get("unseen", False),
    )


def nccl_table(tables: Sequence[Table]) -> str:
    """Format the number of matching rows, and the deviating rows, as Markdown."""
    lines = [
        "| published table | collective | rows | within 15 % | not within, off by |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for unseen in (False, True):
        of_these = [table for table in tables if table.unseen == unseen]
        lines += [
            f"| {table.name} | {table.operation} | {len(table.rows)} | {table.near} "
            f"| {_list_deviations(table.rows)} |"
            for table in of_these
        ]
        rows = sum(len(table.rows) for table in of_these)
        near = sum(table.near for table in of_these)
        lines.append(f"| all {'un' * unseen}seen | | {rows} | {near} | |")
    return "\n".join(lines) + "\n"


def _list_deviations(rows: Iterable[Row]) -> str:
    """List the ranges of sizes with deviations, and the largest error."""
    ranges: list[list[Row]] = [[]]
    for row in rows:
        if not row.is_near:
            ranges[-1].append(row)
        elif ranges[-1]:
            ranges.append([])
    return ", ".join(_format_range(found) for found in ranges if found)


def _format_range(found: list[Row]) -> str:
    worst = max((row.off for row in found), key=abs)
    ends = dict.fromkeys(format_exact_bytes(row.bytes) for row in (found[0], found[-1]))
    return f"{' to '.join(ends)}: {100 * worst:+.0f} %"
