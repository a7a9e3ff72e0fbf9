# SPDX-License-Identifier: BSD-3-Clause
"""Reads communication graphs; detects the format by file name or content."""

from __future__ import annotations

import bisect
import functools
import glob
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import CommGraph, Error, OperationGraph, read_goal
from topoloom.graphs.npz import load_npz, save_npz
from topoloom.support.file_kinds import GRAPH, check_file_kind
from topoloom.support.files import open_regular, prefix_errors, read_bytes
from topoloom.support.name_lookup import describe_unknown_name

#: format name -> description, and suffixes of file names
FORMATS = {
    "npz": ("NumPy/SciPy sparse matrix, and what Topoloom writes", (".npz",)),
    "matrix-market": ("Matrix Market coordinate file", (".mtx", ".mm")),
    "metis": ("METIS graph", (".graph", ".metis")),
    "dense": ("dense text matrix, row i = bytes rank i sends", (".mat", ".dense")),
    "goal": ("GOAL: all that the operations of a program send", (".goal",)),
    "monitoring": (
        "Open MPI monitoring output: a file, a directory or a pattern of .prof files",
        (".prof",),
    ),
}
_READERS = {
    "matrix-market": "read_matrix_market",
    "metis": "read_metis",
    "dense": "read_dense_matrix",
}


def load_graph(path: str | Path, kind: str | None = None) -> CommGraph:
    """Read a communication graph.

    Parameters
    ----------
    path
        A file; for Open MPI monitoring output also a directory of ``.prof`` files or a
        glob pattern such as ``prof/phase_1_*.prof``.
    kind
        A name from `FORMATS`; by default detected by file name, then by content.

    Error messages start with ``file:line:``.
    """
    if kind is not None and kind not in FORMATS:
        raise Error(describe_unknown_name("graph format", kind, FORMATS))
    if kind == "monitoring" or (kind is None and _is_monitoring(path)):
        return _load_monitoring(path)
    if kind is None:
        suffix = Path(path).suffix.lower()
        kind = next((k for k, (_, ends) in FORMATS.items() if suffix in ends), None)
    if kind == "npz":
        return load_npz(path)[0]
    check_file_kind(path, GRAPH)
    data = read_bytes(path)
    if not data.strip():
        raise Error(f"{path}: the file is empty")
    with prefix_errors(path):
        if kind is not None:
            return _parse_graph(path, kind, data)
        kind = _detect_format(data)
        try:
            return _parse_graph(path, kind, data)
        except Error as error:
            raise Error(
                f"{error}; the content looks like {kind}; if it is not, set the "
                f"format ({', '.join(FORMATS)})"
            ) from None


def _parse_graph(path: str | Path, kind: str, data: bytes) -> CommGraph:
    if kind == "npz":
        return load_npz(path)[0]
    if kind == "monitoring":
        return _core.read_monitoring(data)
    if kind == "goal":
        return _load_operations(path).messages
    graph: CommGraph = getattr(_core, _READERS[kind])(data)
    return graph


def save_graph(
    path: str | Path, graph: CommGraph, extra: Mapping[str, Any] | None = None
) -> None:
    """Write a graph as ``.npz``, with the further arrays in `extra`, by name."""
    if Path(path).suffix != ".npz":
        raise Error(
            f"{path}: communication graphs are written as .npz; other formats "
            "cannot store message counts, directions and phases"
        )
    save_npz(path, graph, extra)


def _detect_format(data: bytes) -> str:
    if data.startswith(b"PK"):
        return "npz"
    if data.startswith(b"%%MatrixMarket"):
        return "matrix-market"
    if _is_goal(data):
        return "goal"
    head = data[:4096]
    if b"\0" in head:
        raise Error("is neither text nor an .npz archive")
    if head.lstrip().startswith(b'{"format"'):
        kind = re.search(rb'"topoloom-(\w+)"', head)
        found = f"a {kind[1].decode()}" if kind else "JSON"
        raise Error(f"is {found}, not a communication graph")
    first = next((line for line in head.splitlines() if line.strip()), b"")
    if first[:2] in (b"I\t", b"E\t", b"S\t", b"R\t", b"C\t", b"# "):
        return "monitoring"
    # It is a dense matrix if it is square: with as many lines as numbers per line.
    lines = data.strip().count(b"\n") + 1
    return "dense" if len(first.split()) == lines else "metis"


def load_operations(path: str | Path) -> OperationGraph | None:
    """Read the operations and dependencies in a GOAL file; None for other formats."""
    if not Path(path).is_file():
        return None
    with open_regular(path) as file:
        if not _is_goal(file.read(4096)):
            return None
    with prefix_errors(path):
        return _load_operations(path)


def _load_operations(path: str | Path) -> OperationGraph:
    """Read a GOAL file; cached, because reading is slow."""
    at = Path(path).absolute()
    stat = at.stat()
    return _read_operations(at, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=1)
def _read_operations(path: Path, _changed: int, _size: int) -> OperationGraph:
    return read_goal(path.read_bytes())


def _is_goal(data: bytes) -> bool:
    lines = (line.strip() for line in data.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"//")), b"")
    return first.startswith(b"num_ranks")


def _is_monitoring(path: str | Path) -> bool:
    return Path(path).is_dir() or (
        not Path(path).exists() and glob.has_magic(str(path))
    )


def _load_monitoring(path: str | Path) -> CommGraph:
    if Path(path).is_dir():
        files = sorted(Path(path).glob("*.prof"))
    elif Path(path).exists():
        files = [Path(path)]
    else:
        names = sorted(glob.glob(str(path)))  # noqa: PTH207
        files = [Path(name) for name in names]
    if not files:
        raise Error(
            f"{path}: has no trace of a job, and no .prof file of Open MPI's monitoring"
        )
    parts = [
        data if data.endswith(b"\n") else data + b"\n"
        for data in map(read_bytes, files)
    ]
    try:
        return _core.read_monitoring(b"".join(parts))
    except Error as error:
        raise Error(_locate_error_line(str(error), files, parts)) from None


def _locate_error_line(what: str, files: list[Path], parts: list[bytes]) -> str:
    """Replace a line number in the concatenated files by the file and its line."""
    if not what.startswith("line "):
        return f"{files[0].parent if len(files) > 1 else files[0]}: {what}"
    number, _, rest = what.removeprefix("line ").partition(":")
    ends = list(itertools.accumulate(part.count(b"\n") for part in parts))
    which = min(bisect.bisect_left(ends, int(number)), len(files) - 1)
    line = int(number) - (ends[which - 1] if which else 0)
    return f"{files[which]}:{line}:{rest}"
