# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start ranks in the launcher's order; ranks are renumbered in MPI."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.command_line import MissingProgramError
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import LauncherCommand, read_command
from topoloom.support.files import make_local_directory


class UnplacedCommand(NamedTuple):
    """Any command; `known` is None if its launcher is unknown."""

    command: list[str]
    known: LauncherCommand | None

    def list_hosts(self) -> list[str] | None:
        """List the hosts in the command, if the launcher is known."""
        return self.known.list_hosts() if self.known else None

    def rank_count(self) -> int | None:
        """Return the number of ranks, if known."""
        return self.known.rank_count() if self.known else None

    def make_directory(self) -> tempfile.TemporaryDirectory[str]:
        """Create a temporary directory, which stays empty."""
        return make_local_directory("run")

    def apply(self, placement: HostPlacement, directory: Path) -> Launch:
        """Return the command unchanged."""
        cores = placement.cores_per_rank
        if cores == 1:
            return Launch(self.command)
        return Launch(
            self.command,
            loss=f"the command must give each rank its {cores} cores and threads",
        )


def read_unplaced_command(command: Sequence[str]) -> UnplacedCommand:
    """Parse a command, even of an unknown launcher.

    Raises
    ------
    topoloom.Error
        If the command has no program, or if there is standard input. The launcher
        forwards the input to its own rank 0, which may have another rank after
        renumbering.
    """
    if _has_input():
        raise Error(
            "--apply world and standard input are mutually exclusive: the launcher "
            "forwards it to its own rank 0; let the program read a file"
        )
    try:
        return UnplacedCommand(list(command), read_command(command))
    except MissingProgramError:
        raise
    except Error:
        return UnplacedCommand(list(command), None)


def _has_input() -> bool:
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            return status.st_size > os.lseek(0, 0, os.SEEK_CUR)
        if not stat.S_ISFIFO(status.st_mode):
            return False
        waiting = fcntl.ioctl(0, termios.FIONREAD, struct.pack("i", 0))
    except OSError:
        return False
    return bool(struct.unpack("i", waiting)[0])
