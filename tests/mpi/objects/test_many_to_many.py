# SPDX-License-Identifier: BSD-3-Clause
"""Many-to-many exchanges of objects deliver the same messages as direct sends."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from object_programs import SOURCES, compile_with_objects
from simulated_hosts import hosts_options

SOURCE = SOURCES / "many_to_many.cpp"
ALPHA, BETA = 1e-5, 1e-9  # same value as in many_to_many.cpp
STRATEGIES = ("direct", "mesh", "grid", "hypercube", "learned")


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    found: Mpi = request.param
    return found


@pytest.fixture(scope="module")
def program(mpi: Mpi) -> Path:
    return compile_with_objects(mpi, SOURCE)


# With fewer objects than ranks, some ranks have no objects.
@pytest.mark.parametrize(
    ("ranks", "objects"), [(2, 7), (3, 10), (4, 3), (5, 16), (6, 2), (7, 9), (9, 20)]
)
def test_migrating_objects_get_combined_messages_once(
    mpi: Mpi, program: Path, ranks: int, objects: int
) -> None:
    for seed, strategy in enumerate(STRATEGIES):
        if (ranks + seed) % 2 == 0:
            words = (strategy, objects, 3, seed)
            text = check_output(run_to_end(mpi.command(ranks, program, *words)))
            assert text.startswith("right: "), (strategy, seed)


def test_combined_messages_travel_between_simulated_hosts(tmp_path: Path) -> None:
    program = compile_with_objects(SIMGRID, SOURCE)
    settings = {"smpi/simulate-computation": "no", "smpi/test": "1e-6"}
    words = hosts_options(tmp_path, 14, settings)  # a mesh of 14 ranks has holes
    for strategy in ("mesh", "grid", "hypercube"):
        run = SIMGRID.command(14, *words, program, strategy, 20, 2, 5)
        assert check_output(run_to_end(run)).startswith("right: ")


@pytest.mark.parametrize("ranks", [4, 9])
def test_a_fence_switches_from_mesh_to_direct_at_alpha_over_beta(
    mpi: Mpi, program: Path, ranks: int
) -> None:
    sizes = (100, 9900, 9970, 20000, 9900)
    run = mpi.command(ranks, program, "switch", *sizes)
    lines = check_output(run_to_end(run)).splitlines()
    assert len(lines) == len(sizes)
    for size, line in zip(sizes, lines, strict=True):
        strategy, degree, seen = line.split()
        assert int(degree) == ranks - 1
        assert float(seen) == size + 56  # plus an envelope and the length of the vector
        assert strategy == ("mesh" if float(seen) < ALPHA / BETA else "direct")


def test_an_unfinished_object_is_an_error() -> None:
    program = compile_with_objects(MPICH, SOURCES / "mistakes.cpp")
    done = run_to_end(MPICH.command(2, program, "done"))
    assert done.returncode != 0
    assert "in a many-to-many of " in done.stderr
    assert "only 1 objects of rank 0 are done: all must be" in done.stderr
