# SPDX-License-Identifier: BSD-3-Clause
"""Reads the formats whose values may be fractions, which a factor makes bytes."""

from __future__ import annotations

from topoloom import _core
from topoloom._core import CommGraph
from topoloom.graphs.text_formats.edge_list import find_first_line, read_edge_list
from topoloom.graphs.text_formats.separators import separate_by_blanks


def read_values(
    kind: str, data: bytes, scale: float | None
) -> tuple[CommGraph, int, list[str]]:
    """Read a graph; return also the number of values that were rounded, and remarks.

    Error messages start with ``line`` where one is known.
    """
    if kind in ("gml", "graphml"):
        from topoloom.graphs.text_formats import networkx_files

        read = {"gml": networkx_files.read_gml, "graphml": networkx_files.read_graphml}
        return read[kind](data, scale)
    if kind == "edges":
        graph, rounded = read_edge_list(data, scale)
    elif kind == "dense":
        text = separate_by_blanks(data, find_first_line(data))
        graph, rounded = _core.read_dense_matrix(text, scale)
    elif kind == "dimacs":
        graph, rounded = _core.read_dimacs(data, scale)
    else:
        graph, rounded = _core.read_matrix_market(data, scale)
    return graph, rounded, []
