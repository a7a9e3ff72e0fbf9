# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes files that were given in the place of another kind of file."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error


class FileKind(NamedTuple):
    """A kind of file, and where the command line takes it."""

    name: str
    place: str


GRAPH = FileKind("a communication graph", "GRAPH")
PLACEMENT = FileKind("a placement", "PLACEMENT")
MACHINE = FileKind("a machine", "MACHINE")
MODEL = FileKind("a model of message costs", "MODEL")
SWITCH = FileKind("a switch model", "SWITCH")
LOADS = FileKind("a file of link loads", "background traffic")
ALLOCATION = FileKind("an allocation", "ALLOCATION")

_BY_FORMAT = {
    "topoloom-graph": GRAPH,
    "topoloom-placement": PLACEMENT,
    "topoloom-machine": MACHINE,
    "topoloom-model": MODEL,
    "topoloom-switch": SWITCH,
    "topoloom-loads": LOADS,
}
_GRAPH_SUFFIXES = (".mtx", ".mm", ".graph", ".metis", ".goal", ".prof")
_FORMAT = re.compile(r"""["']?format["']?\s*[:=]\s*["'](topoloom-[a-z]+)["']""")
_HEAD = 4096


def find_file_kind(path: str | Path) -> FileKind | None:
    """Recognize a file by its content; None for unknown or unreadable files."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_HEAD)
        if head.startswith(b"PK"):
            with zipfile.ZipFile(path) as archive:
                return GRAPH if "indptr.npy" in archive.namelist() else None
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    if found := _FORMAT.search(head.decode(errors="replace")):
        return _BY_FORMAT.get(found[1])
    return GRAPH if Path(path).suffix.lower() in _GRAPH_SUFFIXES else None


def check_file_kind(path: str | Path, *expected: FileKind) -> None:
    """Raise `topoloom.Error` for a file that is known to be of another kind."""
    found = find_file_kind(path)
    if found is not None and found not in expected:
        raise Error(
            f"{path} is {found.name}, not {expected[0].name}; give it as {found.place}"
        )
