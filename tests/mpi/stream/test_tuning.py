# SPDX-License-Identifier: BSD-3-Clause
"""A model chooses a stream's mesh, which changes between phases."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_programs import compile_program
from mpis import MPICH, SIMGRID, check_output, run_to_end
from simulated_hosts import hosts_options
from streams import POLLS, SOURCES, STREAM, compile_with_sanitizer, compile_with_streams

CASES = SOURCES / "tuning_cases.c"
#: Items that each rank pushes to every other rank, by phase.
PHASES = (1, 50, 1, 2, 10, 0, 1)
#: Settings after each phase: a mesh for few items, direct messages for many. A phase
#: without items keeps the settings.
CHOSEN = "".join(
    f"{k}: {dimensions} dimensions, 1008 B\n"
    for k, dimensions in zip(PHASES, (2, 1, 2, 2, 1, 1, 2), strict=True)
)


def test_a_mesh_is_best_until_message_costs_exceed_item_costs() -> None:
    words = ["gcc", "-std=c11", "-O2", f"-I{STREAM}", SOURCES / "cost_model_laws.c"]
    program = compile_program("laws", words)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert check_output(done) == "the model is right\n"


@pytest.fixture(scope="module")
def simulated() -> Path:
    """Build the program for SimGrid."""
    return compile_with_streams(SIMGRID, CASES)


@pytest.mark.parametrize(
    ("ranks", "way"),
    [(6, "handled"), (16, "handled"), (16, "pulled"), (16, "answered")],
)
def test_simulated_ranks_change_to_the_mesh_of_least_time(
    ranks: int, way: str, simulated: Path, tmp_path: Path
) -> None:
    options = hosts_options(tmp_path, ranks, POLLS)
    command = SIMGRID.command(ranks, *options, simulated, way, 1008, *PHASES)
    assert check_output(run_to_end(command)) == CHOSEN


def test_buckets_shrink_if_much_is_pushed(simulated: Path, tmp_path: Path) -> None:
    options = hosts_options(tmp_path, 16, POLLS)
    command = SIMGRID.command(16, *options, simulated, "handled", 0, 1, 500, 1)
    done = run_to_end(command)
    sizes = [int(line.split()[-2]) for line in check_output(done).splitlines()]
    assert sizes[0] == sizes[2] == 65536
    assert sizes[1] < sizes[0]


def test_real_ranks_change_the_mesh_in_the_same_phase() -> None:
    program = compile_with_streams(MPICH, CASES)
    for way in ("handled", "pulled", "answered"):
        done = run_to_end(MPICH.command(6, program, way, 1008, *PHASES))
        assert check_output(done) == CHOSEN


@pytest.mark.full
def test_a_change_of_mesh_leaks_no_memory() -> None:
    program = compile_with_sanitizer(MPICH, CASES, "address,undefined")
    command = MPICH.command(6, program, "answered", 1008, *PHASES)
    done = run_to_end(command, ASAN_OPTIONS="detect_leaks=0")  # MPI leaks
    assert check_output(done) == CHOSEN
