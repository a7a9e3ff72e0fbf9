# SPDX-License-Identifier: BSD-3-Clause
"""Tasks move under each MPI and in SimGrid; each arrives exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import SOURCES, compile_with_balancing, compile_with_sanitizer
from built_libraries import installed
from built_programs import ROOT, run
from mpis import MPICH, MPIS, OPEN_MPI_4, SIMGRID, Mpi, run_to_end
from simulated_hosts import hosts_options

CASES = SOURCES / "exchange_cases.c"
MISTAKES = SOURCES / "balance_mistakes.c"
HOW_TO = ROOT / "docs/how-to/run/balance.md"


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_every_task_is_at_its_receiver_exactly_once(mpi: Mpi) -> None:
    program = compile_with_balancing(mpi, CASES)
    done = run_to_end(mpi.command(3, program, 4))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "77 exchanges: every task is once where it should be\n"


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_errors_are_returned_and_no_task_is_lost(mpi: Mpi) -> None:
    program = compile_with_balancing(mpi, MISTAKES)
    done = run_to_end(mpi.command(3, program, "returned"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "31 of 31 mistakes were returned, and no task was lost\n"


def test_tasks_move_among_simulated_ranks(tmp_path: Path) -> None:
    """Nodes have different numbers of ranks, and each gathers its own ranks' loads."""
    program = compile_with_balancing(SIMGRID, CASES)
    options = hosts_options(tmp_path, 4, {"smpi/test": "1e-6"})
    hosts = ["n3", "n0", "n1", "n2", "n0", "n2", "n1", *6 * ["n0"], *5 * ["n2"]]
    (tmp_path / "hosts").write_text("".join(f"{host}\n" for host in hosts))
    command = SIMGRID.command(len(hosts), *options, program, 2, "torus:8x8x8")
    done = run_to_end(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "47 exchanges: every task is once where it should be\n"


@pytest.mark.parametrize("ranks", [3, 8])
def test_tasks_move_between_nodes_with_separate_memory(ranks: int) -> None:
    """With two cliques, MPICH's even and odd ranks use separate shared memory."""
    program = compile_with_balancing(MPICH, CASES)
    cliques = {"MPIR_CVAR_NUM_CLIQUES": "2"}
    done = run_to_end(MPICH.command(ranks, program, 2), **cliques)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "47 exchanges: every task is once where it should be\n"


def test_the_commands_of_the_guide_work(tmp_path: Path) -> None:
    """The program has 30 lines; the commands are those documented for MPICH."""
    text = HOW_TO.read_text()
    program = text.partition("```c\n")[2].partition("```")[0]
    assert len(program.splitlines()) == 30
    (tmp_path / "walkers.c").write_text(program)
    (tmp_path / "loads.csv").write_text("4\n2\n5\n5\n")
    console = text.partition("$ mpicc ")[2].partition("```")[0]
    compiling, running, *lines = console.splitlines()
    shell = f"set -e; cd {tmp_path}; mpicc.mpich {compiling}; mpirun.mpich "
    prefix = installed(MPICH)
    done = run(
        ["bash", "-c", shell + running.removeprefix("$ mpirun ")],
        PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig",
    )
    assert sorted(done.splitlines()) == lines


@pytest.mark.full
def test_sanitizers_report_nothing() -> None:
    unchecked = {"ASAN_OPTIONS": "detect_leaks=0"}  # MPI itself leaks memory
    for source, mode in ((CASES, "2"), (MISTAKES, "returned")):
        program = compile_with_sanitizer(OPEN_MPI_4, source)
        done = run_to_end(OPEN_MPI_4.command(3, program, mode), **unchecked)
        assert done.returncode == 0, done.stderr


LINES = (
    "balance: rank 1 has a load of -3; loads are at least 0",
    "balance: the loads of ranks 0 to 1 add up to 2^62 or more",
    "balance: no balancer 'alais' (did you mean 'alias'?)",
    "balance: slot 9 is none of the 8 slots of ring:8",
    "balance: ranks 1 and 2 share slot 3 of ring:8: each rank needs its own",
    "balance: message_s is -1 s and byte_s 0 s, but must not be negative",
    "balance: method is not the same on all ranks",
    "balance: stall_timeout is not the same on all ranks",
    "balance: decide by messages supports only the method sweep, not alias",
    "balance: stall_timeout is -1 s, but must not be negative",
    "plan_create: tasks_to adds up to more tasks than this rank has",
    "plan_create: a number in tasks_to is negative",
    "plan_create: rank 1 passed invalid arguments",
    "plan_create: a receiver is not another rank of the communicator",
    "balance: the communicator is MPI_COMM_NULL: freed, or never created",
    "exchange: 2 tasks exceed the capacity of 1",
    "exchange: the tasks are NULL",
    "exchange: a size is negative",
)

RESERVED = (
    "exchange: rank 2 has reserved capacity for 2 tasks and receives 2, "
    "but its capacity is lower"
)


def test_an_error_ends_the_program_with_one_line() -> None:
    program = compile_with_balancing(OPEN_MPI_4, MISTAKES)
    done = run_to_end(OPEN_MPI_4.command(3, program, "capacity"))
    assert done.returncode != 0
    assert f"topoloom: topoloom_{LINES[15]}" in done.stderr
    done = run_to_end(OPEN_MPI_4.command(3, program, "reserved-capacity"))
    assert done.returncode != 0
    assert f"topoloom: topoloom_{RESERVED}" in done.stderr
    done = run_to_end(OPEN_MPI_4.command(3, program, "said"))
    for line in LINES:
        assert f"topoloom: topoloom_{line}" in done.stderr
