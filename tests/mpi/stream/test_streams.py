# SPDX-License-Identifier: BSD-3-Clause
"""Streams under each MPI and in SimGrid: every item arrives exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPICH, MPIS, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from simulated_hosts import hosts_options
from streams import POLLS, SOURCES, compile_with_sanitizer, compile_with_streams

CASES = SOURCES / "stream_cases.c"
MISTAKES = SOURCES / "stream_mistakes.c"
#: Cases: phases, handlers that stop, variable sizes, pulling, a sleeping rank, handlers
#: that push into another stream, concurrent streams.
ALL = ["phases", "stops", "variable", "pulled", "asleep", "replies", "many"]
RIGHT = "".join(f"{what}: every item came once\n" for what in ALL)


@pytest.mark.every_mpi
@pytest.mark.parametrize(
    ("ranks", "seed", "dimensions"), [(1, 4, 1), (3, 5, 1), (3, 7, 2), (3, 8, -1)]
)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_every_item_arrives_once(
    mpi: Mpi, ranks: int, seed: int, dimensions: int
) -> None:
    program = compile_with_streams(mpi, CASES)
    command = mpi.command(ranks, program, seed, 4, dimensions, *ALL)
    assert check_output(run_to_end(command)) == RIGHT


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_errors_are_returned_if_the_program_handles_them(
    mpi: Mpi,
) -> None:
    program = compile_with_streams(mpi, MISTAKES)
    done = run_to_end(mpi.command(3, program, "returned"))
    assert check_output(done) == "26 of 26 mistakes were returned\n"


@pytest.fixture(scope="module")
def mistakes_program() -> Path:
    """Build the program that makes mistakes."""
    return compile_with_streams(MPICH, MISTAKES)


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ("rank", "push: rank is 1, but ranks are 0 to 0"),
        ("negative", "push: rank is -1, but ranks are 0 to 0"),
        ("done", "push: this rank is done, and the phase has not ended"),
        ("size", "push: the item has 3 B, but the stream takes 8 B"),
        ("bound", "create: memory_bytes is 5000, but one bucket to send and"),
        ("bucket", "create: bucket_bytes is 10, but an item needs 24 or more"),
        ("dimensions", "create: dimensions is 5, but must be 1 to 4"),
        ("extent", "create: extents[1] is 0, but must be positive"),
        ("flush", "create: flush_timeout is -1 s, but must be positive"),
        ("stall", "create: stall_timeout is -1 s, but must not be negative"),
        ("network", "create: alpha is -1 s and beta 0 s, but must not be"),
        ("auto", "create: extents and order cannot be combined with TOPO"),
        ("huge", "create: bucket_bytes is 65536, but an item needs 2147483663"),
        ("chosen", "create: bucket_bytes is 65536, but an item needs 2147483663"),
        ("largest", "create: memory_bytes is 1, but one bucket to send and"),
        ("variable", "push: items of variable size need topoloom_stream_push_bytes"),
        ("many", "push: items of variable size need topoloom_stream_push_bytes"),
        ("abandon", "abandon: called in a handler"),
        ("item", "create: item_bytes is -4, but must not be negative"),
        ("pull", "pull: the stream has a handler"),
        ("wait", "wait: the stream has no handler"),
        ("free", "free: the phase of the stream has not ended"),
        ("handler", "wait: called in a handler of the stream"),
    ],
)
def test_a_mistake_ends_the_program_with_a_line(
    mistakes_program: Path, which: str, line: str
) -> None:
    done = run_to_end(MPICH.command(1, mistakes_program, which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_stream_{line}" in done.stderr


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ("extents", "extents hold 2 ranks, but there are 3"),
        ("twice", "order has rank 1 twice"),
        ("stranger", "order has rank 3, but ranks are 0 to 2"),
        ("unequal", "item_bytes, bucket_bytes or the mesh are not the same on all"),
    ],
)
def test_a_mesh_must_fit_the_ranks(
    mistakes_program: Path, which: str, line: str
) -> None:
    done = run_to_end(MPICH.command(3, mistakes_program, which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_stream_create: {line}" in done.stderr


@pytest.mark.parametrize("dimensions", [1, 3])
def test_streams_work_among_simulated_ranks(dimensions: int, tmp_path: Path) -> None:
    program = compile_with_streams(SIMGRID, CASES)
    options = hosts_options(tmp_path, 16, POLLS)
    cases = [case for case in ALL if case != "asleep"]
    done = run_to_end(SIMGRID.command(9, *options, program, 3, 2, dimensions, *cases))
    assert check_output(done) == RIGHT.replace("asleep: every item came once\n", "")


@pytest.mark.full
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_sanitizers_report_nothing(sanitizer: str) -> None:
    program = compile_with_sanitizer(OPEN_MPI_4, CASES, sanitizer)
    variables = {
        # Ignore races inside the MPI library.
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
        "ASAN_OPTIONS": "detect_leaks=0",  # MPI leaks
    }
    for ranks, dimensions in ((2, 1), (3, 2)):
        command = OPEN_MPI_4.command(ranks, program, 6, 2, dimensions, *ALL)
        assert check_output(run_to_end(command, **variables)) == RIGHT
