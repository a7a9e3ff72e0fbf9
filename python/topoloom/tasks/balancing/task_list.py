# SPDX-License-Identifier: BSD-3-Clause
"""Reads a table of tasks with loads, sizes and owners, one line per task."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Error
from topoloom.support.files import read_text
from topoloom.support.plain_text import is_number
from topoloom.tasks.balancing.hypergraph import Hypergraph

#: Header line of the table.
HEAD = "task,owner,load,bytes"
#: Maximum number of ranks: larger numbers are probably typing errors.
MAX_RANKS = 10_000_000
#: Exclusive upper limit on numbers of bytes.
MAX_BYTES = 2**62


class TaskList(NamedTuple):
    """Tasks in the order of the table.

    Attributes
    ----------
    names
        Unique names of the tasks, as in the table.
    owners, loads, bytes
        The owner (a rank), the load and the size in bytes of each task.
    graph
        The messages between tasks per period; None if unknown.
    hypergraph
        The hypergraph that `graph` approximates; None for other files.
    """

    names: list[str]
    owners: NDArray[np.uint32]
    loads: NDArray[np.float64]
    bytes: NDArray[np.int64]
    graph: CommGraph | None = None
    hypergraph: Hypergraph | None = None


def is_task_list(path: str | Path) -> bool:
    """Return whether the first non-comment line has several columns."""
    lines = (line.partition("#")[0].strip() for line in read_text(path).splitlines())
    return "," in next(filter(None, lines), "")


def read_tasks(path: str | Path) -> TaskList:
    """Read a table with the columns ``task,owner,load,bytes``.

    Blank lines and comments, ``# ...``, are ignored.

    Raises
    ------
    Error
        If a line does not have these columns, repeats a task, or contains an invalid
        owner, load or number of bytes.
    """
    names: dict[str, int] = {}
    rows = []
    is_first = True
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = [word.strip() for word in line.partition("#")[0].split(",")]
        if words == [""]:
            continue
        where = f"{path}:{number}"
        if is_first:
            if ",".join(words) != HEAD:
                raise Error(f"{where}: expected the columns {HEAD}")
            is_first = False
            continue
        if len(words) != 4:
            raise Error(f"{where}: expected the 4 columns {HEAD}, not {len(words)}")
        name = words[0]
        if name in names:
            raise Error(f"{where}: task '{name}' is on line {names[name]} already")
        names[name] = number
        owner = parse_integer(words[1], f"{where}: the owner of a task", MAX_RANKS)
        size = parse_integer(
            words[3], f"{where}: the number of bytes of a task", MAX_BYTES
        )
        rows.append((owner, _parse_load(words[2], where), size))
    if not rows:
        raise Error(f"{path} has no tasks; give one per line below {HEAD}")
    owners, loads, sizes = zip(*rows, strict=True)
    if not math.isfinite(sum(loads)):
        raise Error(f"{path}: the sum of all loads exceeds a 64-bit float")
    return TaskList(
        list(names),
        np.array(owners, np.uint32),
        np.array(loads, np.float64),
        np.array(sizes, np.int64),
    )


def parse_integer(text: str, what: str, limit: int) -> int:
    """Read an integer from 0 to `limit` - 1; error messages call it `what`."""
    if not is_number(text):
        raise Error(f"{what} is an integer of 0 or more, not '{text[:40]}'")
    if len(text.lstrip("0")) > len(str(limit)) or int(text) >= limit:
        shown = "2^62" if limit == MAX_BYTES else f"{limit:,}"
        raise Error(f"{what} is below {shown}, not {text[:40]}")
    return int(text)


def _parse_load(text: str, where: str) -> float:
    try:
        load = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        load = math.nan
    if not math.isfinite(load) or load < 0:
        raise Error(f"{where}: a load is a number of 0 or more, not '{text[:40]}'")
    return load
