# SPDX-License-Identifier: BSD-3-Clause
"""Detects the format of a communication graph by content."""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.graphs.text_formats.edge_list import (
    is_count,
    is_number,
    iterate_lines,
    looks_like_edges,
)
from topoloom.graphs.text_formats.other_tools import check_tool
from topoloom.graphs.text_formats.separators import BLANKS

_HEAD = 4096
_GML = re.compile(
    rb"(?:\s|#[^\n]*\n|(?:Creator|Version|comment)\b[^\n]*\n)*graph\s*\[", re.IGNORECASE
)
_DIMACS = re.compile(
    rb"(?:\s|c(?:[ \t][^\n]*)?\n)*p[ \t]+[a-z]+[ \t]+[0-9]", re.IGNORECASE
)
_MONITORING = re.compile(rb"(?:\s|#[^\n]*\n)*[EISRC]\t")


def detect_format(data: bytes) -> str:
    """Return the name of the format in `topoloom.graphs.graph_file.FORMATS`.

    Raises `topoloom.Error` for content of other kinds, and for numbers that are valid
    in two formats.
    """
    head = data[:_HEAD]
    if data.startswith(b"PK"):
        return "npz"
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    check_tool(data)
    if b"\0" in head:
        raise Error("is neither text nor an .npz archive")
    if head.lstrip().startswith(b'{"format"'):
        kind = re.search(rb'"topoloom-(\w+)"', head)
        found = f"a {kind[1].decode()}" if kind else "JSON"
        raise Error(f"is {found}, not a communication graph")
    if b"<graphml" in head:
        return "graphml"
    for name, pattern in (
        ("gml", _GML),
        ("dimacs", _DIMACS),
        ("monitoring", _MONITORING),
    ):
        if pattern.match(head):
            return name
    return _detect_numbers(data)


def _detect_numbers(data: bytes) -> str:
    """Tell dense matrices, METIS graphs and edge lists apart."""
    stripped = data.strip()
    lines = (line for _, line in iterate_lines(stripped))
    first = next((line for line in lines if not line.startswith(b"%")), b"")
    words = first.translate(BLANKS).split()
    count = stripped.count(b"\n") + 1
    # A dense matrix is square: it has as many lines as numbers per line.
    square = len(words) == count and is_number(words[0])
    if looks_like_edges(data):
        if square:
            raise Error(
                f"has {count} lines of {count} numbers, which can be a dense matrix or "
                "an edge list; set the format (dense, edges)"
            )
        # The header of METIS starts with the number of the lines that follow.
        if not (is_count(words[0]) and int(words[0]) == count - 1):
            return "edges"
    return "dense" if square else "metis"
