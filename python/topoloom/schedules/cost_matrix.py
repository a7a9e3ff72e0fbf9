# SPDX-License-Identifier: BSD-3-Clause
"""Cost matrices as CSV: seconds per message between processes, one row per sender."""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import prefix_errors, read_text
from topoloom.support.npz_archive import open_archive
from topoloom.support.toml_document import read_toml
from topoloom.support.toml_values import get_entry

#: Exceptions that numpy raises for truncated files and files of other formats.
_BROKEN = (
    *(ValueError, KeyError, EOFError, TypeError, IndexError),
    *(OverflowError, zipfile.BadZipFile, zlib.error),
)
#: Maximum number of processes; a file for so many processes has 16 million costs.
MAX_PROCESSES = 4096


def load_costs(path: str | Path) -> NDArray[np.float64]:
    """Read a square matrix of numbers that are separated by commas or blanks.

    ``#`` begins a comment. If the file is a ``.toml`` written by ``topoloom machine
    probe``, read the matrix from the samples of the probe.

    Raises
    ------
    topoloom.Error
        If the matrix is not square, or a cost is negative or not finite.
    OSError
        If the file cannot be read.
    """
    if Path(path).suffix == ".toml":
        return _load_probed_costs(Path(path))
    text = read_text(path)
    with prefix_errors(path):
        return _parse_matrix(text.splitlines())


def _load_probed_costs(path: Path) -> NDArray[np.float64]:
    document = read_toml(path)
    with prefix_errors(path):
        probe = get_entry(document, "probe", dict, "[probe]")
        samples = path.with_name(get_entry(probe, "samples", str, "probe.samples"))
    try:
        with open_archive(samples) as file:
            costs = np.asarray(file["costs"], np.float64)
    except _BROKEN:
        raise Error(f"{samples}: not complete samples of a probe") from None
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or not len(costs):
        raise Error(
            f"{samples}: costs must be a matrix of ranks; probe the machine again"
        )
    if (costs < 0).any():
        raise Error(f"{samples}: negative cost; probe the machine again")
    if not np.isfinite(costs).all():
        raise Error(f"{samples}: not all pairs were measured; probe the machine again")
    return costs


def _parse_matrix(lines: list[str]) -> NDArray[np.float64]:
    rows: list[list[float]] = []
    for number, line in enumerate(lines, start=1):
        words = re.findall(r"[^,;\s]+", line.partition("#")[0])
        if not words:
            continue
        if rows and len(words) != len(rows[0]):
            raise Error(
                f"line {number}: {len(words)} costs, but the first row has "
                f"{len(rows[0])}"
            )
        if len(words) > MAX_PROCESSES:
            raise Error(
                f"line {number}: costs of {len(words)} processes; "
                f"at most {MAX_PROCESSES}"
            )
        if len(rows) == len(words):
            raise Error(f"line {number}: more rows than the {len(words)} columns")
        rows.append([_parse_cost(word, number) for word in words])
    if not rows:
        raise Error("no costs; write one row of seconds per process")
    if len(rows) < len(rows[0]):
        raise Error(f"{len(rows)} rows of {len(rows[0])} costs; give a square matrix")
    return np.array(rows, dtype=np.float64)


def _parse_cost(word: str, line: int) -> float:
    try:
        cost = float(word)
    except ValueError:
        raise Error(f"line {line}: {word!r} is not a number of seconds") from None
    if not math.isfinite(cost) or cost < 0:
        raise Error(f"line {line}: cost {word} is negative or not finite")
    return cost
