# SPDX-License-Identifier: BSD-3-Clause
"""Reads tasks from the files of graph partitioners: graphs, hypergraphs and owners.

A METIS or ParMETIS graph contains the load and the size of every vertex. Zoltan's
driver reads hypergraphs, and graphs in the similar format of Chaco. A separate file
lists the owners of the vertices, one rank per line.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error, read_metis
from topoloom.support.files import prefix_errors, read_text
from topoloom.support.units import counted
from topoloom.tasks.balancing.task_hypergraph import read_hypergraph
from topoloom.tasks.balancing.task_list import (
    MAX_BYTES,
    MAX_RANKS,
    TaskList,
    parse_integer,
)

#: Suffixes of graph files. Other files are graphs if line 1 has several integers.
ENDINGS = (".graph", ".metis", ".chaco")
HYPERGRAPH_ENDINGS = (".hg",)
#: Suffix that Zoltan's driver gives to the file of owners.
ASSIGN = ".assign"


def is_task_graph(path: str | Path) -> bool:
    """Return whether a file is a graph or hypergraph, according to suffix or line 1."""
    if Path(path).suffix in (*ENDINGS, *HYPERGRAPH_ENDINGS):
        return True
    lines = (line.strip() for line in read_text(path).splitlines())
    first = next((line for line in lines if line and line[0] not in "%#"), "")
    return re.fullmatch(r"[0-9]+(\s+[0-9]+)+", first) is not None


def read_task_graph(path: str | Path, owners: str | Path | None = None) -> TaskList:
    """Read a graph whose vertices are tasks and whose edges are messages.

    METIS counts vertices from 1: its vertex 1 is task 0.

    Parameters
    ----------
    path
        A METIS or Chaco graph: vertex weights are loads, vertex sizes are bytes (both 1
        by default), and the weight of an edge is the number of bytes sent in each
        direction. Or a hypergraph ``.hg`` of Zoltan or PaToH.
    owners
        A file with the rank of each vertex, one per line. By default, the path of the
        graph with its suffix replaced by ``.assign``.

    Raises
    ------
    Error
        If a file is invalid (as ``file:line: reason``), or if there are no owners.
    """
    default = Path(path).parent / f"{Path(path).stem}{ASSIGN}"
    if owners is None and not default.is_file():
        raise Error(
            f"{path} has no owners of tasks; name a file of owners "
            f"with one rank per line, or call it {default}"
        )
    ranks = _read_owners(owners or default)
    hypergraph, sizes = None, None
    if Path(path).suffix in HYPERGRAPH_ENDINGS:
        hypergraph = read_hypergraph(path, len(ranks))
        graph = hypergraph.graph
    else:
        text = re.sub(r"^#", "%", read_text(path), flags=re.MULTILINE)
        with prefix_errors(path):
            graph = read_metis(text.encode())
        sizes = _list_vertex_sizes(text, path)
    count = graph.rank_count
    if len(ranks) != count:
        raise Error(
            f"{owners or default} has ranks of {counted(len(ranks), 'task')}, but "
            f"{path} has {count:,}"
        )
    if sizes is None:
        sizes = np.ones(count, np.int64)
    names = [str(vertex) for vertex in range(count)]
    loads = np.asarray(graph.load, float)
    return TaskList(names, ranks, loads, sizes, graph, hypergraph)


def _list_vertex_sizes(text: str, path: str | Path) -> NDArray[np.int64] | None:
    """Return the vertex sizes of a METIS graph that has been read without errors."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    head = lines[0].split()
    count = int(head[0])
    if len(head) < 3 or len(head[2]) < 3 or head[2][-3] != "1":
        return None
    first = [int(line.split()[0]) for line in lines[1 : count + 1]]
    if first == list(range(1, count + 1)):
        return None  # Chaco's format has vertex numbers here, not sizes
    if sum(first) >= MAX_BYTES:
        raise Error(f"{path}: the sizes of all vertices add up to 2^62 or more")
    return np.array(first, np.int64)


def _read_owners(path: str | Path) -> NDArray[np.uint32]:
    found = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.partition("#")[0].partition("%")[0].strip()
        if text:
            where = f"{path}:{number}: the rank of a task"
            found.append(parse_integer(text, where, MAX_RANKS))
    return np.array(found, np.uint32)
