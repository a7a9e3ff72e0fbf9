# SPDX-License-Identifier: BSD-3-Clause
"""Reads the number of tasks of each rank: one integer per line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import read_text
from topoloom.support.plain_text import is_number

#: Exclusive upper limit on the sum of loads: with the tasks that the core adds
#: temporarily, sums must stay below 2^63.
LIMIT = 2**62


def read_loads(path: str | Path) -> NDArray[np.int64]:
    """Read the loads of ranks 0, 1, ...; ignore blank lines and comments.

    Returns
    -------
    int64 array of shape ``(ranks,)``

    Raises
    ------
    Error
        If a line is not an integer of 0 or more, if loads add up to 2^62 or more, or if
        the file is empty.
    """
    loads, total = [], 0
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if text:
            loads.append(_parse_load(text, f"{path}:{number}"))
            total += loads[-1]
            if total >= LIMIT:
                raise Error(f"{path}:{number}: loads up to here add up to 2^62 or more")
    if not loads:
        raise Error(f"{path} is empty; give the load of each rank, one per line")
    return np.array(loads, np.int64)


def _parse_load(text: str, where: str) -> int:
    if is_number(text.removeprefix("-")):
        if text.startswith("-"):
            raise Error(f"{where}: loads are 0 or more, not {text[:40]}")
        if len(text.lstrip("0")) <= len(str(LIMIT)):
            return int(text)
        raise Error(f"{where}: loads are below 2^62, not {text[:40]}")
    raise Error(f"{where}: expected the load of a rank, an integer, not '{text[:40]}'")
