# SPDX-License-Identifier: BSD-3-Clause
"""What fails for one rank alone, as ranks gather loads, is an error for all of them.

MPICH takes every other rank for one of another node: ranks 0 and 2 share a board, and
1 and 3. Each line has what the ranks of a call got: a plan of the right loads (+), one
of others (x), or an error (e).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import SOURCES, with_balancing
from recorded import MPICH, run_to_end

CASES = {
    "nothing": ["++++ on boards"] * 6,
    "window": ["++++ by MPI"] * 6,
    "memory": ["eeee by MPI", *["++++ on boards"] * 5],
    # Those of the other node get no loads.
    "receive": ["++++ on boards"] * 2 + ["eeee on boards"] + ["eeee"] * 3,
    # They have got them, and learn of the failure in the next call.
    "wait": ["++++ on boards"] * 2
    + ["e+e+ on boards", "eeee on boards"]
    + ["eeee"] * 2,
}
ERRORS = {
    "memory": "rank 2 has no memory",
    "receive": "MPI has failed for rank 2, or for a node that it gathers from",
    "wait": "MPI has failed for rank 2, or for a node that it gathers from",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boards")
    return with_balancing(MPICH, SOURCES / "gathering_fails.c", folder)


@pytest.mark.parametrize("what", CASES)
def test_ranks_agree(what: str, program: Path) -> None:
    # UCX warns of messages that come to a node that has failed.
    settings = {"MPIR_CVAR_NUM_CLIQUES": "2", "UCX_LOG_LEVEL": "error"}
    done = run_to_end(MPICH.command(4, program, what), **settings)
    assert done.returncode == 0, done.stderr
    calls = done.stdout.splitlines()
    assert len(calls) == 6
    for call, right in zip(calls, CASES[what], strict=True):
        assert call.startswith(right)
    assert ERRORS.get(what, "") in done.stderr
