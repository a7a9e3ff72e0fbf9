# SPDX-License-Identifier: BSD-3-Clause
"""Reads communication graphs; detects the format by file name or content."""

from __future__ import annotations

import bisect
import functools
import glob
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom import _core
from topoloom._core import CommGraph, Error, OperationGraph, read_goal
from topoloom.graphs.npz import load_npz, save_npz
from topoloom.support.file_kinds import GRAPH, check_file_kind
from topoloom.support.files import open_regular, prefix_errors, read_bytes
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.units import counted

#: format name -> description, and suffixes of file names
FORMATS = {
    "npz": ("NumPy/SciPy sparse matrix, and what Topoloom writes", (".npz",)),
    "matrix-market": ("Matrix Market coordinate file", (".mtx", ".mm")),
    "metis": ("METIS graph", (".graph", ".metis")),
    "dense": (
        "dense text matrix, row i = bytes rank i sends; also CSV",
        (".mat", ".dense"),
    ),
    "edges": (
        "edge list: source target bytes [messages]; also CSV",
        (".edges", ".edgelist", ".el"),
    ),
    "dimacs": ("DIMACS shortest-path graph", (".gr",)),
    "gml": ("GML of NetworkX or igraph", (".gml",)),
    "graphml": ("GraphML of NetworkX or igraph", (".graphml",)),
    "goal": ("GOAL: all that the operations of a program send", (".goal",)),
    "monitoring": (
        "Open MPI monitoring output: a file, a directory or a pattern of .prof files",
        (".prof",),
    ),
}
_HEAD = 4096
#: Formats whose values can be multiplied.
SCALED_FORMATS = ("matrix-market", "dense", "edges", "dimacs", "gml", "graphml")


class ReadGraph(NamedTuple):
    """A communication graph, and what its file says that was changed or left out."""

    graph: CommGraph
    remarks: Sequence[str] = ()


def load_graph(
    path: str | Path, kind: str | None = None, scale: float | None = None
) -> CommGraph:
    """Read a communication graph.

    Parameters
    ----------
    path
        A file; for Open MPI monitoring output also a directory of ``.prof`` files or a
        glob pattern such as ``prof/phase_1_*.prof``.
    kind
        A name from `FORMATS`; by default detected by file name, then by content.
    scale
        Factor for the values of the file; products are rounded to integers. By default,
        values must be integers. Only for `SCALED_FORMATS`.

    Error messages start with ``file:line:``.
    """
    return read_graph(path, kind, scale).graph


def read_graph(
    path: str | Path, kind: str | None = None, scale: float | None = None
) -> ReadGraph:
    """Read a communication graph like `load_graph`, with remarks."""
    if kind is not None and kind not in FORMATS:
        raise Error(describe_unknown_name("graph format", kind, list_format_names()))
    if scale is not None and not 0 < scale < float("inf"):
        raise Error(f"the scale must be a positive number, not {scale:g}")
    if kind == "monitoring" or (kind is None and _is_monitoring(path)):
        check_scale(path, "monitoring", scale)
        return _load_monitoring(path)
    if kind is None:
        suffix = Path(path).suffix.lower()
        kind = next((k for k, (_, ends) in FORMATS.items() if suffix in ends), None)
    if kind == "npz":
        check_scale(path, kind, scale)
        return ReadGraph(load_npz(path)[0])
    check_file_kind(path, GRAPH)
    data = read_bytes(path)
    if not data.strip():
        raise Error(f"{path}: the file is empty")
    if kind is None:
        with prefix_errors(path):
            detected = _detect_format(data)
        return _read_data(path, detected, data, scale, is_detected=True)
    return _read_data(path, kind, data, scale)


def _read_data(
    path: str | Path,
    kind: str,
    data: bytes,
    scale: float | None,
    is_detected: bool = False,
) -> ReadGraph:
    try:
        with prefix_errors(path):
            return _parse_graph(path, kind, data, scale)
    except Error as error:
        if scale is None and _has_only_fractions(kind, data):
            raise FractionError(str(error)) from None
        if is_detected:
            raise DetectionError(str(error), kind) from None
        raise


class DetectionError(Error):
    """An error in a file whose format was detected, perhaps wrongly."""

    def __init__(self, problem: str, kind: str) -> None:
        super().__init__(problem)
        self.problem, self.kind = problem, kind

    def __str__(self) -> str:
        """Return the message for users of Python."""
        formats = ", ".join(list_format_names())
        return f"{self._describe()}, set the format ({formats})"

    def describe_for(self, options: set[str]) -> str:
        """Return the message for a command with these options."""
        if "--format" in options:
            return f"{self._describe()}, pass --format; see 'topoloom list formats'"
        how = "convert it with 'topoloom pattern import --format NAME'"
        return f"{self._describe()}, {how}"

    def _describe(self) -> str:
        return f"{self.problem}; the content looks like {self.kind}; if it is not"


