# SPDX-License-Identifier: BSD-3-Clause
"""Preloads what tells, as a program starts, where its ranks are."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.files import write_text
from topoloom.launch import bindings
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launch import Launch
from topoloom.launch.launchers import programs
from topoloom.shim import (
    build_shim,
    find_compiler,
    find_launcher,
    is_linked_statically,
    linked_mpi,
    preloaded_command,
)
from topoloom.verify.proof import Proof, read_proofs
from topoloom.world import build_world

_SECONDS_BETWEEN_LOOKS = 0.2


class Witness:
    """Compares the ranks of a command with a plan.

    Parameters
    ----------
    placed
        The plan.
    command
        The command that starts the program, as its user wrote it.
    mpicc
        Compiler of the program's MPI, if the one beside its launcher is not.
    renumber
        Let the program see the ranks where they are planned, wherever the command
        starts them.

    Raises
    ------
    topoloom.Error
        If the witness cannot be preloaded or compiled, or has no folder to write to.
    """

    def __init__(
        self,
        placed: HostPlacement,
        command: Sequence[str],
        mpicc: str | None = None,
        renumber: bool = False,
    ) -> None:
        self._placed = placed
        self._launcher = find_launcher(list(command))
        compiler = find_compiler(self._launcher, mpicc)
        self._libraries = [build_shim("verify", compiler, folders=["mpi/seats"])]
        trusted = bool(mpicc or self._launcher.family)
        _check_programs(programs(command), compiler, self._libraries[0], trusted)
        if renumber:
            self._libraries.append(build_world(compiler))
        self._folder = _new_folder()
        plan = self._folder / "plan"
        write_text(plan, bindings.write(placed))
        self._variables = {"TOPOLOOM_VERIFY": str(self._folder)}
        if renumber:
            self._variables["TOPOLOOM_WORLD"] = str(plan)

    def watched(self, launch: Launch) -> Launch:
        """Let a command tell where its ranks are."""
        command, environment = preloaded_command(
            self._launcher,
            launch.command,
            self._libraries,
            self._variables,
            {**os.environ, **launch.environment},
        )
        return Launch(command, environment, launch.loss)

    def proofs(self) -> list[Proof]:
        """Tell what was seen: one proof for each MPI program that the command ran."""
        return read_proofs(self._folder, self._placed)

    @contextlib.contextmanager
    def telling(self, tell: Callable[[Proof], None]) -> Iterator[None]:
        """Call `tell` once for each program, as soon as it has started."""
        ended = threading.Event()
        told = 0

        def look() -> None:
            nonlocal told
            for proof in self.proofs()[told:]:
                told += 1
                tell(proof)

        def watch() -> None:
            while not ended.wait(_SECONDS_BETWEEN_LOOKS):
                look()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            look()

    def close(self) -> None:
        """Take the folder away."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _check_programs(
    names: Sequence[str], compiler: Path, library: Path, trusted: bool
) -> None:
    """Refuse what preloading could break: programs of another MPI, or of none we see.

    Where some ranks of a job cannot be preloaded, the others would wait for them.
    """
    ours = linked_mpi(str(library))
    seen = False
    for name in names:
        if is_linked_statically(name):
            raise Error(
                f"{name} is linked statically, so nothing can be preloaded; link it "
                "dynamically"
            )
        theirs = linked_mpi(name)
        seen |= bool(theirs)
        if theirs and ours and not theirs & ours:
            raise Error(
                f"{name} is linked with {min(theirs)}, but {compiler} is of another "
                "MPI; name its own with --mpicc"
            )
    if not seen and not trusted:
        raise Error(
            "cannot tell the MPI of the program that the command starts; name its "
            "compiler with --mpicc"
        )


def why_no_proof(status: int) -> str:
    """Say why a command that has run left no word of its ranks."""
    failed = "failed before MPI_Init, " if status else ""
    return (
        f"the command {failed}ran no MPI program, one of another MPI (name its "
        "compiler with --mpicc), or one whose rank 0 does not see the working directory"
    )


def _new_folder() -> Path:
    """Prefer the working directory, which on clusters all nodes see."""
    for home in (Path.cwd(), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            return Path(tempfile.mkdtemp(prefix=".topoloom-verify-", dir=home))
    raise Error("cannot write into the working directory")
