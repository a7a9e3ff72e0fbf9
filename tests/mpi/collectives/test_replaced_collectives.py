# SPDX-License-Identifier: BSD-3-Clause
"""Replaced collectives give unmodified programs the same results."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from mpis import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, Mpi, build_program
from own_process import topoloom
from replaced_collectives import (
    RANKS,
    REPLACED,
    count_calls,
    read_answers,
    read_reports,
    run,
)

from topoloom import save_graph
from topoloom.graphs import ring

#: Each schedule is used in the operations that it supports.
SETTINGS = ["", "schedule=ring", "schedule=recursive-doubling(fold=even)"]


Programs = Callable[[Mpi], Path]
Answers = Callable[[Mpi], list[str]]


@pytest.fixture(scope="module")
def program() -> Programs:
    """Compile the program once for each MPI."""
    return cache(lambda mpi: build_program(mpi, REPLACED / "replaced.c"))


@pytest.fixture(scope="module")
def mpi_answers(program: Programs) -> Answers:
    """Run the program once with MPI's own collectives."""

    @cache
    def run_once(mpi: Mpi) -> list[str]:
        done = run(mpi, None, program(mpi))
        assert not read_reports(done)
        return read_answers(done)

    return run_once


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_results_equal_those_of_mpi(
    mpi: Mpi, program: Programs, mpi_answers: Answers
) -> None:
    assert len(mpi_answers(mpi)) > RANKS * 60
    totals = []
    for setting in SETTINGS:
        ours = run(mpi, setting, program(mpi))
        assert read_answers(ours) == mpi_answers(mpi)
        reports = read_reports(ours)
        strategies = [line for line in reports if ", schedules by " in line]
        # The world, and its halves; duplicates have the same strategy.
        assert len(strategies) == 3
        assert all(setting.removeprefix("schedule=") in line for line in strategies)
        replaced, left = count_calls(reports)
        assert bool(replaced) == bool(setting)
        reasons = (
            "all ranks are on one host",
            "setup needs memory and an intracommunicator",
        )
        others = [line for line in reports if line not in strategies]
        assert setting or all(any(why in line for why in reasons) for line in others)
        totals.append(replaced + left)
    assert totals[0].total() > 5 * 15
    assert totals == totals[:1] * len(SETTINGS)


@pytest.mark.parametrize(
    ("setting", "ours"),
    [("", False), ("schedule=bruck", True), ("learn=1", True)],
    ids=["nothing", "named", "learning"],
)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_on_one_host_mpi_runs_the_calls_unless_the_user_names_a_schedule(
    mpi: Mpi, setting: str, ours: bool
) -> None:
    program = build_program(mpi, REPLACED / "messages.c")
    (line,) = read_answers(run(mpi, setting, program))
    messages, of_ranks = line.split(" messages, sum ")
    assert (int(messages) > 0) == ours
    assert int(of_ranks) == sum(range(RANKS))


def test_forms_with_large_counts_are_replaced_if_the_data_is_small() -> None:
    """mpi4py uses these forms for all calls if MPI has them."""
    program = build_program(MPICH, REPLACED / "messages.c")
    for schedule, ours in (
        ("recursive-doubling(fold=even)", True),
        ("two-trees", False),
    ):
        (line,) = read_answers(run(MPICH, f"schedule={schedule}", program, "large"))
        messages, of_ranks = line.split(" messages, sum ")
        assert (int(messages) > 0) == ours
        assert int(of_ranks) == sum(range(RANKS))


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_reused_handle_is_a_new_communicator(mpi: Mpi) -> None:
    """Unreplaced communicators are tracked by handle; handles differ by process."""
    program = build_program(mpi, REPLACED / "reused.c")
    ours = run(mpi, "schedule=ring", program)
    assert all(line.endswith("reused, right") for line in read_answers(ours))
    assert any(not line.startswith("0 ") for line in read_answers(ours))
    # All six communicators of each thread are replaced.
    replaced, left = count_calls(read_reports(ours))
    assert (replaced, left) == ({"MPI_Allreduce": 2 * 6}, {})
    assert "12 communicators of 5 ranks: MPI_Allreduce" in ours.stderr


@pytest.mark.parametrize("source", ["replaced_f08.F90", "replaced_f90.F90"])
@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_fortran_programs_are_supported(mpi: Mpi, source: str) -> None:
    program = build_program(mpi, REPLACED / source)
    ours = run(mpi, "", program)
    assert read_answers(ours) == read_answers(run(mpi, None, program))
    replaced, left = count_calls(read_reports(ours))
    assert not replaced
    assert left["MPI_Alltoall"] == 2
    assert len(left) >= 15  # MPI_Barrier of mpi_f08 calls no MPI_ function in MPICH


