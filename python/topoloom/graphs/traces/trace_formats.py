# SPDX-License-Identifier: BSD-3-Clause
"""Lists, detects and reads formats of traces."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.graphs.profile import Profile
from topoloom.graphs.trace_names import TRACE_NAMES
from topoloom.graphs.traces.chakra import read_chakra
from topoloom.graphs.traces.dumpi import HEAD, read_dumpi
from topoloom.graphs.traces.flight_recorder import read_flight_recorder
from topoloom.graphs.traces.hlo import read_hlo
from topoloom.graphs.traces.inspector import read_inspector
from topoloom.graphs.traces.ipm import IPM, read_ipm
from topoloom.graphs.traces.kineto import read_kineto
from topoloom.graphs.traces.otf2_archive import read_otf2
from topoloom.graphs.traces.paje import HEAD as PAJE_HEAD, read_paje
from topoloom.graphs.traces.paraver import HEADER, read_paraver
from topoloom.graphs.traces.simgrid_ti import LINE, lists_rank_files, read_simgrid_ti
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import prefix_errors


def _read_hlo_file(files: Sequence[Path]) -> Trace:
    if len(files) > 1:
        raise Error(
            f"{files[1]}: a program is one file of HLO, and {files[0]} is another"
        )
    with prefix_errors(files[0]):
        return read_hlo(read_content(files[0]).decode(errors="replace"))


_READERS: dict[str, Callable[[Sequence[Path]], Trace]] = {
    "hlo": _read_hlo_file,
    "flight-recorder": read_flight_recorder,
    "kineto": read_kineto,
    "nccl-inspector": read_inspector,
    "otf2": read_otf2,
    "paraver": read_paraver,
    "dumpi": read_dumpi,
    "simgrid-ti": read_simgrid_ti,
    "paje": read_paje,
    "ipm": read_ipm,
    "chakra": read_chakra,
}
#: format name -> description and reader
FORMATS = {name: (TRACE_NAMES[name], read) for name, read in _READERS.items()}


#: File name suffix -> format.
_SUFFIXES = {".et": "chakra", ".otf2": "otf2"}


class IncompleteTraceError(Error):
    """Raised for an incomplete trace; the part that is present can be used."""


class TraceContent(NamedTuple):
    """A profile, and descriptions of missing data."""

    profile: Profile
    losses: list[str]


def list_files(path: str | Path) -> list[Path]:
    """List the files named by a path, a directory or a glob pattern (``d/*.et``)."""
    if Path(path).is_dir():
        return sorted(one for one in Path(path).iterdir() if one.is_file())
    if Path(path).exists() or not glob.has_magic(str(path)):
        return [Path(path)]
    return [Path(name) for name in sorted(glob.glob(str(path)))]  # noqa: PTH207


def detect_trace_format(path: str | Path) -> str | None:
    """Detect the format of a trace by content; None for other files."""
    for file in list_files(path)[:3]:
        if not file.is_file():
            continue
        if file.suffix in _SUFFIXES:
            return _SUFFIXES[file.suffix]
        with file.open("rb") as stream:
            head = stream.read(1 << 16)
        if head[:2] == b"\x1f\x8b":
            try:
                head = read_content(file)[: 1 << 16]
            except Error:
                return None
        if kind := _detect_by_head(head):
            return kind
    return None


def read_trace(
    path: str | Path, kind: str | None = None, partial: bool = False
) -> TraceContent:
    """Read a trace.

    Parameters
    ----------
    path
        A file, or a directory or glob pattern with the files of all ranks.
    kind
        A name in `FORMATS`; by default detected by content.
    partial
        Whether incomplete traces are used instead of raising `IncompleteTraceError`.
    """
    files = list_files(path)
    if not files and Path(path).is_dir():
        raise Error(f"{path}: has no files")
    if not files:
        raise Error(f"{path}: there is no such file")
    known = kind or detect_trace_format(path)
    if known is None:
        raise Error(f"{path}: is none of {', '.join(FORMATS)}")
    try:
        trace = FORMATS[known][1](files)
        profile = trace.profile()
    except OverflowError:
        raise Error(f"{path}: the sum of bytes or calls is 2^63 or more") from None
    if trace.losses and not partial:
        what = "; ".join(trace.losses[:3])
        more = len(trace.losses) - 3
        rest = f"; and {more} more" if more > 0 else ""
        raise IncompleteTraceError(f"{path}: {what}{rest}")
    return TraceContent(profile, trace.losses)


def _detect_by_head(head: bytes) -> str | None:
    if head.startswith(b"HloModule"):
        return "hlo"
    if HEADER.match(head):
        return "paraver"
    if HEAD.match(head):
        return "dumpi"
    if PAJE_HEAD.match(head):
        return "paje"
    if IPM.match(head):
        return "ipm"
    if LINE.match(head) or lists_rank_files(head):
        return "simgrid-ti"
    if head[:1] == b"\x80" and b"entries" in head:
        return "flight-recorder"
    if not head.lstrip().startswith(b"{"):
        return None
    first = head.lstrip().split(b"\n", 1)[0]
    if b'"header"' in first and b'"metadata"' in first:
        return "nccl-inspector"
    if b'"traceEvents"' in head or b'"distributedInfo"' in head:
        return "kineto"
    recorded = b'"entries"' in head or b'"pg_config"' in head
    return "flight-recorder" if recorded else None
