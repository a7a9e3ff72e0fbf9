# SPDX-License-Identifier: BSD-3-Clause
"""Electronic states equal those of a serial run for any mapping and bucket."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from plain_programs import compile_plain
from simulated_hosts import hosts_options

from smpi import SETTINGS

SOURCE = ROOT / "apps" / "car_parrinello" / "car_parrinello.cpp"
SMALL = ("--states", 5, "--planes", 6)


def compile_app(mpi: Mpi) -> Path:
    return compile_plain(mpi, SOURCE, "-lfftw3")


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize(
    ("ranks", "mapping", "bucket"),
    [
        (1, "planes", 1),
        (3, "states", 1),
        (4, "planes", 2),
        (7, "planes", 5),  # some ranks have no plane of all states
        (7, "states", 2),
    ],
)
def test_states_equal_those_of_a_serial_run(
    mpi: Mpi, ranks: int, mapping: str, bucket: int
) -> None:
    words = (*SMALL, "--mapping", mapping, "--bucket", bucket)
    done = run_to_end(mpi.command(ranks, compile_app(mpi), *words))
    verdict, time = check_output(done).splitlines()
    assert verdict.startswith("right: 5 states of 6^3 points, ")
    assert verdict.endswith(" from serial")
    assert re.fullmatch(r"time: \S+ s", time)


def test_simulated_buckets_save_messages(tmp_path: Path) -> None:
    program = compile_app(SIMGRID)
    options = hosts_options(tmp_path, 8, SETTINGS)

    def simulate(mapping: str, bucket: int) -> float:
        words = ("--states", 16, "--planes", 8, "--steps", 1, "--check", "sums")
        words += ("--mapping", mapping, "--bucket", bucket)
        command = SIMGRID.command(8, *options, program, *words)
        output = check_output(run_to_end(command))
        assert output.startswith("right: 16 states of 8^3 points, ")
        return float(output.splitlines()[1].split()[1])

    one, four, all_states = (simulate("planes", bucket) for bucket in (1, 4, 16))
    assert all_states < four < one
    # The planes of a state are on one rank: there are no messages of a transposition.
    assert simulate("states", 1) == simulate("states", 16)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--states", "17", "--planes", "4"], "--states is 17, expected at most the "),
        (["--planes", "3"], "--planes is '3', expected a whole number from 4 to 200"),
        (["--mapping", "all"], "--mapping is 'all', expected states or planes"),
        (["--bucket"], "--bucket needs a value"),
        (["--fast"], "unknown option '--fast'; car_parrinello --help lists them"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(words: list[str], line: str) -> None:
    done = run_to_end(MPICH.command(2, compile_app(MPICH), *words))
    assert done.returncode == 2
    assert done.stderr.count(f"car_parrinello: {line}") == 1
