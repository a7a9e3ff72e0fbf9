# SPDX-License-Identifier: BSD-3-Clause
"""If one rank fails while ranks gather loads, all ranks get an error.

With two cliques, ranks 0 and 2 of MPICH share memory, and so do ranks 1 and 3. Each
line shows the result per rank: a plan from the current loads (+), a plan from other
loads (x), or an error (e). A node that has failed twice exchanges no messages ("by
MPI"), since all nodes know of the failure.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import SOURCES, compile_with_balancing
from mpis import MPICH, MPICH_5, OPEN_MPI_4, OPEN_MPI_5, run_to_end
from several_hosts import SeveralHosts

PROGRAM = SOURCES / "failing_gather.c"
BY_NAME = {
    "Open MPI 4": OPEN_MPI_4,
    "Open MPI 5": OPEN_MPI_5,
    "MPICH 4": MPICH,
    "MPICH 5": MPICH_5,
}
CASES = {
    "nothing": ["++++ by node"] * 6,
    "window": ["++++ by MPI"] * 6,
    "memory": ["eeee by MPI", *["++++ by node"] * 5],
    # Ranks of the other node receive no loads.
    "receive": ["++++ by node"] * 2 + ["eeee by node", "eeee"] + ["eeee by MPI"] * 2,
    # These ranks have received the loads, so they see the failure in the next call.
    "wait": ["++++ by node"] * 2
    + ["e+e+ by node", "eeee by node", "eeee", "eeee by MPI"],
}
ERRORS = {
    "memory": "rank 2 has not enough memory",
    "receive": "MPI failed on rank 2, or on a node that it gathers from",
    "wait": "MPI failed on rank 2, or on a node that it gathers from",
}


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_with_balancing(MPICH, PROGRAM)


@pytest.mark.parametrize("what", CASES)
def test_ranks_agree_on_an_error_of_one_rank(what: str, program: Path) -> None:
    # UCX warns of messages to a failed node.
    settings = {"MPIR_CVAR_NUM_CLIQUES": "2", "UCX_LOG_LEVEL": "error"}
    done = run_to_end(MPICH.command(4, program, what), **settings)
    assert done.returncode == 0, done.stderr
    calls = done.stdout.splitlines()
    assert len(calls) == 6
    for call, right in zip(calls, CASES[what], strict=True):
        assert call.startswith(right)
    assert ERRORS.get(what, "") in done.stderr


def test_each_host_has_its_own_shared_memory(several_hosts: SeveralHosts) -> None:
    """Hosts with separate names run one, two and three ranks."""
    program = compile_with_balancing(BY_NAME[several_hosts.mpi.name], PROGRAM)
    is_hydra = several_hosts.mpi.is_hydra
    option = ["-hosts"] if is_hydra else ["--bind-to", "none", "--host"]
    words = [*option, "alpha:2,beta:3,gamma:1", "-n", 6, program, "nothing"]
    done = several_hosts.run(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["++++++ by node"] * 6
