# SPDX-License-Identifier: BSD-3-Clause
"""Builds tests from tables of host pairs, which benchmarks between two hosts write."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.probe.locate.diagnose_parts import PartTest
from topoloom.probe.locate.machine_parts import MachineParts, Pair
from topoloom.support.files import read_text

#: Units in the header of the third column -> whether larger values are slower.
COLUMNS = {
    **dict.fromkeys(("seconds", "s", "ms", "us"), True),
    **dict.fromkeys(("GB/s", "MB/s", "GiB/s", "Gb/s", "Gbit/s"), False),
}
#: Minimal number of pairs for a typical time; if there are fewer, pairs at adjacent
#: distances are included.
_MIN_COMPARABLE = 3
#: Maximum ratio of a normal pair's time to that of the fastest quarter of pairs,
#: because no pair is fast by chance.
_NORMAL_RATIO = 1.25
#: If there are fewer pairs, perhaps only one of them is normal.
_FEW_PAIRS = 8


class PairValue(NamedTuple):
    """The value of a pair of hosts, in a unit in which larger is slower."""

    pair: Pair
    value: float


def read_table_tests(files: Sequence[Path], parts: MachineParts) -> list[PartTest]:
    """Read the tables and compare each pair with pairs at the same distance.

    Raises `topoloom.Error` with file and line if a row is invalid or contains an
    unknown host.
    """
    rows: dict[str, list[PairValue]] = defaultdict(list)
    for file in files:
        for column, row in _read_rows(file, parts):
            rows[column].append(row)
    return [
        test for column in rows for test in compare_pair_values(rows[column], parts)
    ]


def compare_pair_values(
    rows: Sequence[PairValue], parts: MachineParts
) -> list[PartTest]:
    """Compare each row with the pairs at the same distance; each pair counts once.

    If each row counted, slow pairs could seem typical, because they are measured more
    often than others.
    """
    repeats: dict[Pair, list[float]] = defaultdict(list)
    for row in rows:
        repeats[row.pair].append(row.value)
    by_distance: dict[tuple[bool, bool], dict[int, list[float]]] = {}
    for pair, values in repeats.items():
        of_kind = by_distance.setdefault(parts.classify_pair(*pair), defaultdict(list))
        of_kind[parts.distance(*pair)].append(float(np.median(values)))
    usual = {
        (kind, distance): value
        for kind, of_kind in by_distance.items()
        for distance, value in _compute_typical(of_kind).items()
    }
    return [
        PartTest(
            [row.pair],
            row.value
            / usual[parts.classify_pair(*row.pair), parts.distance(*row.pair)],
        )
        for row in rows
    ]


def _compute_typical(by_distance: Mapping[int, Sequence[float]]) -> dict[int, float]:
    """Compute the typical value of normal pairs by distance."""
    usual: dict[int, float] = {}
    least = math.inf
    for distance in sorted(by_distance):
        found: list[float] = []
        for other in sorted(by_distance, key=lambda each: (abs(each - distance), each)):
            found += by_distance[other]
            if len(found) >= _MIN_COMPARABLE:
                break
        found.sort()
        fast = found[len(found) // 4]
        if len(found) < _FEW_PAIRS:
            # A pair is probably normal if it is as fast as nearer pairs.
            fast = min(fast, next((each for each in found if each >= least), fast))
        near = [value for value in found if value <= _NORMAL_RATIO * fast]
        usual[distance] = float(np.median(near))
        least = min(least, fast)
    return usual


def _read_rows(file: Path, parts: MachineParts) -> Iterator[tuple[str, PairValue]]:
    number = {host: n for n, host in enumerate(parts.ends)}
    reader = csv.reader(io.StringIO(read_text(file)))
    header = [cell.strip() for cell in next(reader, [])]
    if len(header) != 3 or header[:2] != ["a", "b"] or header[2] not in COLUMNS:
        raise Error(
            f"{file}:1: the first line must be a,b,UNIT, with UNIT one of "
            f"{', '.join(COLUMNS)}; or pass a file of NCCL's Inspector"
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
                what = "a host or GPU" if parts.by_gpu else "a host"
                raise Error(f"{where}: '{host:.60}' is not {what} of the machine")
        if first == second:
            raise Error(f"{where}: {first} is measured with itself")
        a, b = sorted((number[first], number[second]))
        if (a < len(parts.hosts)) is not (b < len(parts.hosts)):
            raise Error(f"{where}: {first} and {second} are a host and a GPU")
        yield header[2], PairValue((a, b), _parse_seconds(text, header[2], where))


def _parse_seconds(text: str, column: str, where: str) -> float:
    """Parse a time; or parse a rate and return its inverse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise Error(f"{where}: '{text:.30}' is not a number above 0")
    return value if COLUMNS[column] else 1 / value
