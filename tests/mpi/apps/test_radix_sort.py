# SPDX-License-Identifier: BSD-3-Clause
"""Radix sort: every exchange sorts, and changed or misplaced keys are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_libraries import compile_with_libraries
from built_programs import ROOT
from faults import run_with_fault
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end

from objects.programs import format_switch_platform, run_simulated

SOURCE = ROOT / "apps/radix_sort/radix_sort.cpp"
EXCHANGES = ("alltoallv", "combined", "sparse", "streams")
#: 5 us of processor per message on both sides. With powers of two, MPICH's ranks end a
#: reduction at the same time.
NETWORK = [f"smpi/{side}:0:5e-6:0" for side in ("os", "or", "ois")]
NETWORK.append("smpi/coll-selector:mpich")


def build(mpi: Mpi) -> Path:
    libraries = ["collective", "objects", "stream"]
    return compile_with_libraries(mpi, libraries, SOURCE, f"-I{ROOT / 'mpi/exchange'}")


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_every_exchange_sorts_the_keys_of_all_ranks(mpi: Mpi) -> None:
    program = build(mpi)
    jobs: list[tuple[int, list[object]]] = [
        (1, []),
        (3, ["--exchange", "combined", "--keys", 2000, "--seed", 7]),
        (5, ["--exchange", "streams", "--keys", 1000]),
        (2, ["--exchange", "streams", "--keys", 1000, "--dimensions", 1]),
        (4, ["--keys", 1]),
        (3, ["--exchange", "combined", "--keys", 0]),
        (7, ["--exchange", "sparse", "--keys", 300]),
        (2, ["--exchange", "sparse"]),
    ]
    for ranks, words in jobs:
        text = check_output(run_to_end(mpi.command(ranks, program, *words)))
        keys = ranks * (
            words[words.index("--keys") + 1] if "--keys" in words else 10000
        )
        first, time, exchange = text.splitlines()
        assert first == f"right: {keys} keys, sorted, a permutation of the input"
        assert time.startswith("time: ")
        assert exchange.startswith("exchange: ")


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("flip", "not a permutation of the input"),
        ("trade", "not sorted, a permutation of the input"),
    ],
)
def test_changed_and_misplaced_keys_are_noticed(fault: str, found: str) -> None:
    done = run_with_fault(fault, 3, build(MPICH), "--keys", 500)
    assert done.returncode == 1
    assert done.stdout.startswith("WRONG: 1500 keys")
    assert found in done.stdout


def test_combined_messages_take_less_simulated_time(tmp_path: Path) -> None:
    platform = format_switch_platform("1GBps", "1us")
    seconds = {}
    for exchange in EXCHANGES:
        words = (build(SIMGRID), "--exchange", exchange, "--keys", 50)
        text = run_simulated(tmp_path, platform, 32, {}, NETWORK, *words)
        assert text is not None
        assert text.startswith("right: 1600 keys")
        seconds[exchange] = float(text.split("exchange: ")[1].split()[0])
    assert 2 * seconds["sparse"] < seconds["alltoallv"], seconds


def test_an_invalid_option_is_refused_in_one_line() -> None:
    program = build(MPICH)
    for words, expected in [
        (("--keys", -1), "--keys is '-1', expected a whole number from 0 to 16777216"),
        (
            ("--exchange", "x"),
            "--exchange is 'x', expected alltoallv, combined, sparse",
        ),
        (("--seed",), "--seed needs a value"),
        (("--dimensions", 2), "--dimensions needs --exchange streams"),
        (("--bits", 8), "unknown option '--bits'; radix_sort --help lists them"),
    ]:
        done = run_to_end(MPICH.command(2, program, *words))
        assert done.returncode == 2
        assert done.stderr.count("radix_sort: ") == 1
        assert f"radix_sort: {expected}" in done.stderr
    help_text = check_output(run_to_end(MPICH.command(2, program, "--help")))
    assert help_text.count("usage: radix_sort") == 1
