# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes launchers and parses their commands."""

from __future__ import annotations

import functools
import importlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.launch.command_line import (
    CommandLine,
    MissingProgramError,
    parse_command,
)
from topoloom.launch.launcher import Launch, Launcher
from topoloom.support.files import make_local_directory, make_shared_directory

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

#: Launcher modules, in the order in which they are tried.
_LAUNCHERS = ("openmpi", "hydra", "intel", "srun", "flux")

#: Names of programs that may be run with --version. No other program is run.
_PROGRAMS = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun|flux)([.-].*)?")


#: Launchers that `run` cannot start ranks with -> their format of 'topoloom export'.
_EXPORTED = {"jsrun": "jsrun-erf", "aprun": "mpich-rank-order"}


class LauncherCommand(NamedTuple):
    """A command of a known launcher."""

    launcher: Launcher
    version: tuple[int, ...]
    line: CommandLine

    def list_hosts(self) -> list[str] | None:
        """List the hosts in the command, if any."""
        return self.launcher.list_hosts(self.line)

    def rank_count(self) -> int | None:
        """Return the number of ranks, if the command contains it."""
        return self.line.rank_count()

    def with_program(self, program: tuple[str, ...]) -> LauncherCommand:
        """Replace each program of the command."""
        parts = tuple(replace(part, program=program) for part in self.line.segments)
        return self._replace(line=replace(self.line, segments=parts))

    def make_directory(self) -> tempfile.TemporaryDirectory[str]:
        """Create a temporary directory for the files that `apply` writes."""
        if self.launcher.NEEDS_SHARED_FILES:
            return make_shared_directory("run")
        return make_local_directory("run")

    def apply(self, placement: HostPlacement, directory: Path) -> Launch:
        """Build the command that applies a placement; files go to `directory`.

        Ranks of several cores are bound to them, unless the command binds its ranks.
        """
        from topoloom.launch.hybrid_ranks import bind_to_known_cores
        from topoloom.launch.nearest_devices import has_known_gpus

        ranks = self.rank_count()
        if ranks is not None and ranks != placement.rank_count:
            raise Error(
                f"the command starts {ranks} ranks, but the placement is for "
                f"{placement.rank_count}"
            )
        if not self.line.is_set(self.launcher.BINDING):
            placement = bind_to_known_cores(placement)
        launch = self.launcher.apply(self.line, placement, directory, self.version)
        if not has_known_gpus(placement):
            return launch
        losses = [launch.loss, "the program chooses its GPUs"]
        return replace(launch, loss="; ".join(filter(None, losses)))


class RecognizedLauncher(NamedTuple):
    """A launcher, and its version."""

    launcher: Launcher
    version: tuple[int, ...]

    def read(self, command: Sequence[str]) -> LauncherCommand:
        """Parse a command of this launcher; raise `topoloom.Error` if that fails."""
        line = parse_command(command, self.launcher.SYNTAX)
        return LauncherCommand(self.launcher, self.version, line)


def recognize_launcher(program: str) -> RecognizedLauncher | None:
    """Recognize a launcher by the output of ``--version``; None for other programs.

    Raises
    ------
    topoloom.Error
        If the program does not exist, or has a launcher's name but reports no version.
    """
    found = shutil.which(program)
    if found is None:
        raise Error(f"there is no program '{program}'")
    names = [path.name for path in (Path(found), *follow_links(Path(found)))]
    if not any(map(_PROGRAMS.fullmatch, names)):
        return None
    text, failed = _read_version_output(found, Path(found).stat().st_mtime_ns)
    for launcher in _load_launchers():
        version = launcher.parse_version(text)
        if version is not None:
            return RecognizedLauncher(launcher, version)
    if failed is not None:
        raise Error(f"'{program} --version' failed: {failed}")
    return None


def _load_launchers() -> Iterator[Launcher]:
    for name in _LAUNCHERS:
        module: Any = importlib.import_module(f"topoloom.launch.launchers.{name}")
        yield module


def read_command(command: Sequence[str]) -> LauncherCommand:
    """Recognize the launcher of a command, and parse its options.

    Raises
    ------
    topoloom.Error
        If the launcher or an option is unknown.
    """
    if not command:
        raise Error("no command; end with -- mpirun -n 64 ./app")
    recognized = recognize_launcher(command[0])
    if recognized is None:
        if target := _EXPORTED.get(Path(command[0]).name):
            raise Error(
                f"'{command[0]}' cannot be given a placement here; place with "
                f"'topoloom map', and write it for {command[0]} with 'topoloom export "
                f"--to {target}'"
            )
        names = ", ".join(launcher.NAME for launcher in _load_launchers())
        raise Error(
            f"'{command[0]}' is not a supported launcher ({names}); start "
            "the command with mpirun, mpiexec, srun or flux run, or use 'topoloom "
            "export'"
        )
    return recognized.read(command)


def require_program(command: Sequence[str]) -> None:
    """Raise `topoloom.Error` if the launcher's command has no program.

    Commands that cannot be parsed are accepted, because they can run unchanged.
    """
    try:
        read_command(command)
    except MissingProgramError:
        raise
    except Error:
        return


def list_programs(command: Sequence[str]) -> list[str]:
    """List the programs that a command starts; [] if it cannot be parsed."""
    try:
        parts = read_command(command).line.segments
    except Error:
        return []
    return [part.program[0] for part in parts]


def follow_links(path: Path) -> list[Path]:
    """List the successive targets of a symbolic link, such as Debian's alternatives."""
    found: list[Path] = []
    while path.is_symlink() and len(found) < 40:
        path = path.parent / path.readlink()
        found.append(path)
    return found


@functools.cache
def _read_version_output(program: str, _changed: int) -> tuple[str, str | None]:
    """Return a program's output of ``--version``, and the error if it fails."""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise Error(f"'{program} --version' does not answer") from None
    failed = (done.stderr.splitlines() or [f"status {done.returncode}"])[0]
    return done.stdout, failed if done.returncode else None
