# SPDX-License-Identifier: BSD-3-Clause
"""Reads measured times from CSV files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import MAX_BYTES, prefix_errors, read_text
from topoloom.support.plain_text import is_number
from topoloom.support.units import parse_bytes, parse_latency

Values = NDArray[np.float64]

#: Minimum and maximum valid time in seconds, and maximum message size in bytes.
MIN_SECONDS, MAX_SECONDS = 1e-15, 1e9
MAX_SIZE = 2**52


def read_pings(path: str | Path) -> tuple[Values, Values]:
    """Read sizes in bytes and times in seconds, one sample per line.

    The header must have columns ``size`` and ``time``. Other columns, empty lines and
    comments (#) are ignored. Numbers can have units.
    """
    return _make_arrays(_read_fields(path, "size", _parse_size))


class ConcurrentPairTimes(NamedTuple):
    """For each sample, the number of concurrent pairs, and the seconds."""

    pairs: Values
    times: Values
    runs: list[str] | None  # None if the file lacks this column
    patterns: list[str] | None  # pattern of the pairs


def read_pairs(path: str | Path) -> ConcurrentPairTimes:
    """Read columns ``pairs`` and ``time``, and optionally ``run`` and ``pattern``."""
    fields = _read_fields(path, "pairs", _parse_pair_count)
    return ConcurrentPairTimes(
        *_make_arrays(fields), fields.get("run"), fields.get("pattern")
    )


def _make_arrays(fields: dict[str, list[Any]]) -> tuple[Values, Values]:
    values, times = (np.array(fields[name], float) for name in list(fields)[:2])
    return values, times


def _read_fields(
    path: str | Path, first: str, parse: Callable[[str], float]
) -> dict[str, list[Any]]:
    """Read the columns `first` and ``time``, and optional columns."""
    found: dict[str, list[Any]] = {first: [], "time": []}
    columns: list[int] | None = None
    with prefix_errors(path):
        for number, line in enumerate(read_text(path, MAX_BYTES).splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            fields = [field.strip() for field in line.split(",")]
            try:
                if columns is None:
                    columns = list(_find_columns(fields, first))
                    for name in ("run", "pattern"):
                        if name in fields:
                            found[name] = []
                            columns.append(fields.index(name))
                elif len(fields) <= max(columns):
                    raise Error(f"there is no {first} and time in '{line.strip()}'")
                else:
                    value, time, *others = (fields[column] for column in columns)
                    read = (parse(value), _parse_time(time), *others)
                    for column, what in zip(found.values(), read, strict=True):
                        column.append(what)
            except Error as error:
                raise Error(f"line {number}: {error}") from None
        if not found[first]:
            raise Error(f"no measured times; write {first},time and a line per sample")
    return found


def _find_columns(header: list[str], first: str) -> tuple[int, int]:
    if first not in header or "time" not in header:
        found = ",".join(header)
        raise Error(f"the header must name columns {first} and time, but is '{found}'")
    return header.index(first), header.index("time")


def _parse_time(text: str) -> float:
    time = parse_latency(text)
    if not MIN_SECONDS <= time <= MAX_SECONDS:
        raise Error(f"no message takes '{text}'")
    return time


def _parse_size(text: str) -> int:
    size = parse_bytes(text)
    if size > MAX_SIZE:
        raise Error(f"no message has '{text}'")
    return size


def _parse_pair_count(text: str) -> int:
    if not is_number(text) or len(text) > 9 or int(text) == 0:
        raise Error(f"pairs must be an integer, 1 or more, not '{text}'")
    return int(text)
