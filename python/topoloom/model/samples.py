# SPDX-License-Identifier: BSD-3-Clause
"""Measured times out of CSV files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.files import MOST_BYTES, named, read_text
from topoloom.units import parse_bytes, parse_latency

Values = NDArray[np.float64]


def read_pings(path: str | Path) -> tuple[Values, Values]:
    """Read sizes in bytes and their times in seconds, a sample a line.

    The header names the columns ``size`` and ``time``; others are left alone, and so
    are empty lines and those that begin with #. Units may follow the numbers.

    Raises
    ------
    topoloom.Error
        Naming the file and the line that is wrong.
    OSError
        If the file cannot be read.
    """
    return _read_columns(path, "size", parse_bytes)


def read_pairs(path: str | Path) -> tuple[Values, Values]:
    """Read numbers of pairs that exchange at once, and times, as `read_pings` does."""
    return _read_columns(path, "pairs", _count)


def _read_columns(
    path: str | Path, first: str, parse: Callable[[str], float]
) -> tuple[Values, Values]:
    text = read_text(path, most=MOST_BYTES)
    found: list[tuple[float, float]] = []
    columns: list[int] | None = None
    with named(path):
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            fields = [field.strip() for field in next(csv.reader([line]))]
            try:
                if columns is None:
                    columns = [_column(fields, name) for name in (first, "time")]
                    continue
                if len(fields) <= max(columns):
                    raise Error(f"there is no {first} and time in '{line.strip()}'")
                value, time = (
                    parse(fields[columns[0]]),
                    parse_latency(fields[columns[1]]),
                )
                if time <= 0:
                    raise Error(f"time must be above 0, not '{fields[columns[1]]}'")
            except Error as error:
                raise Error(f"line {number}: {error}") from None
            found.append((value, time))
        if not found:
            raise Error(
                f"no measured times; a header {first},time and lines are needed"
            )
    both = np.array(found)
    return both[:, 0], both[:, 1]


def _column(header: list[str], name: str) -> int:
    if name not in header:
        raise Error(f"the header must name a column '{name}', as in {name},...")
    return header.index(name)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise Error(f"pairs must be a whole number, 1 or more, not '{text}'")
    return int(text)
