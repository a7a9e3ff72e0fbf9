# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start their ranks where they like; the ranks are renumbered instead."""

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
from topoloom.launch.command_line import NoProgram
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.registry import ReadCommand, read_command
from topoloom.support.files import local_directory


class AsItIs(NamedTuple):
    """Any command; `read` is None where its launcher is not known."""

    command: list[str]
    read: ReadCommand | None

    def hosts(self) -> list[str] | None:
        """List the hosts that the command names, if it is known to."""
        return self.read.hosts() if self.read else None

    def rank_count(self) -> int | None:
        """Return the number of ranks that it starts, if that is known."""
        return self.read.rank_count() if self.read else None

    def directory(self) -> tempfile.TemporaryDirectory[str]:
        """Make a directory for files, of which `apply` writes none."""
        return local_directory("run")

    def apply(self, placement: HostPlacement, directory: Path) -> Launch:
        """Change nothing."""
        return Launch(self.command)


def read_as_it_is(command: Sequence[str]) -> AsItIs:
    """Read of a command what can be read.

    Raises
    ------
    topoloom.Error
        If it names no program, or there is standard input for one: launchers hand that
        to their own rank 0, which may be another one once ranks are renumbered.
    """
    if _has_input():
        raise Error(
            "--world and standard input are mutually exclusive: the launcher hands it "
            "to its own rank 0; let the program read a file"
        )
    try:
        return AsItIs(list(command), read_command(command))
    except NoProgram:
        raise
    except Error:
        return AsItIs(list(command), None)


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
