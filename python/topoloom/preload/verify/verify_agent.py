# SPDX-License-Identifier: BSD-3-Clause
"""Preloads a library that makes ranks report host and CPU affinity at startup."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.exports import bindings
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import list_programs
from topoloom.preload.collectives import build_collective_library
from topoloom.preload.shim import (
    add_preload,
    build_shim,
    check_programs,
    find_compiler,
    find_launcher,
)
from topoloom.preload.verify.affinity_report import AffinityReport, read_report
from topoloom.preload.world import build_world_library
from topoloom.support.files import make_shared_directory, write_text
from topoloom.support.this_host import is_this_host

_POLL_SECONDS = 0.2
#: Maximum delay until NFS shows a file that another node has written.
_NFS_DELAY_SECONDS = 3.0


class VerifyAgent:
    """Preloads the verify library into a command and compares affinity with a plan.

    Parameters
    ----------
    placement
        Planned placement of the ranks.
    command
        The user's command that starts the program.
    mpicc
        Compiler of the program's MPI; default: ``mpicc`` next to the launcher.
    renumber
        Whether to renumber the ranks, so that each rank runs at its planned location.
    collectives
        Value of TOPOLOOM_COLLECTIVES with which libtopoloom-collective replaces the
        program's collectives; None: no replacement.
    first
        Library to preload before all others; None: no such library.
    variables
        Environment variables that `first` needs.

    Attributes
    ----------
    libraries
        Libraries to preload.
    required
        Whether the program depends on the libraries.
    reports
        One report per MPI program that the command ran.
    read_error
        Error message of an unreadable report.

    Raises
    ------
    topoloom.Error
        If the library cannot be preloaded or compiled, or no folder is writable.
    """

    def __init__(
        self,
        placement: HostPlacement,
        command: Sequence[str],
        mpicc: str | None = None,
        renumber: bool = False,
        collectives: str | None = None,
        first: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._placement = placement
        self._launcher = find_launcher(list(command))
        compiler = find_compiler(self._launcher, mpicc)
        library = build_shim("verify", compiler, folders=["mpi/process_map"])
        is_mpi_known = bool(mpicc or self._launcher.forwarding)
        check_programs(list_programs(command), compiler, library, is_mpi_known)
        self.libraries = [library] if first is None else [first, library]
        self.required = renumber or collectives is not None
        if renumber:
            self.libraries.append(build_world_library(compiler))
        if collectives is not None:  # must follow the library that renumbers ranks
            self.libraries.append(build_collective_library(compiler))
        self.reports: list[AffinityReport] = []
        self.read_error: str | None = None
        self._known: set[Path] = set()
        self._directory = make_shared_directory("verify")
        self._folder = Path(self._directory.name)
        plan = self._folder / "plan"
        write_text(plan, bindings.write(placement))
        self._variables = {**(variables or {}), "TOPOLOOM_VERIFY": str(self._folder)}
        if renumber:
            self._variables["TOPOLOOM_WORLD"] = str(plan)
        if collectives is not None:
            self._variables["TOPOLOOM_COLLECTIVES"] = collectives

    def preload_into(self, launch: Launch) -> Launch:
        """Add the libraries and their variables to a command."""
        command, environment = add_preload(
            self._launcher,
            launch.command,
            self.libraries,
            self._variables,
            {**os.environ, **launch.environment},
        )
        return Launch(command, environment, launch.loss)

    @contextlib.contextmanager
    def watch_reports(
        self, callback: Callable[[AffinityReport], None]
    ) -> Iterator[None]:
        """Call `callback` with each program's report, soon after the program starts."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_POLL_SECONDS):
                self._read_new_reports(callback)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            self._read_new_reports(callback)
        deadline = time.monotonic() + _NFS_DELAY_SECONDS
        while self._may_be_delayed() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            with contextlib.suppress(OSError):
                os.utime(self._folder)
            self._read_new_reports(callback)

    def _read_new_reports(self, callback: Callable[[AffinityReport], None]) -> None:
        for file in sorted({*self._folder.glob("report-*")} - self._known):
            self._known.add(file)
            try:
                report = read_report(file, self._placement)
            except (Error, OSError) as error:
                self.read_error = str(error)
                continue
            self.reports.append(report)
            callback(report)

    def _may_be_delayed(self) -> bool:
        return not self._known and not all(map(is_this_host, self._placement.hosts))

    def close(self) -> None:
        """Remove the temporary folder."""
        self._directory.cleanup()


def explain_missing_report(status: int) -> str:
    """Explain why a command wrote no affinity report."""
    from topoloom.support.signal_status import describe_early_end

    if status:
        return f"{describe_early_end(status)} before its ranks reported"
    return (
        "the command ran no MPI program, one of another MPI (name its compiler with "
        "--mpicc), or one whose rank 0 does not see the working directory"
    )
