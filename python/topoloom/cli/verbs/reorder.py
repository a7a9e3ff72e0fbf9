# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom reorder`: reorder ranks in the topology calls of MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.machines import AllocationText, MaybeMachineText
from topoloom.cli.options.programs import Hosts, Mpicc, Program
from topoloom.cli.options.searches import (
    MapperName,
    ObjectiveName,
    Seconds,
    Seed,
    read_search,
)

if TYPE_CHECKING:
    from topoloom.allocations.allocation_file import AllocatedHosts


def command(
    program: Program,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    hosts: Hosts = None,
    mapper: MapperName = "auto",
    objective: ObjectiveName = "auto",
    seed: Seed = 1,
    time: Seconds = None,
    mpicc: Mpicc = None,
    as_json: AsJson = False,
) -> int:
    """Run an MPI program and reorder its process topologies.

    The command starts unchanged, but MPI_Cart_create, MPI_Graph_create and
    MPI_Dist_graph_create[_adjacent] with reorder=1 reorder the ranks for the machine.
    Without --machine, the job detects the machine when it starts. Standard input,
    output and the exit status are the program's; for each program, one line on stderr
    reports the gain.

    \b
    Examples:
      topoloom reorder -- mpirun -n 768 ./app
      topoloom reorder --machine torus:8x8x8 --hosts 'cn[000-511]' -- \\
          mpirun -n 12288 ./app
    """
    import json

    from topoloom._core import Error
    from topoloom.cli.console import note
    from topoloom.tasks.objective import check_objective
    from topoloom.tasks.reordered_run import ReorderOptions, run_reordered

    check_objective(objective)
    options = ReorderOptions(mapper, objective, read_search(seed, time))
    if machine is None and (allocation is not None or hosts is not None):
        raise Error("--allocation and --hosts require a machine; add --machine")
    where = None if machine is None else _load_hosts(machine, allocation, hosts)
    done = run_reordered(program, where, options, mpicc)
    if as_json:
        note(json.dumps({"command": done.command, "result": "\n".join(done.lines)}))
    else:
        for line in done.lines:
            note(f"topoloom: {line}")
    return done.status


def _load_hosts(
    machine: str, allocation: str | None, hosts: str | None
) -> AllocatedHosts:
    from topoloom.support.hostlist import expand_hostlist
    from topoloom.tasks.launch_slots import set_host_names
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    given, _ = load_nodes(machine, AllocationSpec(allocation))
    return set_host_names(given, expand_hostlist(hosts)) if hosts is not None else given
