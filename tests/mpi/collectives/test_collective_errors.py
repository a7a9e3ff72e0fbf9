# SPDX-License-Identifier: BSD-3-Clause
"""A wrong argument gives an error on its communicator and blocks no other rank."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, PROGRAMS, Mpi, run_to_end

from topoloom import _core

#: Expected error of a call on all ranks, by the program's name for the mistake.
MISTAKES = {
    "root": "root",
    "op": "operator",
    "op-of-type": "operator",
    "op-of-pairs": "operator",
    "uncommitted": "datatype",
    "bcast-in-place": "buffer",
    "into-in-place": "buffer",
    "gather-in-place": "buffer",
    "scatter-in-place": "buffer",
    # No error: MPI allows a free during a call; some libraries allow equal buffers.
    "freed": "none",
    "same": "none",
}


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_returned_errors_end_no_program(mpi: Mpi) -> None:
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/mistakes.c")
    output = run(mpi.command(3, program, *MISTAKES)).splitlines()
    assert output == [
        f"{name}: {what} {what} {what}" for name, what in MISTAKES.items()
    ]


#: Schedules whose number of messages does not depend on the count.
SCHEDULES = [
    str(schedule["name"])
    for schedule in _core.schedules()
    if schedule["name"] not in ("two-trees", "disjoint-trees")
]


#: Completion: blocking, by test, by wait, persistent.
FORMS = 4


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_larger_count_on_one_rank_blocks_no_other_rank(mpi: Mpi, ranks: int) -> None:
    # Short messages, because Open MPI 4.1 overruns the buffer if it truncates long
    # ones.
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/larger_counts.c")
    output = run_to_end(mpi.command(ranks, program, 4 * ranks, *SCHEDULES))
    assert output.returncode == 0, output.stderr[-3000:]
    lines = [line.split() for line in output.stdout.splitlines()]
    assert len(lines) > 40
    for schedule, operation, none, truncated, another, wrong in lines:
        where = f"{operation} by {schedule}"
        assert int(none) + int(truncated) == FORMS * ranks * ranks, where
        # At least one rank detects each mistake, unless only the root's count matters.
        rooted = operation in ("bcast", "reduce", "gather", "scatter")
        assert int(truncated) >= (FORMS if rooted else FORMS * ranks), where
        assert (another, wrong) == ("0", "0"), where


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_killed_rank_ends_a_job_as_with_the_mpi_library(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/killed_rank.c")
    for whose in ("mpi", "ours"):
        did = tmp_path / f"killed in {whose}"
        ended = run_to_end(mpi.command(3, program, whose, did))
        assert ended.returncode != 0, whose
        assert did.read_text() == "call 0: done\ncall 1: done\n", whose


MACHINE = """\
machine torus:4x4x4,bandwidth=10GB/s
message - 1e-6 1e-10
node 0 {host}
"""
#: Settings: none, or a machine with learning and a trace.
SETTINGS = ("", "machine={machine},learn=1,trace={trace}")


@pytest.mark.parametrize("settings", SETTINGS, ids=["none", "machine"])
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_rank_that_is_out_of_memory_does_not_block_the_others(
    mpi: Mpi, settings: str, tmp_path: Path
) -> None:
    machine = tmp_path / "machine"
    machine.write_text(MACHINE.format(host=gethostname()))
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/short_of_memory.c")
    # The first two allocations precede any message to other ranks.
    output = run(
        mpi.command(3, program, 2),
        TOPOLOOM_COLLECTIVES=settings.format(machine=machine, trace=tmp_path / "trace"),
    ).split()
    failures, given_up, disagreements = (int(output[at]) for at in (0, 2, 5))
    assert disagreements == 0
    assert failures >= given_up > 10


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_failed_setup_ends_a_program_that_does_not_handle_errors(mpi: Mpi) -> None:
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/short_of_memory.c")
    ended = run_to_end(mpi.command(3, program, 0))
    assert ended.returncode != 0
    assert "the communicator cannot be set up" in ended.stderr
