# SPDX-License-Identifier: BSD-3-Clause
"""Bodies move as in a serial run, however their positions are gathered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_libraries import compile_with_reordering
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from simulated_hosts import hosts_options

from smpi import SETTINGS

SOURCE = ROOT / "apps" / "nbody" / "nbody.cpp"
SMALL = ("--bodies", 20, "--steps", 5)


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def job(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    """Build the program for an MPI."""
    mpi: Mpi = request.param
    return mpi, compile_with_reordering(mpi, SOURCE)


@pytest.mark.parametrize(
    ("gather", "ranks"),
    [
        ("library", 3),
        ("all-pairs", 5),
        ("hypercube", 4),
        ("hypercube", 7),
        ("ring", 5),
        ("broadcast", 3),
    ],
)
def test_positions_equal_those_of_a_serial_run(
    job: tuple[Mpi, Path], gather: str, ranks: int
) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(ranks, program, *SMALL, "--gather", gather))
    verdict, time, communication = check_output(done).splitlines()
    assert verdict.startswith(f"right: {20 * ranks} bodies, 5 steps, momentum changed")
    assert re.fullmatch(r"time: \S+ s", time)
    assert re.fullmatch(r"communication: \S+ s", communication)


def test_ranks_can_be_reordered(job: tuple[Mpi, Path]) -> None:
    mpi, program = job
    for order in ("fastest-edge-first", "remap"):
        words = (*SMALL, "--gather", "hypercube", "--order", order)
        variables = {"TOPOLOOM_ORDER": "order=random,seed=2"}
        done = run_to_end(mpi.command(4, program, *words), **variables)
        assert check_output(done).startswith("right: ")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--gather", "tree"], "--gather is 'tree', expected library, all-pairs,"),
        (
            ["--bodies", "0"],
            "--bodies is '0', expected a whole number from 1 to 100000",
        ),
        (["--steps"], "--steps needs a value"),
        (["--fast"], "unknown option '--fast'; nbody --help lists them"),
        (["--order", "nonsense"], "topoloom_comm_order: "),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(
    job: tuple[Mpi, Path], words: list[str], line: str
) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(2, program, *words))
    assert done.returncode == 2
    assert done.stderr.count(line) == 1


def test_simulated_gathers_take_as_long_as_predicted(tmp_path: Path) -> None:
    program = compile_with_reordering(SIMGRID, SOURCE)
    settings = {**SETTINGS, "smpi/host-speed": "1Gf"}
    options = hosts_options(tmp_path, 16, settings)

    def simulate(gather: str, **variables: str) -> tuple[float, float]:
        words = (*SMALL, "--check", "sums", "--gather", gather)
        command = SIMGRID.command(16, *options, program, *words)
        found = re.findall(
            r"\n\w+: (\S+) s", check_output(run_to_end(command, **variables))
        )
        time, communication = map(float, found)
        return time, communication

    gathers = ("hypercube", "broadcast", "all-pairs", "ring")
    times = {gather: simulate(gather)[0] for gather in gathers}
    # 480 B per rank: startup dominates, so 4 rounds are faster than 15.
    assert times["hypercube"] < times["broadcast"] < times["all-pairs"]
    # A step of 16 x 20 x 20 pairs takes 640 us. Only the ring hides its messages.
    pairs = {"NS_PER_PAIR": "100"}
    seconds = 16 * 20 * 20 * 100e-9
    ring, waiting = simulate("ring", **pairs)
    assert ring < seconds + times["ring"] / 2
    assert waiting < times["ring"] / 2
    time, waiting = simulate("all-pairs", **pairs)
    assert time == pytest.approx(seconds + times["all-pairs"], rel=0.01)
