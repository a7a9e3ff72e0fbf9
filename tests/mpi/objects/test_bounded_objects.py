# SPDX-License-Identifier: BSD-3-Clause
"""Memory for messages between objects is bounded; errors name unresponsive ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPICH, OPEN_MPI_4, Mpi, check_output, run_to_end
from object_programs import SOURCES, compile_with_objects

MESSAGE = 600  # more than the bytes of a message in flood.cpp


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    found: Mpi = request.param
    return found


@pytest.fixture(scope="module")
def flood_program(mpi: Mpi) -> Path:
    return compile_with_objects(mpi, SOURCES / "flood.cpp")


def read_held_bytes(mpi: Mpi, ranks: int, *words: object) -> int:
    """Run a flood of messages; return the maximum bytes buffered on a rank."""
    text = check_output(run_to_end(mpi.command(ranks, *words)))
    assert text.startswith("right: ")
    return int(text.split()[3])


@pytest.mark.parametrize("ranks", [2, 3, 7])
@pytest.mark.parametrize("sender", ["main", "methods"])
def test_the_bound_holds_while_a_receiver_sleeps(
    mpi: Mpi, flood_program: Path, sender: str, ranks: int
) -> None:
    bound = 30000 * ranks
    # Each rank, or one rank through another, receives 1.1 MB.
    assert (
        read_held_bytes(mpi, ranks, flood_program, sender, bound, 2000)
        <= bound + MESSAGE
    )


def test_methods_in_a_cyclic_wait_exceed_the_bound(
    mpi: Mpi, flood_program: Path
) -> None:
    # A method's 1.1 MB must be buffered until it returns, because no other method can
    # run.
    bound = 100000
    assert (
        bound
        < read_held_bytes(mpi, 3, flood_program, "circle", bound, 2000)
        <= 3 * 2000 * MESSAGE
    )


def test_moving_objects_needs_little_memory(mpi: Mpi) -> None:
    program = compile_with_objects(mpi, SOURCES / "traffic.cpp")
    done = run_to_end(mpi.command(3, program, 2000, "ordered", 24, 8192))
    assert check_output(done).startswith("right: ")


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("sends", "messages are not received by"),
        ("waits", "the end of the phase is not confirmed by"),
    ],
)
def test_a_rank_that_stops_responding_is_named(which: str, words: str) -> None:
    program = compile_with_objects(MPICH, SOURCES / "stopped_rank.cpp")
    done = run_to_end(MPICH.command(3, program, which))
    assert done.returncode != 0
    line = f"topoloom: topoloom_objects: rank 0 has waited for 0.5 s: {words} rank 2"
    assert line in done.stderr
