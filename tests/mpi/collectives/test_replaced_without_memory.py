# SPDX-License-Identifier: BSD-3-Clause
"""If a rank is out of memory, all ranks use MPI's collectives."""

from __future__ import annotations

import pytest
from mpis import MPICH, OPEN_MPI_4, Mpi, build_program
from own_process import topoloom
from replaced_collectives import RANKS, REPLACED, read_answers, run

from topoloom import save_graph
from topoloom.graphs import ring

WHERE = f"torus:{RANKS},bandwidth=10GB/s,latency=5us"


@pytest.fixture(scope="module")
def memory_limit_setting(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Put each rank on a separate node, so that replacing calls saves time."""
    folder = tmp_path_factory.mktemp("placed")
    save_graph(folder / "ring.npz", ring(RANKS, 1000))
    (folder / "machine").write_text(f"machine {WHERE}\n")
    placed = topoloom(
        *("map", folder / "ring.npz", "--machine", WHERE, "-o", folder / "placed")
    )
    assert placed.returncode == 0, placed.stderr
    return f"machine={folder / 'machine'},placement={folder / 'placed'}"


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_a_communicator_is_replaced_on_all_ranks_or_none(
    mpi: Mpi, memory_limit_setting: str
) -> None:
    program = build_program(mpi, REPLACED / "short_of_memory.c")
    (line,) = read_answers(run(mpi, memory_limit_setting, program, "setup"))
    failures, given_up, *wrong = (int(words.split()[0]) for words in line.split(", "))
    assert failures >= given_up > 10
    assert wrong == [0, 0]


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_a_rank_that_cannot_choose_a_schedule_reports_it(
    mpi: Mpi, memory_limit_setting: str
) -> None:
    program = build_program(mpi, REPLACED / "short_of_memory.c")
    for allocations in (1, 500):  # during and after the check for gains
        done = run(mpi, memory_limit_setting, program, "call", allocations)
        assert done.returncode != 0
        output = [x for x in done.stderr.splitlines() if "topoloom_" in x]
        assert output == ["topoloom: topoloom_allgather: not enough memory"]
    enough = run(mpi, memory_limit_setting, program, "call", 1000000)
    assert read_answers(enough) == ["right"] * RANKS
