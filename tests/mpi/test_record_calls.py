# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of MPI call is counted exactly; expected edges are computed by hand."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from mpis import (
    MPICH,
    MPIS,
    OPEN_MPI_4,
    PROGRAMS,
    Mpi,
    build_program,
    calls,
    edges,
    need,
    record_run,
)

from topoloom.graphs.profile import Profile
from topoloom.preload.record.wrappers import generate_wrappers

#: Most tests read the same recording per MPI.
pytestmark = [pytest.mark.every_mpi, pytest.mark.xdist_group("record_calls")]

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
WORLD = (0, 1, 2, 3)
BACK = [(target, source) for source, target in RING]


def make_ring_edges(
    kind: str, bytes: int, messages: int
) -> dict[tuple[str, int, int], tuple[int, int]]:
    return {(kind, s, t): (bytes, messages) for s, t in RING}


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def every_call(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Profile:
    folder = tmp_path_factory.mktemp("every_call")
    program = build_program(request.param, PROGRAMS / "every_call.c")
    profile = record_run(request.param, 4, program, folder=folder)
    assert profile.lost == 0
    return profile


def test_blocking_sends_are_counted_except_to_proc_null(
    every_call: Profile,
) -> None:
    assert edges(every_call, 1) == {("send", 0, 1): (3 * 4 + 5 + 7 + 9, 4)}


def test_nonblocking_sends_are_counted(every_call: Profile) -> None:
    assert edges(every_call, 2) == make_ring_edges("send", 8 + 16 + 32 + 64, 4)


def test_persistent_sends_count_at_every_start(every_call: Profile) -> None:
    assert edges(every_call, 3) == make_ring_edges("send", 3 * (1 + 2 + 4 + 8), 3 * 4)


def test_sendrecv_counts_sends_including_those_to_itself(every_call: Profile) -> None:
    assert edges(every_call, 4) == {
        **{("send", s, t): (11, 1) for s, t in RING},
        **{("send", s, t): (13, 1) for s, t in BACK},
        **{("send", rank, rank): (6, 1) for rank in range(4)},
    }


def test_ranks_of_other_communicators_are_ranks_of_the_world(
    every_call: Profile,
) -> None:
    assert edges(every_call, 5) == {
        ("send", 2, 0): (17 + 1, 2),
        ("send", 3, 1): (17 + 1, 2),
        ("send", 0, 1): (19, 1),
        ("send", 2, 3): (19, 1),
    }


def test_intercommunicators_send_to_the_other_group(every_call: Profile) -> None:
    assert edges(every_call, 6) == {
        ("send", 0, 2): (23, 1),
        ("send", 1, 3): (23, 1),
        ("send", 3, 0): (29, 1),
    }


def test_neighborhood_collectives_send_to_the_neighbors(every_call: Profile) -> None:
    line_down, line_up, around, star = (31 + 4, 2), (31 + 8, 2), (37 + 8, 2), (2, 1)

    def add_pairs(*parts: tuple[int, int]) -> tuple[int, int]:
        return sum(p[0] for p in parts), sum(p[1] for p in parts)

    expected = {
        (0, 1): add_pairs(line_up, around, star),
        (1, 2): add_pairs(line_up, around),
        (2, 3): add_pairs(line_up, around),
        (3, 0): add_pairs(around, star),
        (1, 0): add_pairs(line_down, star),
        (2, 1): line_down,
        (3, 2): line_down,
        (0, 2): star,
        (0, 3): star,
        (2, 0): star,
    }
    assert edges(every_call, 7) == {("neighbor", *k): v for k, v in expected.items()}


def test_one_sided_calls_count_in_the_direction_of_the_data(
    every_call: Profile,
) -> None:
    assert edges(every_call, 8) == {
        ("put", 0, 1): (41, 1),
        ("get", 2, 0): (43, 1),
        ("put", 0, 3): (5 * 4, 1),
        ("put", 1, 2): (2 * 4, 1),  # an atomic get (MPI_NO_OP) sends nothing
        ("get", 2, 1): (2 * 4 + 3 * 4, 2),
        ("put", 1, 3): (4 + 2 * 4, 2),  # compare_and_swap sends two values
        ("get", 3, 1): (4 + 4, 2),
        ("put", 2, 0): (51 + 4 + 4, 3),
        ("get", 0, 2): (53 + 4, 2),
        ("put", 3, 1): (61, 1),  # through a window of a reversed communicator
    }


def test_v_collectives_are_counted_pair_by_pair(every_call: Profile) -> None:
    expected = {}
    for source in range(4):
        for target in range(4):
            both = 2 * (10 * source + target)  # alltoallv and alltoallw
            parts = [both / 2, both / 2, 2 * (source + target)]
            parts.append(source + 1 if target == 2 else 0)  # gatherv to rank 2
            parts.append(4 * (target + 1) if source == 1 else 0)  # scatterv from 1
            sent = [part for part in parts if part > 0]
            if source != target:
                expected["direct", source, target] = (int(sum(sent)), len(sent))
    assert edges(every_call, 9) == expected


def test_collectives_are_recorded_as_calls(every_call: Profile) -> None:
    assert calls(every_call, 10) == {
        ("bcast", WORLD, 2, 100): 4,  # three blocking calls, one nonblocking
        ("barrier", WORLD, -1, 0): 1,
        ("reduce", WORLD, 1, 28): 1,
        ("allreduce", WORLD, -1, 24): 1,
        ("gather", WORLD, 0, 9): 1,  # in-place at the root
        ("scatter", WORLD, 3, 15): 1,
        ("allgather", WORLD, -1, 21): 1,
        ("allgatherv", WORLD, -1, 4 * (1 + 2 + 3 + 4)): 1,
        ("alltoall", WORLD, -1, 33): 1,
        ("reduce_scatter", WORLD, -1, 40): 1,
        ("reduce_scatter", WORLD, -1, 4 * 5 * 4): 1,
        ("scan", WORLD, -1, 4): 1,
        ("exscan", WORLD, -1, 8): 1,
        ("bcast", (1, 0), 0, 50): 1,
        ("bcast", (3, 2), 0, 50): 1,
    }
    assert not edges(every_call, 10)


def test_calls_of_mpi_4_are_counted(tmp_path: Path) -> None:
    program = build_program(MPICH, PROGRAMS / "mpi4.c")
    profile = record_run(MPICH, 4, program, folder=tmp_path)
    assert edges(profile, 1) == make_ring_edges("send", 10 + 20, 2)
    assert edges(profile, 2) == make_ring_edges("send", 2 * 4 * 3, 2)
    assert calls(profile, 3) == {("bcast", WORLD, 1, 30): 5}
    pairs = [(s, t) for s in range(4) for t in range(4) if s != t]
    assert edges(profile, 3) == {("direct", s, t): (1, 1) for s, t in pairs}


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_concurrent_threads_lose_no_message(mpi: Mpi, tmp_path: Path) -> None:
    program = build_program(mpi, PROGRAMS / "threads.c")
    profile = record_run(mpi, 4, program, folder=tmp_path)
    assert edges(profile, 0) == make_ring_edges("send", 4 * 100, 4 * 100)


@pytest.mark.parametrize("source", ["calls.f90", "calls_f08.f90"])
@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_a_fortran_call_is_counted_once(mpi: Mpi, source: str, tmp_path: Path) -> None:
    profile = record_run(mpi, 4, build_program(mpi, PROGRAMS / source), folder=tmp_path)
    first = make_ring_edges("send", 4 * (3 + 5), 2)
    first["send", 0, 1] = (4 * (3 + 5 + 7), 3)
    assert edges(profile, 1) == first
    assert edges(profile, 2) == make_ring_edges("send", 3 * 2 * 4, 3)
    assert calls(profile, 3) == {
        ("bcast", (1, 0), 0, 16): 1,
        ("bcast", (3, 2), 0, 16): 1,
        ("allreduce", WORLD, -1, 24): 1,
    }
    pairs = [(s, t) for s in range(4) for t in range(4) if s != t]
    assert edges(profile, 3) == {("direct", s, t): (4, 1) for s, t in pairs}


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_every_call_with_a_send_buffer_has_a_wrapper(mpi: Mpi) -> None:
    compiler = need(mpi.compilers[".c"], mpi.install)
    command = [compiler, "-E", "-x", "c", "-"]
    include = "#include <mpi.h>\n"
    header = subprocess.run(
        command, input=include, capture_output=True, text=True, check=True
    ).stdout
    declared = re.findall(r"\bPMPI_(\w+)\s*\(([^;]*?)\)\s*[;_]", header)
    sending = {
        name
        for name, parameters in declared
        if re.search(r"const\s+void\s*\*", parameters)
        and re.search(r"MPI_(Comm|Win)\b", parameters)
        and not name.startswith(("Pack", "Unpack", "Win_detach"))
    }
    assert len(sending) > 50
    table = (PROGRAMS.parents[2] / "mpi" / "record" / "calls.txt").read_text()
    wrapped = re.findall(r"\bint MPI_(\w+)\(", generate_wrappers(table, header))
    assert sending - set(wrapped) == set()
