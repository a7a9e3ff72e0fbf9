# SPDX-License-Identifier: BSD-3-Clause
"""Reads the messages between tasks: a table of pairs, or a communication graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.graphs.graph_file import load_graph
from topoloom.support.files import read_text
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.units import counted
from topoloom.tasks.balancing.task_list import MAX_BYTES, TaskList, parse_integer

#: Optional header line of the table.
HEAD = "task,task,bytes"


def with_edges(tasks: TaskList, path: str | Path) -> TaskList:
    """Return a copy of the tasks with the messages that they send in each period.

    Parameters
    ----------
    path
        A table with the columns ``task,task,bytes``; repeated pairs are summed. Or a
        communication graph that `topoloom.load_graph` reads; rank i is the task on line
        i of the task table.

    Raises
    ------
    Error
        If a line does not have these columns, or contains an unknown task or an invalid
        number of bytes.
    """
    if Path(path).suffix not in (".csv", ".txt"):
        graph = load_graph(path)
        if graph.rank_count != len(tasks.names):
            raise Error(
                f"{path} has messages of {counted(graph.rank_count, 'task')}, but "
                f"there are {len(tasks.names):,}"
            )
        return tasks._replace(graph=graph)
    number = {name: i for i, name in enumerate(tasks.names)}
    rows: list[tuple[int, int, int]] = []
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        words = [word.strip() for word in text.partition("#")[0].split(",")]
        if words == [""] or (not rows and ",".join(words) == HEAD):
            continue
        where = f"{path}:{line}"
        if len(words) != 3:
            raise Error(f"{where}: expected the 3 columns {HEAD}, not {len(words)}")
        for name in words[:2]:
            if name not in number:
                raise Error(f"{where}: {describe_unknown_name('task', name, number)}")
        size = parse_integer(
            words[2], f"{where}: the number of bytes of a pair", MAX_BYTES
        )
        rows.append((number[words[0]], number[words[1]], size))
    if not rows:
        raise Error(f"{path} has no pairs of tasks; give one per line below {HEAD}")
    ends = np.array(rows, np.int64)
    if ends[:, 2].sum(dtype=float) >= MAX_BYTES:
        raise Error(f"{path}: the bytes of all pairs add up to 2^62 or more")
    graph = CommGraph.from_edges(len(number), ends[:, 0], ends[:, 1], ends[:, 2])
    return tasks._replace(graph=graph)
