# SPDX-License-Identifier: BSD-3-Clause
"""Asynchronous reductions absorb delays; stretched sends pass them on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from plain_programs import compile_plain
from simulated_hosts import hosts_options

from smpi import SETTINGS

SOURCE = ROOT / "apps" / "jitter" / "jitter.cpp"


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_sums_and_messages_are_exact(mpi: Mpi) -> None:
    program = compile_plain(mpi, SOURCE)
    short = ("--work", "0.002", "--noise", "0.003", "--probability", "0.2")
    several = ("--asynchronous", "--lag", 3, "--messages", 2, "--bytes", 100_000)
    for words in ((), several, (*several, "--stretch", "any")):
        done = run_to_end(mpi.command(3, program, *short, "--steps", 12, *words))
        verdict, steps, time = check_output(done).splitlines()
        assert verdict.startswith("right: 3 ranks, 12 steps, ")
        assert verdict.endswith(" 0 wrong sums and messages")
        assert re.fullmatch(r"step: mean \S+ ms, maximum \S+ ms", steps)
        assert re.fullmatch(r"time: \S+ s", time)


def test_a_delay_lengthens_simulated_steps(tmp_path: Path) -> None:
    program = compile_plain(SIMGRID, SOURCE)
    options = hosts_options(tmp_path, 8, SETTINGS)

    def simulate(*words: object) -> tuple[float, float]:
        command = SIMGRID.command(
            8, *options, program, "--steps", 40, "--probability", "0.05", *words
        )
        output = check_output(run_to_end(command))
        found = re.search(r"mean (\S+) ms, maximum (\S+) ms", output)
        assert found is not None
        return float(found[1]), float(found[2])

    # 12 ms of work. A delay of any rank takes 10 ms: in 13 of 40 steps.
    assert simulate("--noise", 0) == pytest.approx((12, 12), abs=0.05)
    blocking, longest = simulate()
    assert (blocking, longest) == pytest.approx((12 + 10 * 13 / 40, 22), abs=0.05)
    next_step, longer = simulate("--asynchronous")
    third = ("--asynchronous", "--lag", 3)
    later, long = simulate(*third)
    assert later < next_step < blocking - 1
    assert long < longer < longest
    sends = (*third, "--messages", 3)
    free, _ = simulate(*sends)
    same, _ = simulate(*sends, "--stretch", "same")
    stretched, _ = simulate(*sends, "--stretch", "any")
    assert free < same < stretched < next_step + 0.5


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--messages", "2"],
            "--messages is '2', expected at most the number of other ranks, 1",
        ),
        (["--lag", "1.5"], "--lag is '1.5', expected a whole number from 1 to 1000"),
        (["--probability", "2"], "--probability is '2', expected a number from 0 to 1"),
        (["--stretch", "all"], "--stretch is 'all', expected none, same or any"),
        (["--slow"], "unknown option '--slow'; jitter --help lists them"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(words: list[str], line: str) -> None:
    done = run_to_end(MPICH.command(2, compile_plain(MPICH, SOURCE), *words))
    assert done.returncode == 2
    assert done.stderr.count(f"jitter: {line}\n") == 1
