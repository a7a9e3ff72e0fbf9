# SPDX-License-Identifier: BSD-3-Clause
"""Tables with a row and a column for each GPU, as management tools print them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from topoloom._core import Error

_MAX_GPUS = 512


class GpuTable(NamedTuple):
    """Names of devices, and the cells of each row; `line` is that of the header."""

    line: int
    names: list[str]
    rows: list[list[str]]
    #: Cells after those of the columns in `names`.
    rest: list[list[str]]


def read_table(
    lines: Sequence[str], header: int, split: Callable[[str], list[str]]
) -> GpuTable:
    """Read the table whose names of columns are in ``lines[header]``.

    Rows follow, each with its name and a cell for each column. Raises
    `topoloom.Error` with the line for missing and differing rows.
    """
    names = split(lines[header])
    if not names or len(names) > _MAX_GPUS:
        raise Error(f"line {header + 1}: expected the names of up to {_MAX_GPUS} GPUs")
    rows, rest = [], []
    for at, name in enumerate(names, header + 1):
        cells = split(lines[at]) if at < len(lines) else []
        if not cells or cells[0] != name:
            found = f"'{cells[0][:24]}'" if cells else "nothing"
            raise Error(
                f"line {at + 1}: expected the row of {name[:24]}, found {found}"
            )
        if len(cells) <= len(names):
            raise Error(
                f"line {at + 1}: {name[:24]} has {len(cells) - 1} cells, not "
                f"{len(names)}"
            )
        rows.append(cells[1 : len(names) + 1])
        rest.append(cells[len(names) + 1 :])
    return GpuTable(header + 1, names, rows, rest)


def check_symmetric(table: GpuTable) -> None:
    """Raise `topoloom.Error` if two GPUs state different links to each other."""
    for a, row in enumerate(table.rows):
        for b in range(a):
            if row[b] != table.rows[b][a]:
                raise Error(
                    f"line {table.line + a + 1}: {table.names[a]} has '{row[b][:24]}' "
                    f"to {table.names[b]}, which has '{table.rows[b][a][:24]}' back"
                )
