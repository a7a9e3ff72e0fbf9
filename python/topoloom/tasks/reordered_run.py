# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program whose MPI process topologies are reordered."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.support.plain_text import split_at_commas
from topoloom.tasks.objective import AUTO, HOP_BYTES
from topoloom.tasks.search import Search

if TYPE_CHECKING:
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.preload.shim.launcher import LaunchProgram


#: Limits of options in libtopoloom-reorder.
_MAX_SECONDS, _MAX_SEED = 86_400, 2**32 - 1


class ReorderOptions(NamedTuple):
    """Options of the preloaded library that reorders ranks."""

    mapper: str = "auto"
    objective: str = AUTO
    search: Search = Search()

    def list_changes(self) -> dict[str, str]:
        """Return options that differ from defaults, named as in `topoloom_mpi.h`."""
        given = {}
        if self.objective not in (AUTO, HOP_BYTES):
            given["objective"] = self.objective
        if self.search.seed != 1:
            given["seed"] = str(self.search.seed)
        if self.mapper != "auto":  # in a running job, auto selects the fast mapper
            given["mapper"] = self.mapper
        if self.search.seconds is not None:  # 0 means no limit in the library
            seconds = min(max(1, math.ceil(self.search.seconds)), _MAX_SECONDS)
            given["seconds"] = str(seconds)
        return given


class ReorderedRun(NamedTuple):
    """The exit status, the typed command, and one line of output per MPI program."""

    status: int
    command: list[str]
    lines: list[str]


def run_reordered(
    program: list[str],
    where: AllocatedHosts | None,
    options: ReorderOptions,
    mpicc: str | None = None,
) -> ReorderedRun:
    """Run a command with reordered MPI topologies; detect the machine by default."""
    import os

    from topoloom._core import Error
    from topoloom.launch.apply.run_program import run_program
    from topoloom.launch.launcher import Launch
    from topoloom.preload.mpi_library import format_machine_file
    from topoloom.preload.shim import add_preload, find_launcher
    from topoloom.support.files import make_shared_directory
    from topoloom.support.parameter_error import ParameterError

    _check_mapper(options.mapper)
    if options.search.seed > _MAX_SEED:
        raise ParameterError(
            "seed", f"must be at most {_MAX_SEED}, not {options.search.seed}"
        )
    # Report errors in the input before the program runs.
    text = None if where is None else format_machine_file(where)
    launcher = find_launcher(program)
    try:
        library = _build_library(program, launcher, mpicc)
    except (Error, OSError) as error:
        status = run_program(Launch(program))
        return ReorderedRun(status, program, [f"nothing reordered: {error}"])
    option_text = _merge_options(
        options, os.environ.get("TOPOLOOM_OPTIONS", ""), text is not None
    )
    variables = {"TOPOLOOM_OPTIONS": option_text}
    if text is None and "TOPOLOOM_MACHINE" in os.environ:
        variables["TOPOLOOM_MACHINE"] = os.environ["TOPOLOOM_MACHINE"]
    with make_shared_directory("reorder") as name:
        folder = Path(name)
        if text is not None:
            described = folder / "machine"
            described.write_text(text, encoding="utf-8")
            variables["TOPOLOOM_MACHINE"] = str(described)
        result = folder / "result"
        variables["TOPOLOOM_REORDER"] = str(result)
        command, environment = add_preload(
            launcher, program, [library], variables, os.environ
        )
        status = run_program(Launch(command, environment))
        lines = _read_lines(result)
        topologies = _read_lines(result.with_name(f"{result.name}.topologies"))
    if not lines:
        lines = [_explain_missing_result(status, topologies)]
    return ReorderedRun(status, program, lines)


def _read_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _merge_options(given: ReorderOptions, environment: str, has_machine: bool) -> str:
    """Merge options; the user's options override options in the environment."""
    words = [
        *split_at_commas(environment),
        *map("=".join, given.list_changes().items()),
    ]
    options = {word.partition("=")[0]: word for word in words if word}
    if has_machine:
        options.pop("machine", None)
    return ",".join(options.values())


def _build_library(
    program: list[str], launcher: LaunchProgram, mpicc: str | None
) -> Path:
    """Build the preloaded library; raise an error if preloading is not safe."""
    import os

    from topoloom.launch.apply.trial_run import check_files_on_hosts
    from topoloom.launch.launchers.launcher_commands import list_programs
    from topoloom.preload.mpi_library import build_reorder_library
    from topoloom.preload.shim import add_preload, check_programs, find_compiler
    from topoloom.support.resources import get_core_library_path

    compiler = find_compiler(launcher, mpicc)
    library = build_reorder_library(compiler)
    trusted = bool(mpicc or launcher.forwarding)
    check_programs(list_programs(program), compiler, library, trusted)
    add_preload(launcher, program, [library], {}, os.environ)  # may raise
    check_files_on_hosts(program, [library, get_core_library_path()])
    return library


def _check_mapper(mapper: str) -> None:
    """Raise an error for an unknown mapper before the job starts."""
    from topoloom._core import Allocation, Machine, place, ring

    place(ring(2, 1), Allocation.whole(Machine("torus:2")), mapper)


def _explain_missing_result(status: int, topologies: list[str]) -> str:
    """Explain why no program reported; `topologies` says which were ``reordered``."""
    from topoloom.support.signal_status import describe_early_end

    if topologies:
        reordered, total = topologies.count("reordered"), len(topologies)
        end = describe_early_end(status) if status else "the program ended"
        noun = "topology" if total == 1 else "topologies"
        return (
            f"{reordered} of {total} {noun} reordered; {end} "
            "before MPI_Finalize, so the gain is not known"
        )
    if status:
        return f"nothing reordered: {describe_early_end(status)} before MPI_Finalize"
    return (
        "nothing reordered: no MPI program of the command loaded the library; check "
        "with ldd that it is dynamic and uses the launcher's MPI"
    )
