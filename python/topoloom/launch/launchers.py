# SPDX-License-Identifier: BSD-3-Clause
"""The table of launchers, and which of them a command starts with."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from topoloom import Error
from topoloom.launch import flux, hydra, intel, openmpi, srun
from topoloom.launch.command_line import CommandLine, NoProgram, parse
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launch import Launch, Launcher

LAUNCHERS: tuple[Launcher, ...] = (openmpi, hydra, intel, srun, flux)

#: How the names of programs begin that are asked for their version.
PROGRAMS = ("mpi", "srun", "prterun", "orterun", "flux")


class ReadCommand(NamedTuple):
    """A command whose launcher is known."""

    launcher: Launcher
    version: tuple[int, ...]
    line: CommandLine

    def hosts(self) -> list[str] | None:
        """List the hosts that the command names, if any."""
        return self.launcher.hosts(self.line)

    def rank_count(self) -> int | None:
        """Tell how many ranks it starts, if the command says so."""
        return self.line.rank_count()

    def starting(self, program: tuple[str, ...]) -> ReadCommand:
        """Put another program in the place of each program of the command."""
        parts = tuple(replace(part, program=program) for part in self.line.segments)
        return self._replace(line=replace(self.line, segments=parts))

    def directory(self) -> tempfile.TemporaryDirectory[str]:
        """Make a directory for the files that `placed` writes."""
        shared = self.launcher.NODES_READ_FILES and os.access(".", os.W_OK)
        if shared:
            return tempfile.TemporaryDirectory(prefix=".topoloom-run-", dir=Path.cwd())
        return tempfile.TemporaryDirectory(prefix="topoloom-run-")

    def placed(self, placement: HostPlacement, directory: Path) -> Launch:
        """Build the command that applies a placement; files go to `directory`."""
        ranks = self.rank_count()
        if ranks is not None and ranks != placement.rank_count:
            raise Error(
                f"the command starts {ranks} ranks, but the placement is for "
                f"{placement.rank_count}"
            )
        return self.launcher.apply(self.line, placement, directory, self.version)


def read_command(command: Sequence[str]) -> ReadCommand:
    """Find out which launcher a command starts with, by its ``--version``.

    Raises
    ------
    topoloom.Error
        If it starts with something else, or its options cannot be read.
    """
    names = ", ".join(launcher.NAME for launcher in LAUNCHERS)
    if not command:
        raise Error("no command; end with -- mpirun -n 64 ./app")
    if shutil.which(command[0]) is None:
        raise Error(f"there is no program '{command[0]}'")
    text, failed = "", None
    if Path(command[0]).name.startswith(PROGRAMS):
        text, failed = _version_text(command[0])
    for launcher in LAUNCHERS:
        version = launcher.version(text)
        if version is not None:
            return ReadCommand(launcher, version, parse(command, launcher.SYNTAX))
    if failed is not None:
        raise Error(f"'{command[0]} --version' failed: {failed}")
    raise Error(
        f"'{command[0]}' is not a launcher that takes a placement ({names}); start the "
        "command with mpirun, mpiexec, srun or flux run, or use 'topoloom export'"
    )


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


def _version_text(program: str) -> tuple[str, str | None]:
    """Ask a launcher for its version; if it fails, tell its first line."""
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
