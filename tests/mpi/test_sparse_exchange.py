# SPDX-License-Identifier: BSD-3-Clause
"""Sparse exchanges under each MPI and in SimGrid, held against MPI_Alltoallv."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from recorded import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, Mpi, need

from topoloom import _core

ROOT = Path(__file__).parents[2]
ALGORITHMS = ["", "exchange=reduction", "exchange=nbx", "exchange=mesh"]
SECONDS = 120

PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-63" speed="1Gf" bw="10GBps"
           lat="1us"/>
</platform>
"""


def built(compiler: str, folder: Path) -> Path:
    """Build the library for an MPI, and the program with it."""
    assert _core.__file__ is not None
    core = Path(_core.__file__).with_name("libtopoloom.so")
    words = [
        f"-DMPI_C_COMPILER={compiler}",
        f"-DTOPOLOOM_LIBRARY={core}",
        f"-DTOPOLOOM_INCLUDE_DIR={ROOT / 'core/topoloom/capi'}",
    ]
    build, program = folder / "build", folder / "sparse_cases"
    subprocess.run(["cmake", "-S", ROOT / "mpi", "-B", build, *words], check=True)
    target = ["--target", "topoloom-collective", "--parallel", "2"]
    subprocess.run(["cmake", "--build", build, *target], check=True)
    includes = [f"-I{ROOT / 'mpi' / room}" for room in ("collective", "exchange")]
    library = build / "collective" / "libtopoloom-collective.so"
    options = ["-std=gnu11", "-O1", "-w", *includes]
    libraries = [library, f"-Wl,-rpath,{library.parent}:{core.parent}"]
    source = PROGRAMS / "sparse_cases.c"
    subprocess.run([compiler, *options, source, "-o", program, *libraries], check=True)
    return program


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def job(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Mpi, Path]:
    """Take an MPI, and build the program for it."""
    compiler = need(request.param.compilers[".c"], request.param.install)
    return request.param, built(compiler, tmp_path_factory.mktemp("sparse"))


def run(command: list[str], algorithm: str = "") -> subprocess.CompletedProcess[str]:
    settings = {"TOPOLOOM_COLLECTIVES": algorithm, "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **settings},
    )


def check(done: subprocess.CompletedProcess[str], told: str) -> None:
    assert done.returncode == 0, done.stderr[-3000:]
    assert told in done.stdout


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_drawn_messages_arrive_as_by_a_dense_exchange(
    job: tuple[Mpi, Path], ranks: int, algorithm: str
) -> None:
    mpi, program = job
    seed = ranks * 10 + ALGORITHMS.index(algorithm)
    done = run(mpi.command(ranks, program, seed, 100), algorithm)
    check(done, "100 cases are equal")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_other_messages_and_collectives_go_on_meanwhile(
    job: tuple[Mpi, Path], algorithm: str
) -> None:
    mpi, program = job
    done = run(mpi.command(4, program, "crossed"), algorithm)
    check(done, "crossed rounds are right")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_calls_never_mix(job: tuple[Mpi, Path], algorithm: str) -> None:
    # More than there are tags in an MPI that has the fewest.
    mpi, program = job
    done = run(mpi.command(2, program, "many", 40_000), algorithm)
    check(done, "40000 calls are right")


def test_errors_are_returned_where_the_program_wants_them(
    job: tuple[Mpi, Path],
) -> None:
    mpi, program = job
    check(run(mpi.command(2, program, "wrong", "returned")), "3 calls are right")


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ("number", "a number of -2 messages is negative"),
        ("destination", "destination 2 of message 0 is none of the ranks 0 to 1"),
        ("count", "the send count of -1, for rank 0, is negative"),
        ("list", "there are messages, but the list of destinations is null"),
        ("buffer", "the send buffer is null"),
        ("type", "the datatype of the send is null"),
        ("address", "an address for what is received is null"),
        ("length", "a message of 1 B from rank 1 is not made of elements of 8 B"),
    ],
)
def test_a_wrong_argument_ends_the_program_with_a_line(
    job: tuple[Mpi, Path], which: str, line: str
) -> None:
    mpi, program = job
    done = run(mpi.command(2, program, "wrong", which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_sparse_exchange: {line}" in done.stderr


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_an_unknown_algorithm_is_reported(mpi: Mpi, job: tuple[Mpi, Path]) -> None:
    if job[0] != mpi:
        pytest.skip("the program of another MPI")
    done = run(mpi.command(2, job[1], "many", 3), "exchange=magic")
    check(done, "3 calls are right")
    assert "there is no exchange 'magic'; there are: reduction, nbx, mesh" in (
        done.stderr
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_simulated_ranks_exchange_too(
    algorithm: str, simulated: tuple[Path, list[str]]
) -> None:
    program, command = simulated
    done = run([*command, str(program), "7", "30"], algorithm)
    check(done, "30 cases are equal")


@pytest.fixture(scope="module")
def simulated(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, list[str]]:
    """Build the program for SimGrid's MPI, and the command that runs 60 ranks."""
    folder = tmp_path_factory.mktemp("simulated")
    install = "apt-get install libsimgrid-dev"
    program = built(need("smpicc", install), folder)
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "hosts").write_text("".join(f"n{i}\n" for i in range(64)))
    settings = {
        "smpi/simulate-computation": "no",
        # What a call without an answer takes, or the clock would stand still.
        "smpi/test": "1e-6",
        "smpi/iprobe": "1e-6",
        "smpi/bcast": "binomial_tree",
        "smpi/allreduce": "rdb",
    }
    command = [need("smpirun", install), "-np", "60", "-hostfile", folder / "hosts"]
    command += ["-platform", folder / "platform.xml"]
    command += [f"--cfg={name}:{value}" for name, value in settings.items()]
    return program, list(map(str, command))
