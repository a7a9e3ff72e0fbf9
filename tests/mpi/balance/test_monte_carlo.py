# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion Monte Carlo computes correct energies, whatever the balancer."""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import compile_with_balancing
from built_programs import ROOT
from mpis import MPICH, Mpi, run_to_end

SOURCE = ROOT / "apps" / "diffusion_monte_carlo" / "diffusion_monte_carlo.cpp"


@pytest.fixture(scope="module")
def mpi_and_app() -> tuple[Mpi, Path]:
    """Build the program."""
    return MPICH, compile_with_balancing(MPICH, SOURCE)


SWEEP, SWAP = (2, ["sweep"]), (3, ["swap"])
TRANSPORT = (3, ["transport", "40", "ring:8"])


@pytest.mark.parametrize(
    ("system", "runs"),
    [("harmonic", [SWEEP, SWAP, TRANSPORT]), ("hydrogen", [TRANSPORT])],
)
def test_energies_are_equal_bit_by_bit(
    mpi_and_app: tuple[Mpi, Path], system: str, runs: list[tuple[int, list[str]]]
) -> None:
    mpi, program = mpi_and_app
    lines = set()
    for ranks, method in [(1, ["none"]), *runs]:
        done = run_to_end(mpi.command(ranks, program, system, 1000, 150, *method))
        assert done.returncode == 0, done.stdout + done.stderr
        lines.add(done.stdout.splitlines()[0])
    (line,) = lines
    assert line.startswith("right: energy ")


def test_energies_of_few_walkers_or_steps_are_not_checked(
    mpi_and_app: tuple[Mpi, Path],
) -> None:
    mpi, program = mpi_and_app
    for walkers, steps in ((30, 150), (1000, 20)):
        done = run_to_end(mpi.command(2, program, "harmonic", walkers, steps))
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("too few walkers or steps to judge: energy ")


def test_an_invalid_command_line_is_refused(mpi_and_app: tuple[Mpi, Path]) -> None:
    mpi, program = mpi_and_app
    done = run_to_end(mpi.command(1, program, "helium"))
    assert done.returncode != 0
    assert "diffusion_monte_carlo: harmonic or hydrogen, WALKERS" in done.stderr
