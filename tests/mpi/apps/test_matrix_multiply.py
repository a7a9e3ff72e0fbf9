# SPDX-License-Identifier: BSD-3-Clause
"""Products of all algorithms equal NumPy's, with bounded communication."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from built_libraries import compile_with_library
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, Mpi, check_output, edges, record_run, run_to_end

Job = tuple[Mpi, Path]


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def job(request: pytest.FixtureRequest) -> Job:
    """Build the program for an MPI."""
    mpi: Mpi = request.param
    source = ROOT / "apps/matrix_multiply/matrix_multiply.cpp"
    options = [f"-I{ROOT / 'mpi' / name}" for name in ("exchange", "grid")]
    options += ["-Wl,--no-as-needed", "-lopenblas"]
    return mpi, compile_with_library(mpi, "collective", source, *options)


def make_matrix(number: int, size: int) -> np.ndarray:
    """Make one of the program's matrices with seed 1: splitmix64 of the index."""
    bits = np.arange(size * size, dtype=np.uint64).reshape(size, size)
    with np.errstate(over="ignore"):
        bits += np.uint64(4 + number) * np.uint64(0xD1342543DE82EF95) + np.uint64(1)
        bits *= np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53 - 0.5


@pytest.mark.parametrize(
    ("ranks", "size", "words"),
    [
        (4, 14, ["fox"]),
        (9, 21, ["fox", "--overlap", "--broadcast", "pipeline"]),
        (5, 35, ["summa"]),
        (6, 42, ["summa", "--grid", "3x2", "--tiles", "--overlap"]),
        (4, 14, ["summa", "--broadcast", "pipeline"]),
        (8, 14, ["summa3d"]),
        (8, 14, ["summa3d", "--overlap", "--broadcast", "pipeline", "--tiles"]),
    ],
)
def test_the_product_equals_that_of_numpy(
    job: Job, tmp_path: Path, ranks: int, size: int, words: list[str]
) -> None:
    mpi, program = job
    file = tmp_path / "product"
    options = ["--block", 7, "--output", file, "--algorithm", *words]
    done = run_to_end(mpi.command(ranks, program, *options))
    lines = check_output(done).splitlines()
    assert lines[0].startswith("right: ")
    fields = dict(line.split(": ", 1) for line in lines)
    for name in ("communication", "computation", "overhead", "time"):
        assert float(fields[name].removesuffix(" s")) >= 0
    assert 0 < int(fields["bytes"]) <= 1.1 * int(fields["bound"])
    found = np.fromfile(file).reshape(size, size)
    right = make_matrix(0, size) @ make_matrix(1, size)
    assert np.allclose(found, right, rtol=0, atol=1e-13 * size)


def test_bytes_per_rank_are_those_of_the_algorithm(job: Job) -> None:
    mpi, program = job
    moved = []
    for algorithm, ranks in (("summa", 16), ("summa3d", 32)):
        words = ["--algorithm", algorithm, "--block", 8, "--times", 1]
        output = check_output(run_to_end(mpi.command(ranks, program, *words)))
        moved.append(int(output.split("bytes: ")[1].split()[0]))
    block = 8 * 8 * 8
    own_panels, steps_of_a_layer, copies = 1, 2, 3
    assert moved == [
        2 * (4 - own_panels) * block,
        (2 * steps_of_a_layer + copies) * block,
    ]


def test_bytes_are_those_that_the_recorder_counts(job: Job, tmp_path: Path) -> None:
    mpi, program = job
    words = ["--algorithm", "fox", "--broadcast", "pipeline", "--block", 40]
    profile = record_run(mpi, 4, program, *words, "--times", 1, folder=tmp_path)
    sent = [0] * 4
    for (kind, source, _), (size, _) in edges(profile, 0).items():
        if kind == "send":
            sent[source] += size
    assert sent == [3 * 40 * 40 * 8] * 4


@pytest.mark.parametrize(
    ("ranks", "words", "line"),
    [
        (3, ["--algorithm", "fox"], "fox needs q x q ranks, but there are 3; the "),
        (2, ["--algorithm", "summa3d"], "summa3d needs q x q x C ranks, where C "),
        (2, ["--grid", "2x2"], "--grid needs 4 ranks, but there are 2"),
        (
            1,
            ["--block", "0"],
            "--block is '0', expected a whole number from 1 to 100000",
        ),
        (1, ["--block", "99999"], "--block is 99999, too large"),
        (1, ["--times"], "--times needs a value"),
        (1, ["--tile"], "unknown option '--tile'; matrix_multiply --help lists them"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(
    job: Job, ranks: int, words: list[str], line: str
) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(ranks, program, *words))
    assert done.returncode != 0
    assert done.stderr.count(f"matrix_multiply: {line}") == 1
