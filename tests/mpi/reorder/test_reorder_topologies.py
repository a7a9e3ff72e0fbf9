# SPDX-License-Identifier: BSD-3-Clause
"""Reordered topologies conform to the standard: only the ranks of processes change.

The programs check, for every topology, that each process has the neighbors, weights and
coordinates of its new rank. Sums over neighborhood collectives must equal those of a
run without reordering.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mpis import (
    HALO3D,
    MPICH,
    MPIS,
    OPEN_MPI_4,
    PROGRAMS,
    Mpi,
    build_program,
    need,
    run_to_end,
)
from reordered import (
    build_preloaded_library,
    make_preload_variables,
    read_messages,
    read_number,
    read_topology_lines,
    run_under_switches,
)
from several_hosts import can_name_hosts

by_name = pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)

JOBS = [
    (OPEN_MPI_4, (1,), 4),
    (OPEN_MPI_4, (3, 4), 32),
    (OPEN_MPI_4, (6, 6, 4), 16),
    (OPEN_MPI_4, (16, 32, 16), 4),
    (MPICH, (1, 1), 8),
    (MPICH, (2, 2), 8),
    (MPIS[2], (4, 3, 5), 8),
]


@pytest.mark.parametrize(
    ("mpi", "groups", "count"),
    [
        pytest.param(
            *job,
            id=f"{job[0].name}-{sum(job[1])}",
            marks=[pytest.mark.full] if sum(job[1]) > 16 else [],
        )
        for job in JOBS
    ],
)
def test_topologies_are_equal_up_to_rank_numbers(
    mpi: Mpi, groups: tuple[int, ...], count: int
) -> None:
    words = [build_program(mpi, PROGRAMS / "topologies.c"), count]
    plain = run_under_switches(mpi, groups, words)
    better = run_under_switches(mpi, groups, words, make_preload_variables(mpi))
    assert read_topology_lines(better) == read_topology_lines(plain)
    assert len(read_messages(better)) == 1
    if sum(groups) > 2:
        assert read_number(better, "moved") > 0
        assert "topologies reordered: cost" in read_messages(better)[0]


def test_bound_cores_are_taken_into_account() -> None:
    first, second, *_ = [*sorted(os.sched_getaffinity(0)), None]
    if second is None:
        pytest.skip("a single core")
    mpi, program = OPEN_MPI_4, build_program(OPEN_MPI_4, PROGRAMS / "topologies.c")
    bind = f"[ $OMPI_COMM_WORLD_RANK -lt 2 ] && cpu={first} || cpu={second}"
    words = ["sh", "-c", f'{bind}; exec taskset -c $cpu "$0" "$@"', program, 16]
    free = run_under_switches(mpi, (4,), [program, 16], make_preload_variables(mpi))
    bound = run_under_switches(mpi, (4,), words, make_preload_variables(mpi))
    assert read_topology_lines(bound) == read_topology_lines(free)
    assert read_number(bound, "moved") > 0


def test_a_real_program_computes_the_same_result() -> None:
    mpi, program = OPEN_MPI_4, build_program(OPEN_MPI_4, HALO3D)
    words = [program, "--grid", "2x4x3", "--cells", 4, "--steps", 9, "--reorder"]
    done = run_under_switches(mpi, (5, 12, 7), words, make_preload_variables(mpi))
    assert done.returncode == 0, done.stderr
    assert "halo3d: verified in every cell" in done.stdout
    assert "1 of 1 topology reordered" in read_messages(done)[0]


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("handles", ["f08", "f90"])
def test_fortran_programs_are_reordered(mpi: Mpi, handles: str) -> None:
    source = PROGRAMS / f"reorder_{handles}.F90"
    program = build_program(mpi, source)
    done = run_under_switches(mpi, (2, 2), [program], make_preload_variables(mpi))
    # In each of six topologies, two of four ranks move.
    assert read_number(done, "moved") == 2 * 6
    assert "6 of 6 topologies reordered" in read_messages(done)[0]


@by_name
def test_without_reorder_nothing_is_reordered(mpi: Mpi) -> None:
    program = build_program(mpi, PROGRAMS / "wrong_topologies.c")
    plain = run_under_switches(mpi, (2, 2), [program])
    done = run_under_switches(mpi, (2, 2), [program], make_preload_variables(mpi))
    assert done.returncode == plain.returncode == 0, done.stderr
    assert done.stdout == plain.stdout
    assert "communicator" in done.stdout.splitlines()[1]
    assert read_messages(done) == [
        "topoloom: nothing reordered: the program made no topology with reorder=1"
    ]


def test_a_machine_file_without_the_host_does_not_change_the_order(
    tmp_path: Path,
) -> None:
    mpi, machine = OPEN_MPI_4, tmp_path / "machine"
    machine.write_text("# two nodes\nmachine torus:2\nnode 0 nobody\n")
    program = build_program(mpi, PROGRAMS / "topologies.c")
    variables = make_preload_variables(mpi, TOPOLOOM_OPTIONS=f"machine={machine}")
    done = run_under_switches(mpi, (2, 2), [program, 4], variables)
    assert read_number(done, "moved") == 0
    assert (
        "(rank 0) is not in the machine: no line 'node NUMBER" in read_messages(done)[0]
    )
    assert str(machine) in read_messages(done)[0]
    assert read_messages(done)[1:] == [
        "topoloom: nothing reordered, for the reason above"
    ]


def test_the_longest_host_name_is_read(tmp_path: Path) -> None:
    if not can_name_hosts():
        pytest.skip("naming hosts needs root or unprivileged user namespaces")
    mpi, machine, name = OPEN_MPI_4, tmp_path / "machine", "n" * 64
    machine.write_text(f"machine torus:2\nnode 1 {name}\n")
    program = build_program(mpi, PROGRAMS / "topologies.c")
    named = 'hostname "$0"; exec "$@"'
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--uts", "sh", "-c", named, name, program, 4]
    variables = make_preload_variables(mpi, TOPOLOOM_OPTIONS=f"machine={machine}")
    done = run_under_switches(mpi, (1, 1), words, variables)
    assert "no better order was found for 4 topologies" in read_messages(done)[0]


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_an_allocation_failure_of_one_rank_does_not_change_the_order(
    mpi: Mpi, tmp_path: Path
) -> None:
    lack, source = tmp_path / "lack.so", PROGRAMS / "lack_memory.c"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", lack], check=True)
    words = [build_program(mpi, PROGRAMS / "topologies.c"), 32]
    plain = run_under_switches(mpi, (2, 2), words)
    variables = make_preload_variables(
        mpi, LD_PRELOAD=f"{lack}:{build_preloaded_library(mpi)}"
    )
    done = run_under_switches(mpi, (2, 2), words, variables)
    assert read_topology_lines(done) == read_topology_lines(plain)
    assert read_number(done, "moved") > 0
    *reasons, summary = read_messages(done)
    assert all(reason.startswith("topoloom: not reordered: ") for reason in reasons)
    assert any("has not enough memory" in reason for reason in reasons)
    assert any("MPI could not recreate the topology" in reason for reason in reasons)
    assert summary.startswith(f"topoloom: {read_number(done, 'topologies moved')} of ")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("mapper=atuo", "'atuo'"),
        (
            "colour=red",
            "'colour'; there are: mapper, objective, seed, threads, seconds",
        ),
        ("objective=hops", "'hops'"),
        ("machine=/nowhere", "cannot read the machine file '/nowhere'"),
    ],
)
def test_wrong_options_do_not_change_the_order(options: str, reason: str) -> None:
    mpi = OPEN_MPI_4
    program = build_program(mpi, PROGRAMS / "topologies.c")
    variables = make_preload_variables(mpi, TOPOLOOM_OPTIONS=options)
    done = run_under_switches(mpi, (2, 2), [program, 4], variables)
    assert read_number(done, "moved") == 0
    assert reason in read_messages(done)[0]


def test_a_program_of_another_mpi_is_not_reordered() -> None:
    program = build_program(MPICH, PROGRAMS / "topologies.c")
    other = str(build_preloaded_library(OPEN_MPI_4))
    variables = {"LD_PRELOAD": other, "TOPOLOOM_REORDER": "1"}
    done = run_under_switches(MPICH, (2, 1), [program, 4], variables)
    assert read_number(done, "moved") == 0
    assert "not reordered: the program uses another MPI" in read_messages(done)[0]


def find_mpi_of_mpi4py() -> tuple[Mpi, str]:
    """Return the MPI that mpi4py uses, and its compiler."""
    ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
    version = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True
    )
    of = {"Open MPI v4": OPEN_MPI_4, "Open MPI v5": MPIS[2], "MPICH": MPICH}
    [mpi] = [mpi for name, mpi in of.items() if version.stdout.startswith(name)]
    return mpi, need(mpi.compilers[".c"], mpi.install)


def test_mpi4py_programs_can_request_an_order() -> None:
    mpi, mpicc = find_mpi_of_mpi4py()
    words = [sys.executable, PROGRAMS / "reorder_numbers.py", mpicc]
    done = run_under_switches(mpi, (2, 2), words)
    assert done.returncode == 0, done.stderr
    # Partners share one of the two nodes, and only two of four processes move.
    olds = json.loads(done.stdout.split("\n")[0])
    assert [olds[0] // 2, olds[1] // 2] == [olds[2] // 2, olds[3] // 2]
    assert sum(old != new for new, old in enumerate(olds)) == 2
    assert "4 ranks reordered" in read_messages(done)[0]


def test_mpi4py_programs_can_renumber_ranks() -> None:
    mpi, mpicc = find_mpi_of_mpi4py()
    done = run_to_end(
        mpi.command(4, sys.executable, PROGRAMS / "remap_numbers.py", mpicc)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0, 1, 2, 3]\n"
    assert "no order 'sideways'" in done.stderr
    assert "4 ranks ordered: " in done.stderr
