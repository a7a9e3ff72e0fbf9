# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run` saves the counts even if no graph can be made from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPIS, PROGRAMS, Mpi, build_program

from topoloom import Error
from topoloom.graphs.profile import Profile
from topoloom.launch.launchers.unplaced_command import read_unplaced_command
from topoloom.tasks.placed_run import Job, record_job


@pytest.mark.parametrize("mpi", MPIS[:1], ids=str)
def test_counts_are_saved_if_no_graph_can_be_made(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(build_program(mpi, PROGRAMS / "ring.c"))
    monkeypatch.chdir(tmp_path)

    def raise_memory_error(profile: Profile, collectives: str) -> None:
        raise MemoryError("no memory")

    monkeypatch.setattr(Profile, "graph", raise_memory_error)
    words = mpi.command(2, program, 10)
    with pytest.raises(Error, match=r"^no memory; the recordings of the ranks are in"):
        record_job(Job(words, read_unplaced_command(words)), "expand")
    [kept] = tmp_path.glob("topoloom-record-*")
    assert list(kept.glob("*.topoloom"))
