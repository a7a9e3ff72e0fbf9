# SPDX-License-Identifier: BSD-3-Clause
"""Distributed transforms and PME: all transpositions give FFTW's serial result."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from built_libraries import compile_with_libraries
from built_programs import ROOT
from faults import run_with_fault
from mpis import (
    MPICH,
    OPEN_MPI_4,
    SIMGRID,
    Mpi,
    check_output,
    edges,
    record_run,
    run_to_end,
)

from objects.programs import format_switch_platform, run_simulated

SOURCE = ROOT / "apps/fft3d/fft3d.cpp"
#: Same values as in pme.hpp.
EWALD_COEFFICIENT = 0.3
WORD = 2**64
#: 5 us of processor per message on both sides.
STARTUP = [f"smpi/{side}:0:5e-6:0" for side in ("os", "or", "ois")]


def build(mpi: Mpi) -> Path:
    return compile_with_libraries(mpi, ["objects"], SOURCE, linked=["-lfftw3"])


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_every_transposition_gives_the_serial_transform(mpi: Mpi) -> None:
    program = build(mpi)
    odd = ["--grid", "12x7x5"]
    slabs, pme = ["--decomposition", "slabs"], ["--mode", "pme"]
    jobs: list[tuple[int, list[object]]] = [
        (1, odd),
        (4, []),
        (5, [*odd, *slabs, "--overlap"]),
        (6, [*odd, "--transpose", "direct", "--steps", 2]),
        (6, [*odd, "--transpose", "grid", "--overlap"]),
        # More ranks than planes: some have no points.
        (5, ["--grid", "3x4x2", *slabs, "--transpose", "mesh"]),
        (3, [*odd, *slabs, *pme, "--transpose", "hypercube"]),
        (6, [*odd, *pme, "--charges", 40, "--overlap", "--force-work", 0.001]),
        (2, [*odd, *pme, "--transpose", "mesh", "--overlap", "--force-work", 0.001]),
    ]
    for ranks, words in jobs:
        text = check_output(run_to_end(mpi.command(ranks, program, *words)))
        first, time, computation = text.splitlines()
        assert first.startswith("right: "), words
        assert time.startswith("time: ")
        assert computation.startswith("computation: ")


def test_a_recording_has_a_phase_for_each_transposition(tmp_path: Path) -> None:
    rows, columns = 3, 2
    words = (build(OPEN_MPI_4), "--grid", "12x7x5", "--steps", 2)
    profile = record_run(OPEN_MPI_4, rows * columns, *words, folder=tmp_path)
    ranks = range(rows * columns)
    both = [(a, b) for a in ranks for b in ranks if a != b]
    in_rows, in_columns = (
        sorted(pair for _, *pair in edges(profile, n)) for n in (1, 2)
    )
    assert in_rows == [[a, b] for a, b in both if a // columns == b // columns]
    assert in_columns == [[a, b] for a, b in both if a % columns == b % columns]


def test_the_pme_energy_is_close_to_that_of_an_ewald_sum() -> None:
    grid, charges = (24, 25, 20), 30
    words = ("--mode", "pme", "--grid", "24x25x20", "--charges", charges)
    text = check_output(run_to_end(MPICH.command(4, build(MPICH), *words)))
    found = re.search(r"energy (\S+),", text)
    assert found is not None
    assert float(found[1]) == pytest.approx(sum_over_waves(grid, charges), rel=2e-3)


def sum_over_waves(grid: tuple[int, int, int], charges: int) -> float:
    """Sum the reciprocal energy of the program's charges over wave vectors."""
    drawn = np.array([draw(i) for i in range(4 * charges)]).reshape(charges, 4)
    amounts = 0.5 + drawn[::2, 3].repeat(2)
    amounts[1::2] *= -1
    waves = np.indices([15, 15, 15]).reshape(3, -1).T - 7
    waves = waves[np.any(waves, axis=1)] / np.array(grid)
    phases = np.exp(2j * math.pi * waves @ (drawn[:, :3] * grid).T)
    squares = (waves**2).sum(axis=1)
    factors = np.exp(-squares * (math.pi / EWALD_COEFFICIENT) ** 2) / squares
    total = (factors * np.abs(phases @ amounts) ** 2).sum()
    return float(total / (2 * math.pi * math.prod(grid)))


def draw(counter: int) -> float:
    """Draw a number in [0, 1) as the program does."""
    value = (counter + 1) * 0x9E3779B97F4A7C15 % WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return float((value ^ value >> 31) >> 11) / 2.0**53


@pytest.mark.parametrize("mode", ["fft", "pme"])
def test_a_changed_or_misplaced_point_is_noticed(mode: str) -> None:
    program = build(MPICH)
    for fault in ("flip", "trade"):
        words = ("--mode", mode, "--grid", "12x7x5")
        done = run_with_fault(fault, 4, program, *words)
        assert done.returncode == 1
        assert done.stdout.startswith(f"WRONG: {mode} on 2 x 2 ranks")


def test_simulated_transpositions_hide_transforms_and_force_work(
    tmp_path: Path,
) -> None:
    network = format_switch_platform("1GBps", "1us")
    for transpose in ("library", "mesh"):
        seconds = {}
        for overlap in ((), ("--overlap",)):
            words = ("--transpose", transpose, "--force-work", 1e-3, *overlap)
            text = run_simulated(
                tmp_path, network, 4, {}, STARTUP, build(SIMGRID), *words
            )
            assert text is not None
            assert text.startswith("right: ")
            seconds[overlap] = float(text.split("time: ")[1].split()[0])
        assert seconds["--overlap",] < seconds[()]


def test_an_invalid_option_is_refused_in_one_line() -> None:
    program = build(MPICH)
    for words, expected in [
        (("--grid", "3x0x4"), "--grid is '3x0x4', expected three numbers from 1 to"),
        (("--mode", "x"), "--mode is 'x', expected fft or pme"),
        (("--charges", 4), "--charges needs --mode pme"),
        (("--mode", "pme", "--grid", "9x9x3"), "--mode pme needs a --grid of 4"),
        (("--force-work", "1s"), "--force-work is '1s', expected a number from 0 to"),
        (("--steps",), "--steps needs a value"),
        (("--tile", 8), "unknown option '--tile'; fft3d --help lists them"),
    ]:
        done = run_to_end(MPICH.command(2, program, *words))
        assert done.returncode == 2
        assert done.stderr.count("fft3d: ") == 1
        assert f"fft3d: {expected}" in done.stderr
    help_text = check_output(run_to_end(MPICH.command(2, program, "--help")))
    assert help_text.count("usage: fft3d") == 1
