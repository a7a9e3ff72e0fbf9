# SPDX-License-Identifier: BSD-3-Clause
"""Preloads what reports, as a program starts, where its ranks are."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.launch.exports import bindings
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.registry import programs
from topoloom.preload.collectives import build_collectives
from topoloom.preload.shim import (
    build_shim,
    check_programs,
    find_compiler,
    find_launcher,
    preloaded_command,
)
from topoloom.preload.verify.proof import Proof, read_proof
from topoloom.preload.world import build_world
from topoloom.support.files import shared_directory, write_text
from topoloom.support.this_host import is_this_host

_SECONDS_BETWEEN_LOOKS = 0.2
#: For how long NFS may not show a file that another node has made.
_SECONDS_LATE = 3.0


class Witness:
    """Compares the ranks of a command with a plan.

    Parameters
    ----------
    placement
        The plan.
    command
        The command that starts the program, as its user wrote it.
    mpicc
        Compiler of the program's MPI, if the one beside its launcher is not.
    renumber
        Let the program see the ranks where they are planned, wherever the command
        starts them.
    collectives
        Run the program's collectives by libtopoloom-collective, with this value of
        TOPOLOOM_COLLECTIVES.

    Attributes
    ----------
    libraries
        What is preloaded.
    required
        Whether the program must not run without what is preloaded.
    proofs
        What was seen: one proof for each MPI program that the command ran.
    damage
        What of it could not be read.

    Raises
    ------
    topoloom.Error
        If the witness cannot be preloaded or compiled, or has no folder to write to.
    """

    def __init__(
        self,
        placement: HostPlacement,
        command: Sequence[str],
        mpicc: str | None = None,
        renumber: bool = False,
        collectives: str | None = None,
    ) -> None:
        self._placement = placement
        self._launcher = find_launcher(list(command))
        compiler = find_compiler(self._launcher, mpicc)
        self.libraries = [build_shim("verify", compiler, folders=["mpi/process_map"])]
        trusted = bool(mpicc or self._launcher.forwarding)
        check_programs(programs(command), compiler, self.libraries[0], trusted)
        self.required = renumber or collectives is not None
        if renumber:
            self.libraries.append(build_world(compiler))
        if collectives is not None:  # behind the renumbered MPI_COMM_WORLD
            self.libraries.append(build_collectives(compiler))
        self.proofs: list[Proof] = []
        self.damage: str | None = None
        self._known: set[Path] = set()
        self._directory = shared_directory("verify")
        self._folder = Path(self._directory.name)
        plan = self._folder / "plan"
        write_text(plan, bindings.write(placement))
        self._variables = {"TOPOLOOM_VERIFY": str(self._folder)}
        if renumber:
            self._variables["TOPOLOOM_WORLD"] = str(plan)
        if collectives is not None:
            self._variables["TOPOLOOM_COLLECTIVES"] = collectives

    def watched(self, launch: Launch) -> Launch:
        """Let a command report where its ranks are."""
        command, environment = preloaded_command(
            self._launcher,
            launch.command,
            self.libraries,
            self._variables,
            {**os.environ, **launch.environment},
        )
        return Launch(command, environment, launch.loss)

    @contextlib.contextmanager
    def telling(self, tell: Callable[[Proof], None]) -> Iterator[None]:
        """Call `tell` once for each program, as soon as it has started."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_SECONDS_BETWEEN_LOOKS):
                self._look(tell)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            self._look(tell)
        patience = time.monotonic() + _SECONDS_LATE
        while self._may_be_late() and time.monotonic() < patience:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            with contextlib.suppress(OSError):
                os.utime(self._folder)
            self._look(tell)

    def _look(self, tell: Callable[[Proof], None]) -> None:
        for file in sorted({*self._folder.glob("report-*")} - self._known):
            self._known.add(file)
            try:
                proof = read_proof(file, self._placement)
            except (Error, OSError) as error:
                self.damage = str(error)
                continue
            self.proofs.append(proof)
            tell(proof)

    def _may_be_late(self) -> bool:
        return not self._known and not all(map(is_this_host, self._placement.hosts))

    def close(self) -> None:
        """Take the folder away."""
        self._directory.cleanup()


def why_no_proof(status: int) -> str:
    """Say why a command that has run left no word of its ranks."""
    failed = "failed before MPI_Init, " if status else ""
    return (
        f"the command {failed}ran no MPI program, one of another MPI (name its "
        "compiler with --mpicc), or one whose rank 0 does not see the working directory"
    )
