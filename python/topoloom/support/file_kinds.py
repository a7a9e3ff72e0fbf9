# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes files that were given in the place of another kind of file."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.files import open_regular


class FileKind(NamedTuple):
    """A kind of file, and where the command line takes it."""

    name: str
    #: A metavar or an option.
    place: str
    #: A command with this place.
    command: str


class MisplacedFileError(Error):
    """A file in the place of another kind of file.

    The command line names another command if `found` has no place in the current one.
    """

    def __init__(self, problem: str, found: FileKind) -> None:
        super().__init__(problem, found)
        self.problem = problem
        self.found = found

    def __str__(self) -> str:
        """Return the message for a command that takes the file elsewhere."""
        return f"{self.problem}; give it as {self.found.place}"

    def describe_for(self, places: set[str]) -> str:
        """Return the message for a command with these metavars and options."""
        if self.found.place in places:
            return str(self)
        return (
            f"{self.problem}; 'topoloom {self.found.command}' takes it as "
            f"{self.found.place}"
        )


GRAPH = FileKind("a communication graph", "GRAPH", "map")
PLACEMENT = FileKind("a placement", "PLACEMENT", "judge")
MACHINE = FileKind("a machine", "MACHINE", "machine show")
MODEL = FileKind("a model of message costs", "MODEL", "model show")
SWITCH = FileKind("a switch model", "--switch", "simulate")
LOADS = FileKind("a file of link loads", "--background", "map")
ALLOCATION = FileKind("an allocation", "--allocation", "map")

_BY_FORMAT = {
    "topoloom-graph": GRAPH,
    "topoloom-placement": PLACEMENT,
    "topoloom-machine": MACHINE,
    "topoloom-model": MODEL,
    "topoloom-switch": SWITCH,
    "topoloom-loads": LOADS,
}
_GRAPH_SUFFIXES = (
    *(".mtx", ".mm", ".graph", ".metis", ".mat", ".dense", ".goal", ".prof"),
    *(".edges", ".edgelist", ".el", ".gr", ".gml", ".graphml"),
)
#: Begins of files of other programs that are no other kind.
_BY_HEAD = (
    (
        re.compile(
            r"(?i)(?:\s|#[^\n]*\n|//[^\n]*\n)*(?:%%MatrixMarket\b|num_ranks\s|[EISRC]\t[0-9]|"
            r'"?(?:src|source)"?[ \t]*[,;\t ][ \t]*"?(?:dst|target|dest)\b)'
        ),
        GRAPH,
    ),
    (re.compile(r"(?s)\s*(?:<\?xml.{0,200}?\?>)?\s*<graphml[\s>]"), GRAPH),
    (
        re.compile(
            r"(?s)\s*(?:<\?xml.{0,200}?\?>)?\s*(?:<!.{0,1000}?>\s*)*"
            r"<(?:topology|platform|system)[\s>]"
        ),
        MACHINE,
    ),
    (re.compile(r"(?i)(?:\s|#[^\n]*\n)*(?:Switch|Block|Node)Name[ \t]*="), MACHINE),
)
_FORMAT = re.compile(r"""["']?format["']?\s*[:=]\s*["'](topoloom-[a-z]+)["']""")
_HEAD = 4096


def find_file_kind(path: str | Path) -> FileKind | None:
    """Recognize a file by its content; None for unknown or unreadable files."""
    try:
        with open_regular(path) as stream:
            head = stream.read(_HEAD)
        if head.startswith(b"PK"):
            with zipfile.ZipFile(path) as archive:
                return GRAPH if "indptr.npy" in archive.namelist() else None
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    text = head.decode(errors="replace")
    if found := _FORMAT.search(text):
        return _BY_FORMAT.get(found[1])
    for pattern, kind in _BY_HEAD:
        if pattern.match(text):
            return kind
    return GRAPH if Path(path).suffix.lower() in _GRAPH_SUFFIXES else None


def check_file_kind(path: str | Path, *expected: FileKind) -> None:
    """Raise `topoloom.Error` for a file that is known to be of another kind."""
    found = find_file_kind(path)
    if found is not None and found not in expected:
        problem = f"{path} is {found.name}, not {expected[0].name}"
        raise MisplacedFileError(problem, found)
