# SPDX-License-Identifier: BSD-3-Clause
"""Tests from tables of pairs of hosts: what any benchmark of two hosts says."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.probe.locate.locate import Test
from topoloom.probe.locate.parts import Pair, Parts
from topoloom.support.files import read_text

#: Names of the third column, and whether more is slower.
COLUMNS = {
    **dict.fromkeys(("seconds", "s", "ms", "us"), True),
    **dict.fromkeys(("GB/s", "MB/s", "GiB/s", "Gb/s", "Gbit/s"), False),
}
#: Fewer pairs that are as far apart are compared with all.
_ALIKE = 3


class _Row(NamedTuple):
    pair: Pair
    value: float


def tests_of_tables(files: Sequence[Path], parts: Parts) -> list[Test]:
    """Read tables; each pair is compared with those that are as far apart.

    Raises
    ------
    topoloom.Error
        With file and line, if a row cannot be read, or names hosts that are not there.
    """
    rows: dict[str, list[_Row]] = defaultdict(list)
    for file in files:
        for column, row in _rows(file, parts):
            rows[column].append(row)
    return [test for column in rows for test in _compared(rows[column], parts)]


def _compared(rows: Sequence[_Row], parts: Parts) -> Iterator[Test]:
    by_distance: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        by_distance[parts.distance(*row.pair)].append(row.value)
    of_all = [row.value for row in rows]
    for row in rows:
        alike = by_distance[parts.distance(*row.pair)]
        usual = float(np.median(alike if len(alike) >= _ALIKE else of_all))
        yield Test([row.pair], row.value / usual)


def _rows(file: Path, parts: Parts) -> Iterator[tuple[str, _Row]]:
    number = {host: n for n, host in enumerate(parts.hosts)}
    reader = csv.reader(io.StringIO(read_text(file)))
    header = [cell.strip() for cell in next(reader, [])]
    if len(header) != 3 or header[:2] != ["a", "b"] or header[2] not in COLUMNS:
        raise Error(
            f"{file}:1: the first line is a,b,UNIT, and UNIT one of "
            f"{', '.join(COLUMNS)}; or it is a file of NCCL's Inspector"
        )
    for cells in reader:
        where = f"{file}:{reader.line_num}"
        if not cells:
            continue
        if len(cells) != 3:
            raise Error(f"{where}: has {len(cells)} columns instead of 3")
        first, second, text = (cell.strip() for cell in cells)
        for host in (first, second):
            if host not in number:
                raise Error(f"{where}: host '{host:.60}' is not one of the machine's")
        if first == second:
            raise Error(f"{where}: {first} is measured with itself")
        yield (
            header[2],
            _Row((number[first], number[second]), _seconds(text, header[2], where)),
        )


def _seconds(text: str, column: str, where: str) -> float:
    """Return a time, or the inverse of a rate."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise Error(f"{where}: '{text:.30}' is not a number above 0")
    return value if COLUMNS[column] else 1 / value