class FractionError(Error):
    """An error in values that are fractions, of which a scale makes bytes."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        """Return the message for users of Python."""
        return f"{self.problem}; scale all values"

    def describe_for(self, options: set[str]) -> str:
        """Return the message for a command with these options."""
        if "--scale" in options:
            return f"{self} with --scale X"
        return f"{self} with 'topoloom pattern import --scale X'"


def _has_only_fractions(kind: str, data: bytes) -> bool:
    """Return whether a graph that cannot be read can be read with a scale."""
    if kind not in SCALED_FORMATS:
        return False
    from topoloom.graphs.text_formats.value_readers import read_values

    try:
        read_values(kind, data, 1.0)
    except Error:
        return False
    return True


def check_scale(path: str | Path, kind: str, scale: float | None) -> None:
    """Raise `topoloom.Error` for a scale that the format does not use."""
    if scale is not None and kind not in SCALED_FORMATS:
        raise Error(
            f"{path}: is {kind}, whose values are bytes; a scale is for "
            f"{', '.join(SCALED_FORMATS)}"
        )


def _parse_graph(
    path: str | Path, kind: str, data: bytes, scale: float | None
) -> ReadGraph:
    check_scale(path, kind, scale)
    if kind == "npz":
        return ReadGraph(load_npz(path)[0])
    if kind == "monitoring":
        return _read_monitoring(data)
    if kind == "goal":
        return ReadGraph(_load_operations(path).messages)
    if kind == "metis":
        return ReadGraph(_core.read_metis(data))
    from topoloom.graphs.text_formats.value_readers import read_values

    graph, rounded, remarks = read_values(kind, data, scale)
    if scale is not None:
        what = f"; {rounded} were rounded" if rounded else ""
        remarks = [f"values were multiplied by {scale:g}{what}", *remarks]
    return ReadGraph(graph, remarks)


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


def list_format_names() -> list[str]:
    """List the formats of graphs and of traces."""
    from topoloom.graphs.trace_names import TRACE_NAMES

    return [*FORMATS, *TRACE_NAMES]


def _detect_format(data: bytes) -> str:
    if _is_goal(data[:_HEAD]):
        return "goal"
    from topoloom.graphs.text_formats.detect_format import detect_format

    return detect_format(data)


def load_operations(path: str | Path) -> OperationGraph | None:
    """Read the operations and dependencies in a GOAL file; None for other formats."""
    if not Path(path).is_file():
        return None
    with open_regular(path) as file:
        if not _is_goal(file.read(_HEAD)):
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
    try:
        return read_goal(path.read_bytes())
    except UnicodeDecodeError:  # The error would quote what is not text.
        raise Error(
            f"{path}: is not a GOAL file: it has bytes that are no text"
        ) from None


def _is_goal(head: bytes) -> bool:
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"//")), b"")
    return first.startswith(b"num_ranks")


def _is_monitoring(path: str | Path) -> bool:
    return Path(path).is_dir() or (
        not Path(path).exists() and glob.has_magic(str(path))
    )


def _load_monitoring(path: str | Path) -> ReadGraph:
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
        return _read_monitoring(b"".join(parts))
    except Error as error:
        raise Error(_locate_error_line(str(error), files, parts)) from None


def _read_monitoring(data: bytes) -> ReadGraph:
    """Read what Open MPI 2 to 5 write; a remark counts lines of collectives.

    Open MPI 2 writes the program's messages as I and its own as E, later versions the
    other way round; both are counted.
    """
    graph = _core.read_monitoring(data)
    calls = sum(line.startswith(b"C\t") for line in data.splitlines())
    if not calls:
        return ReadGraph(graph)
    what = counted(calls, "line")
    remark = f"{what} of collectives (C) left out: lines I have their messages"
    return ReadGraph(graph, [remark])


def _locate_error_line(what: str, files: list[Path], parts: list[bytes]) -> str:
    """Replace a line number in the concatenated files by the file and its line."""
    if not what.startswith("line "):
        return f"{files[0].parent if len(files) > 1 else files[0]}: {what}"
    number, _, rest = what.removeprefix("line ").partition(":")
    ends = list(itertools.accumulate(part.count(b"\n") for part in parts))
    which = min(bisect.bisect_left(ends, int(number)), len(files) - 1)
    line = int(number) - (ends[which - 1] if which else 0)
    return f"{files[which]}:{line}:{rest}"
