# SPDX-License-Identifier: BSD-3-Clause
"""Measured times out of CSV files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import MAX_BYTES, named, read_text
from topoloom.support.plain_text import is_number
from topoloom.support.units import parse_bytes, parse_latency

Values = NDArray[np.float64]

#: What is taken for a message: seconds, and bytes.
SHORTEST, LONGEST = 1e-15, 1e9
LARGEST = 2**52


def read_pings(path: str | Path) -> tuple[Values, Values]:
    """Read sizes in bytes and their times in seconds, one sample per line.

    The header names the columns ``size`` and ``time``; others are left alone, and so
    are empty lines and those that begin with #. Units may follow the numbers.

    Raises
    ------
    topoloom.Error
        Naming the file and the line that is wrong.
    OSError
        If the file cannot be read.
    """
    return _read_columns(path, "size", _size)


def read_pairs(path: str | Path) -> tuple[Values, Values]:
    """Read numbers of pairs that exchange at once, and times, as `read_pings` does."""
    return _read_columns(path, "pairs", _count)


def _read_columns(
    path: str | Path, first: str, parse: Callable[[str], float]
) -> tuple[Values, Values]:
    found: list[tuple[float, float]] = []
    columns: tuple[int, int] | None = None
    with named(path):
        for number, line in enumerate(read_text(path, MAX_BYTES).splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            fields = [field.strip() for field in line.split(",")]
            try:
                if columns is None:
                    columns = _columns(fields, first)
                elif len(fields) <= max(columns):
                    raise Error(f"there is no {first} and time in '{line.strip()}'")
                else:
                    value, time = (fields[column] for column in columns)
                    found.append((parse(value), _time(time)))
            except Error as error:
                raise Error(f"line {number}: {error}") from None
        if not found:
            raise Error(f"no measured times; write {first},time and such lines below")
    both = np.array(found)
    return both[:, 0], both[:, 1]


def _columns(header: list[str], first: str) -> tuple[int, int]:
    if first not in header or "time" not in header:
        found = ",".join(header)
        raise Error(f"the header must name columns {first} and time, but is '{found}'")
    return header.index(first), header.index("time")


def _time(text: str) -> float:
    time = parse_latency(text)
    if not SHORTEST <= time <= LONGEST:
        raise Error(f"no message takes '{text}'")
    return time


def _size(text: str) -> int:
    size = parse_bytes(text)
    if size > LARGEST:
        raise Error(f"no message has '{text}'")
    return size


def _count(text: str) -> int:
    if not is_number(text) or len(text) > 9 or int(text) == 0:
        raise Error(f"pairs must be an integer, 1 or more, not '{text}'")
    return int(text)
