# SPDX-License-Identifier: BSD-3-Clause
"""The distributed eigensolver agrees with SciPy, for all orders of the ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from built_programs import NAP_SOURCE, ROOT, compile_program
from mpis import (
    MPICH,
    OPEN_MPI_4,
    Mpi,
    calls,
    check_output,
    need,
    record_run,
    run_to_end,
)
from scipy.sparse.linalg import eigsh

from topoloom.graphs import triangular_grid

Job = tuple[Mpi, Path]


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def job(request: pytest.FixtureRequest) -> Job:
    """Build the program for an MPI."""
    mpi: Mpi = request.param
    source = ROOT / "apps/lanczos/lanczos.cpp"
    words = ["-std=c++20", "-O1", "-w", source, NAP_SOURCE, "-lopenblas"]
    compiler = need(mpi.compilers[".cpp"], mpi.install)
    return mpi, compile_program(f"lanczos.{mpi.name}", [compiler, *words])


def solve(job: Job, ranks: int, *words: object) -> tuple[float, float]:
    """Run the program, which checks itself; return the extreme eigenvalues."""
    mpi, program = job
    lines = check_output(run_to_end(mpi.command(ranks, program, *words))).splitlines()
    assert lines[0].startswith("right: ")
    fields = dict(line.split(": ", 1) for line in lines)
    for name in ("column", "row", "orthogonalization", "time"):
        assert float(fields[name].removesuffix(" s")) >= 0
    values = fields["eigenvalues"].split()
    return float(values[0]), float(values[-1])


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """Write a band matrix, whose blocks are full only on the diagonal; solve it."""
    rows, rng = 301, np.random.default_rng(1)
    bands = scipy.sparse.diags_array(
        [rng.random(rows - k) for k in range(4)],
        offsets=list(range(4)),  # type: ignore[arg-type]
    )
    whole = bands + scipy.sparse.triu(bands, 1).T
    file = tmp_path_factory.mktemp("matrix") / "band.mtx"
    scipy.io.mmwrite(file, whole, symmetry="symmetric", precision=17)
    ends = eigsh(whole, 2, which="BE", return_eigenvectors=False)
    return file, sorted(ends.tolist())


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        (1, []),
        (6, ["--order", "cm", "--overlap"]),
        (15, ["--order", "bdm"]),
    ],
)
def test_extreme_eigenvalues_equal_those_of_scipy(
    job: Job, matrix: tuple[Path, list[float]], ranks: int, words: list[str]
) -> None:
    file, ends = matrix
    found = solve(job, ranks, "--matrix", file, "--iterations", 110, *words)
    assert found == pytest.approx(ends, abs=1e-8)


def test_the_random_matrix_does_not_depend_on_the_ranks(job: Job) -> None:
    words = ["--size", 100, "--nonzeros", 6, "--iterations", 45]
    one = solve(job, 1, *words)
    assert solve(job, 6, *words, "--order", "bcm") == pytest.approx(one, abs=1e-8)
    assert solve(job, 1, *words, "--seed", 2) != pytest.approx(one, abs=1e-3)


@pytest.mark.parametrize("order", ["dm", "cm", "bdm", "bcm"])
def test_columns_and_rows_of_the_grid_are_those_of_the_order(
    job: Job, order: str, tmp_path: Path
) -> None:
    mpi, program = job
    words = ["--order", order, "--iterations", 2]
    recorded = calls(record_run(mpi, 6, program, *words, folder=tmp_path), 0)
    groups = {(key[1], key[2]) for key, count in recorded.items() if key[0] == "bcast"}
    cells = triangular_grid(3, order)
    for axis in (0, 1):
        for number in range(3):
            members = tuple(r for r, cell in enumerate(cells) if cell[axis] == number)
            root = next(r for r in members if cells[r][0] == cells[r][1])
            assert len(members) == 1 or (members, members.index(root)) in groups


def test_an_invariant_subspace_ends_the_iteration(job: Job, tmp_path: Path) -> None:
    file = tmp_path / "diagonal.mtx"
    header = "%%MatrixMarket matrix coordinate integer symmetric\n"
    file.write_text(header + "% two eigenvalues\n4 4 4\n1 1 3\n2 2 3\n3 3 -1\n4 4 -1\n")
    assert solve(job, 6, "--matrix", file) == pytest.approx((-1, 3), abs=1e-12)


@pytest.mark.parametrize(
    ("ranks", "words", "line"),
    [
        (4, [], "4 ranks are no triangular grid with an odd number of rows; the "),
        (1, ["--order", "mc"], "--order is 'mc', expected dm, cm, bdm or bcm"),
        (1, ["--size", "0"], "--size is '0', expected a whole number from 1 to"),
        (1, ["--matrix", "/dev/null"], "cannot read /dev/null"),
        (1, ["--lap"], "unknown option '--lap'; lanczos --help lists them"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(
    job: Job, ranks: int, words: list[str], line: str
) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(ranks, program, *words))
    assert done.returncode != 0
    assert done.stderr.count(f"lanczos: {line}") == 1
