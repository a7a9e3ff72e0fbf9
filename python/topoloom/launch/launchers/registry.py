# SPDX-License-Identifier: BSD-3-Clause
"""The table of launchers, and which of them a command starts with."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.command_line import CommandLine, NoProgram, parse
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch, Launcher
from topoloom.launch.launchers import flux, hydra, intel, openmpi, srun
from topoloom.support.files import local_directory, shared_directory

LAUNCHERS: tuple[Launcher, ...] = (openmpi, hydra, intel, srun, flux)

#: What is asked for its version; a script that is called like it would be run.
_PROGRAMS = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun|flux)([.-].*)?")


class ReadCommand(NamedTuple):
    """A command whose launcher is known."""

    launcher: Launcher
    version: tuple[int, ...]
    line: CommandLine

    def hosts(self) -> list[str] | None:
        """List the hosts that the command names, if any."""
        return self.launcher.hosts(self.line)

    def rank_count(self) -> int | None:
        """Return how many ranks it starts, if the command says so."""
        return self.line.rank_count()

    def starting(self, program: tuple[str, ...]) -> ReadCommand:
        """Put another program in the place of each program of the command."""
        parts = tuple(replace(part, program=program) for part in self.line.segments)
        return self._replace(line=replace(self.line, segments=parts))

    def directory(self) -> tempfile.TemporaryDirectory[str]:
        """Make a directory for the files that `apply` writes."""
        if self.launcher.NODES_READ_FILES:
            return shared_directory("run")
        return local_directory("run")

    def apply(self, placement: HostPlacement, directory: Path) -> Launch:
        """Build the command that applies a placement; files go to `directory`."""
        ranks = self.rank_count()
        if ranks is not None and ranks != placement.rank_count:
            raise Error(
                f"the command starts {ranks} ranks, but the placement is for "
                f"{placement.rank_count}"
            )
        return self.launcher.apply(self.line, placement, directory, self.version)


class Recognized(NamedTuple):
    """A launcher, and its version."""

    launcher: Launcher
    version: tuple[int, ...]

    def read(self, command: Sequence[str]) -> ReadCommand:
        """Read a command of this launcher; raise `topoloom.Error` if that fails."""
        line = parse(command, self.launcher.SYNTAX)
        return ReadCommand(self.launcher, self.version, line)


def recognize(program: str) -> Recognized | None:
    """Find out which launcher a program is, by its ``--version``; None if it is none.

    Raises
    ------
    topoloom.Error
        If it is not there, or called like a launcher but does not report its version.
    """
    found = shutil.which(program)
    if found is None:
        raise Error(f"there is no program '{program}'")
    if not any(map(_PROGRAMS.fullmatch, _names(Path(found)))):
        return None
    text, failed = _version_text(found, Path(found).stat().st_mtime_ns)
    for launcher in LAUNCHERS:
        version = launcher.version(text)
        if version is not None:
            return Recognized(launcher, version)
    if failed is not None:
        raise Error(f"'{program} --version' failed: {failed}")
    return None


def read_command(command: Sequence[str]) -> ReadCommand:
    """Find out which launcher a command starts with, and read its options.

    Raises
    ------
    topoloom.Error
        If it starts with something else, or its options cannot be read.
    """
    if not command:
        raise Error("no command; end with -- mpirun -n 64 ./app")
    recognized = recognize(command[0])
    if recognized is None:
        names = ", ".join(launcher.NAME for launcher in LAUNCHERS)
        raise Error(
            f"'{command[0]}' is not a launcher that takes a placement ({names}); start "
            "the command with mpirun, mpiexec, srun or flux run, or use 'topoloom "
            "export'"
        )
    return recognized.read(command)


def check_program(command: Sequence[str]) -> None:
    """Raise `topoloom.Error` if a launcher is to start nothing.

    A command that cannot be read may still run as it is.
    """
    try:
        read_command(command)
    except NoProgram:
        raise
    except Error:
        return


def programs(command: Sequence[str]) -> list[str]:
    """Name the programs that a command starts; none where it cannot be read."""
    try:
        parts = read_command(command).line.segments
    except Error:
        return []
    return [part.program[0] for part in parts]


def links(path: Path) -> list[Path]:
    """Follow symbolic links one by one, as Debian's alternatives need."""
    found: list[Path] = []
    while path.is_symlink() and len(found) < 40:
        path = path.parent / path.readlink()
        found.append(path)
    return found


def _names(path: Path) -> list[str]:
    return [path.name, *(link.name for link in links(path))]


@functools.cache
def _version_text(program: str, _changed: int) -> tuple[str, str | None]:
    """Ask a launcher for its version; if it fails, report its first line."""
    try:
        asked = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Error(f"'{program} --version' does not answer") from None
    failed = (asked.stderr.splitlines() or [f"status {asked.returncode}"])[0]
    return asked.stdout, failed if asked.returncode else None