WRONG = ("root", "count", "op", "communicator", "alias")


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_returned_errors_equal_those_of_mpi(mpi: Mpi, program: Programs) -> None:
    words = (program(mpi), "returned", *WRONG)
    returned = read_answers(run(mpi, "schedule=ring", *words))
    assert len(returned) > RANKS * len(WRONG)
    assert returned == read_answers(run(mpi, None, *words))


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_errors_end_the_program_as_with_mpi(
    mpi: Mpi, wrong: str, program: Programs
) -> None:
    fatal = run(mpi, "schedule=ring", program(mpi), wrong)
    assert fatal.returncode != 0
    assert not read_reports(fatal)


@pytest.mark.parametrize(
    ("mpi", "other"), [(OPEN_MPI_4, MPICH), (MPICH, OPEN_MPI_4)], ids=["open", "mpich"]
)
def test_a_program_of_another_mpi_runs_unchanged(
    mpi: Mpi, other: Mpi, program: Programs, mpi_answers: Answers
) -> None:
    done = run(mpi, "", program(mpi), of=other)
    assert read_answers(done) == mpi_answers(mpi)
    assert "collectives are not replaced: the program uses another MPI" in done.stderr


@pytest.mark.parametrize(
    ("world", "placed"),
    [([], ", placed by a file"), (["--apply", "world"], "")],
    ids=["placed", "renumbered"],
)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_run_replaces_the_collectives_of_the_placed_program(
    mpi: Mpi,
    world: list[str],
    placed: str,
    program: Programs,
    mpi_answers: Answers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("ring.npz", ring(RANKS, 1000))
    where = ["--machine", f"mesh:1+node:{RANKS}", "--hosts", os.uname().nodename]
    done = topoloom(
        "run",
        *where,
        *world,
        *("--graph", "ring.npz", "--mapper", "random", "--seed", 3),
        *("--replace-collectives", "schedule=ring,report=1"),
        "--",
        *mpi.command(RANKS, program(mpi)),
    )
    assert read_answers(done) == mpi_answers(mpi)
    assert (
        f"topoloom: collectives: 5 ranks on 1 node of mesh:1+node:5{placed}, "
        "schedules by name, ring, else by the machine's routes\n"
    ) in done.stderr
    assert done.stderr.count("schedules by name, ring") == 3


def test_the_machine_of_the_user_overrides_that_of_the_job(
    program: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    host = os.uname().nodename
    save_graph("ring.npz", ring(RANKS, 1000))
    Path("costs").write_text("message - 1e-6 1e-10\n")
    Path("own").write_text(f"machine mesh:1+node:9\nnode 0 {host}\n")

    def find_basis(machine: str, setting: str) -> str:
        done = topoloom(
            "run",
            *("--machine", machine, "--hosts", host, "--graph", "ring.npz"),
            *("--replace-collectives", setting, "--"),
            *MPICH.command(RANKS, program(MPICH)),
        )
        before, _, words = done.stderr.partition(f" {RANKS} ranks on 1 node")
        assert before.endswith("topoloom: collectives:"), done.stderr
        return words.partition(", schedules by ")[0]

    job = f"mesh:1+node:{RANKS}"
    assert find_basis(job, "machine=costs") == f" of {job}, placed by a file"
    assert find_basis(job, "machine=own") == " of mesh:1+node:9"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("decisions=none.toml", "names 'none.toml', which cannot be read"),
        ("none.toml", "names 'none.toml', which cannot be read"),
        ("schedule=rign", "no schedule 'rign'"),
        ("trace=none/calls.jsonl", "there is no directory 'none'"),
        ("nosuch=ring", "no option 'nosuch'; there are: machine, placement, "),
        ("report=1,report=1", "sets 'report' twice"),
        ("learn=2", "must set 'learn' to 0 or 1, not '2'"),
        ("trace=", "sets 'trace' to no value"),
    ],
)
def test_a_wrong_setting_starts_no_program(setting: str, message: str) -> None:
    where = ["--machine", "mesh:1+node:2", "--replace-collectives", setting]
    done = topoloom("run", *where, "--", "mpirun.mpich", "-n", 2, "echo", "started")
    assert done.returncode == 2
    assert not done.stdout
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


#: Runs a program, on rank 1 without the preloaded library.
ONLY_ON_RANK_0 = """\
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || unset LD_PRELOAD
exec "$0" "$@"
"""


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_the_report_waits_for_no_rank_without_the_library(mpi: Mpi) -> None:
    ring = build_program(mpi, PROGRAMS / "ring.c")
    done = run(mpi, "", "sh", "-c", ONLY_ON_RANK_0, ring, 100, ranks=2)
    assert done.returncode == 0, done.stderr
    assert not read_reports(done)


@pytest.mark.full
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_ranks_that_wait_for_one_without_the_library_say_so(
    mpi: Mpi, program: Programs
) -> None:
    ended = ONLY_ON_RANK_0.replace("exec", "exec timeout 25")
    done = run(mpi, "schedule=bruck", "sh", "-c", ended, program(mpi), ranks=2)
    assert done.returncode != 0
    (line,) = [x for x in done.stderr.splitlines() if x.startswith("topoloom:")]
    assert "waiting for ranks that probably lack the preloaded library" in line
