# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run --reorder`: MPI's own calls that may reorder ranks do so."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.cli.objective import AUTO, HOP_BYTES

if TYPE_CHECKING:
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.cli.search import Search
    from topoloom.preload.shim.launcher import Starter


#: The library's limits.
_MAX_SECONDS, _MAX_SEED = 86_400, 2**32 - 1
#: Outside of parentheses.
_COMMA = re.compile(r",(?![^(]*\))")


class Wish(NamedTuple):
    """What the user asks of the order, and how to report it."""

    mapper: str
    objective: str
    search: Search
    as_json: bool

    def options(self) -> dict[str, str]:
        """List those that are not the library's own, as `topoloom_mpi.h` names them."""
        given = {}
        if self.objective not in (AUTO, HOP_BYTES):
            given["objective"] = self.objective
        if self.search.seed != 1:
            given["seed"] = str(self.search.seed)
        if self.mapper != "auto":  # a running job waits: there, auto is the fast one
            given["mapper"] = _COMMA.sub("+", self.mapper)
        if self.search.seconds is not None:  # the library's 0 is no limit
            seconds = min(max(1, math.ceil(self.search.seconds)), _MAX_SECONDS)
            given["seconds"] = str(seconds)
        return given


def run_reordered(
    program: list[str],
    machine: str | None,
    allocation: str | None,
    hosts: str | None,
    wish: Wish,
    mpicc: str | None,
) -> int:
    """Run the command with its topologies reordered; return its exit status."""
    import os

    from topoloom._core import Error
    from topoloom.launch.apply.program import run_program
    from topoloom.launch.launcher import Launch
    from topoloom.preload.reorder import machine_file
    from topoloom.preload.shim import find_launcher, preloaded_command
    from topoloom.support.files import shared_directory

    if machine is None and (allocation is not None or hosts is not None):
        raise Error("--allocation and --hosts are of a machine; add --machine")
    _check_mapper(wish.mapper)
    if wish.search.seed > _MAX_SEED:
        raise Error(f"--seed {wish.search.seed}: with --reorder at most {_MAX_SEED}")
    # Before anything runs, as what is wrong with them is the user's to mend.
    text = None if machine is None else machine_file(_where(machine, allocation, hosts))
    launcher = find_launcher(program)
    try:
        library = _library(program, launcher, mpicc)
    except (Error, OSError) as error:
        status = run_program(Launch(program))
        _tell([f"nothing reordered: {error}"], program, wish)
        return status
    options = _options(wish, os.environ.get("TOPOLOOM_OPTIONS", ""), machine)
    variables = {"TOPOLOOM_OPTIONS": options}
    if text is None and "TOPOLOOM_MACHINE" in os.environ:
        variables["TOPOLOOM_MACHINE"] = os.environ["TOPOLOOM_MACHINE"]
    with shared_directory("reorder") as name:
        folder = Path(name)
        if text is not None:
            described = folder / "machine"
            described.write_text(text)
            variables["TOPOLOOM_MACHINE"] = str(described)
        result = folder / "result"
        variables["TOPOLOOM_REORDER"] = str(result)
        command, environment = preloaded_command(
            launcher, program, [library], variables, os.environ
        )
        status = run_program(Launch(command, environment))
        said = result.read_text().splitlines() if result.exists() else []
    _tell(said or [_why_nothing(status)], command, wish)
    return status


def _options(wish: Wish, environment: str, machine: str | None) -> str:
    """Put what the command line says before what the environment says."""
    words = [*_COMMA.split(environment), *map("=".join, wish.options().items())]
    options = {word.partition("=")[0]: word for word in words if word}
    if machine is not None:
        options.pop("machine", None)
    return ",".join(options.values())


def _library(program: list[str], launcher: Starter, mpicc: str | None) -> Path:
    """Compile what is preloaded; refuse where it could do harm."""
    import os

    from topoloom.launch.apply.trial import check_hosts
    from topoloom.launch.launchers.registry import programs
    from topoloom.preload.reorder import build_reorderer
    from topoloom.preload.shim import check_programs, find_compiler, preloaded_command
    from topoloom.support.resources import core_library

    compiler = find_compiler(launcher, mpicc)
    library = build_reorderer(compiler)
    trusted = bool(mpicc or launcher.forwarding)
    check_programs(programs(program), compiler, library, trusted)
    preloaded_command(launcher, program, [library], {}, os.environ)  # which may refuse
    check_hosts(program, [library, core_library()])
    return library


def _tell(said: list[str], command: list[str], wish: Wish) -> None:
    """Print a line for each program of the command, or one of JSON."""
    import json

    from topoloom.cli.console import note

    if wish.as_json:
        note(json.dumps({"command": command, "result": "\n".join(said)}))
        return
    for line in said:
        note(f"topoloom: {line}")


def _check_mapper(mapper: str) -> None:
    """Refuse here what the job would only refuse once it runs."""
    from topoloom._core import Allocation, Machine, place, ring

    place(ring(2, 1), Allocation.whole(Machine("torus:2")), mapper)


def _where(machine: str, allocation: str | None, hosts: str | None) -> AllocatedHosts:
    from topoloom.cli.problem import Where, choose_allocation
    from topoloom.cli.seats import with_names
    from topoloom.machines.machine_file import load_described
    from topoloom.support.hostlist import expand_hostlist

    the_machine, described = load_described(machine)
    given = choose_allocation(the_machine, described, Where(allocation))
    return with_names(given, expand_hostlist(hosts)) if hosts is not None else given


def _why_nothing(status: int) -> str:
    ended = f"ended before MPI_Finalize (exit status {status}), or " if status else ""
    return (
        f"nothing reordered: the command {ended}ran no MPI program, or one that is "
        "linked statically or with another MPI than the launcher's"
    )
