# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes programs: by contents, arguments, ranks and threads, or by a name."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.store.durable_files import hash_file
from topoloom.store.run_store import make_key

#: Programs whose first file among the arguments is the script to run.
_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|julia|octave|lua|node|R|Rscript|sh|bash|dash|zsh|ksh)"
    r"[-.0-9]*"
)
_SHEBANG_BYTES = 512


class ProgramFile(NamedTuple):
    """An executable or a script: its path as typed, and the SHA-256 of its contents."""

    path: str
    sha256: str


class ProgramIdentity(NamedTuple):
    """What makes two runs runs of the same program.

    Attributes
    ----------
    files
        Executables and scripts, in the order of the command; none for a named program.
    arguments
        Words of all programs of the command; files are replaced by their numbers.
    ranks
        Number of ranks; None if the command does not contain it.
    slots
        Number of slots of the job if the number of ranks is not known, else None.
    ranks_per_node
        Largest number of ranks on a node; None if unknown.
    threads
        Threads per rank as in ``OMP_NUM_THREADS``; "" if that is not set.
    name
        The name that the user gave instead of files and arguments.
    """

    files: tuple[ProgramFile, ...]
    arguments: tuple[str, ...]
    ranks: int | None
    slots: int | None
    ranks_per_node: int | None
    threads: str
    name: str | None = None

    @property
    def key(self) -> str:
        """The key of runs with the same arguments."""
        return make_key("program", self._facts(self.arguments))

    def key_in(self, directory: str) -> str:
        """Return the key of runs with the same arguments in a directory."""
        facts = [directory, self._facts(self.arguments)]
        return make_key("program in a directory", facts)

    @property
    def like_key(self) -> str:
        """The key of runs with any arguments."""
        return make_key("program with any arguments", self._facts(()))

    @property
    def title(self) -> str:
        """A short name for tables: the given name, or the last file's name."""
        if self.name is not None:
            return self.name
        return Path(self.files[-1].path).name if self.files else "unknown"

    def _facts(self, arguments: tuple[str, ...]) -> Any:
        job = [self.ranks, self.slots]
        if self.name is not None:
            return [self.name, job]
        hashes = [file.sha256 for file in self.files]
        return [hashes, arguments, job, self.ranks_per_node, self.threads]


class Segment(NamedTuple):
    """A part of a command: its number of ranks if it is given, and its program."""

    ranks: str
    words: Sequence[str]


def identify_program(
    segments: Sequence[Segment],
    ranks: int | None,
    slots: int,
    ranks_per_node: int | None,
    name: str | None = None,
) -> ProgramIdentity:
    """Identify the program of a command by the contents of its files.

    With a `name`, files and arguments do not matter.

    Raises
    ------
    topoloom.Error
        If a program is not readable on this host.
    """
    files: list[ProgramFile] = []
    arguments: list[str] = []
    for segment in [] if name is not None else segments:
        arguments += [":", segment.ranks]
        scripts = _find_scripts(segment.words)
        for position, word in enumerate(segment.words):
            if position != 0 and position not in scripts:
                arguments.append(f"={word}")
                continue
            found = _hash_program(word, is_script=position in scripts)
            arguments.append(f"#{len(files)}")
            files += found
    return ProgramIdentity(
        tuple(files),
        tuple(arguments),
        ranks,
        None if ranks is not None else slots,
        ranks_per_node,
        os.environ.get("OMP_NUM_THREADS", ""),
        name,
    )


def _find_scripts(words: Sequence[str]) -> set[int]:
    """Find programs among the arguments: of an interpreter, or of a wrapper.

    The first file after an interpreter is its script. Executable files that are named
    by a path are programs that a wrapper such as ``numactl`` starts.
    """
    found = set()
    expects_script = _INTERPRETERS.fullmatch(Path(words[0]).name) is not None
    for position, word in enumerate(words[1:], 1):
        is_file = not word.startswith("-") and Path(word).is_file()
        if expects_script and is_file:
            expects_script = False
            found.add(position)
        elif is_file and "/" in word and os.access(word, os.X_OK):
            found.add(position)
            expects_script = _INTERPRETERS.fullmatch(Path(word).name) is not None
    return found


def _hash_program(word: str, is_script: bool) -> list[ProgramFile]:
    """Hash a program, and the interpreter that its first line names."""
    path = word if is_script else shutil.which(word)
    if path is None:
        raise Error(
            f"'{word}' cannot be recognized in later runs: there is no such program on "
            "this host; pass --name"
        )
    try:
        found = [ProgramFile(word, hash_file(Path(path)))]
        if interpreter := _read_interpreter(path):
            found.insert(0, ProgramFile(interpreter, hash_file(Path(interpreter))))
    except OSError as error:
        raise Error(
            f"'{word}' cannot be recognized in later runs: {error.strerror}; pass "
            "--name"
        ) from None
    return found


def _read_interpreter(path: str) -> str | None:
    """Return the interpreter of a script that starts with ``#!``, or None."""
    with Path(path).open("rb") as stream:
        line = stream.readline(_SHEBANG_BYTES)
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode(errors="surrogateescape").split()
    if len(words) > 1 and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-")]
        return shutil.which(words[0]) if words else None
    return shutil.which(words[0]) if words else None
