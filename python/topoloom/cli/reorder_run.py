# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run --reorder`: MPI's own calls that may reorder ranks do so."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from topoloom import AllocatedHosts
    from topoloom.cli.search import Search


class Wish(NamedTuple):
    """What the user asks of the order, and how to report it."""

    mapper: str
    objective: str
    search: Search
    as_json: bool

    def options(self) -> dict[str, str]:
        """List them as `topoloom_mpi.h` names them."""
        given = {"objective": self.objective, "seed": str(self.search.seed)}
        if self.mapper != "auto":  # a running job waits: there, auto is the fast one
            given["mapper"] = re.sub(r",(?![^(]*\))", "+", self.mapper)
        if self.search.seconds is not None:
            given["seconds"] = str(math.ceil(self.search.seconds))
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
    import json
    import os
    import tempfile

    from topoloom import Error
    from topoloom.cli.console import note
    from topoloom.launch.launch import Launch
    from topoloom.launch.program import run_program
    from topoloom.reorder import build_reorderer, machine_file
    from topoloom.shim import find_compiler, find_launcher, preloaded_command

    if machine is None and (allocation is not None or hosts is not None):
        raise Error("--allocation and --hosts are of a machine; add --machine")
    _check_mapper(wish.mapper)
    launcher = find_launcher(program)
    library = build_reorderer(find_compiler(launcher, mpicc))
    options = wish.options()
    variables = {"TOPOLOOM_OPTIONS": ",".join(f"{k}={v}" for k, v in options.items())}
    # In this folder, for on a cluster other nodes see it, too.
    with tempfile.TemporaryDirectory(prefix=".topoloom-reorder-", dir=".") as name:
        folder = Path(name).absolute()
        if machine is not None:
            described = folder / "machine"
            described.write_text(machine_file(_where(machine, allocation, hosts)))
            variables["TOPOLOOM_MACHINE"] = str(described)
        result = folder / "result"
        variables["TOPOLOOM_REORDER"] = str(result)
        command, environment = preloaded_command(
            launcher, program, [library], variables, os.environ
        )
        status = run_program(Launch(command, environment))
        said = result.read_text().strip() if result.exists() else _why_nothing(status)
    if wish.as_json:
        note(json.dumps({"command": command, "result": said}))
    else:
        for line in said.splitlines():  # one a program
            note(f"topoloom: {line}")
    return status


def _check_mapper(mapper: str) -> None:
    """Refuse here what the job would only refuse once it runs."""
    from topoloom import Allocation, Machine, place, ring

    place(ring(2, 1), Allocation.whole(Machine("torus:2")), mapper)


def _where(machine: str, allocation: str | None, hosts: str | None) -> AllocatedHosts:
    from topoloom import AllocatedHosts, Error
    from topoloom.cli.problem import Where, choose_allocation
    from topoloom.hostlist import expand_hostlist
    from topoloom.machine_file import load_described

    the_machine, described = load_described(machine)
    given = choose_allocation(the_machine, described, Where(allocation))
    if hosts is None:
        return given
    names = tuple(expand_hostlist(hosts))
    nodes = len(given.allocation.nodes)
    if len(names) != nodes:
        raise Error(
            f"{len(names)} hosts for an allocation of {nodes} nodes; "
            "name one host for each node with --hosts, or the nodes with --allocation"
        )
    return AllocatedHosts(given.allocation, names)


def _why_nothing(status: int) -> str:
    ended = f" before MPI_Finalize (exit status {status})" if status else ""
    return (
        f"nothing reordered: the command ended{ended}, or ran no MPI program, or one "
        "that is linked statically or with another MPI than the launcher's"
    )
