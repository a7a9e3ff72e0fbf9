# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of objects: messages, groups, migration, rebalancing, errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, SIMGRID, Mpi, check_output, run_to_end
from object_programs import (
    SOURCES,
    compile_with_objects,
    compile_with_sanitizer,
    find_cxx_compiler,
    list_compile_flags,
)
from simulated_hosts import hosts_options

from topoloom.graphs.graph_file import load_graph


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_groups_priorities_and_phases_work(mpi: Mpi) -> None:
    program = compile_with_objects(mpi, SOURCES / "cases.cpp")
    for ranks in (1, 3, 6):
        done = run_to_end(mpi.command(ranks, program))
        assert check_output(done) == "objects are right\n"


def test_migrating_objects_get_every_message_once_and_in_order() -> None:
    program = compile_with_objects(MPICH, SOURCES / "traffic.cpp")
    for order in ("ordered", "any"):
        done = run_to_end(MPICH.command(3, program, 10000, order))
        assert check_output(done).startswith("right: ")


def test_objects_travel_between_simulated_hosts(tmp_path: Path) -> None:
    program = compile_with_objects(SIMGRID, SOURCES / "traffic.cpp")
    settings = {"smpi/simulate-computation": "no", "smpi/test": "1e-6"}
    words = hosts_options(tmp_path, 5, settings)
    done = run_to_end(SIMGRID.command(5, *words, program, 2000))
    assert check_output(done).startswith("right: ")


@pytest.mark.full
@pytest.mark.parametrize(
    "words", [("traffic.cpp", 3, 2000), ("many_to_many.cpp", 5, "hypercube", 16, 3, 3)]
)
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_sanitizers_report_nothing(sanitizer: str, words: tuple[object, ...]) -> None:
    # Under ThreadSanitizer, any program with Debian's MPICH crashes on exit.
    source, ranks, *arguments = words
    program = compile_with_sanitizer(OPEN_MPI_4, SOURCES / str(source), sanitizer)
    variables = {
        "ASAN_OPTIONS": "detect_leaks=0",  # MPI leaks
        # Ignore races inside the MPI library.
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    }
    command = OPEN_MPI_4.command(int(str(ranks)), program, *arguments)
    done = run_to_end(command, **variables)
    assert check_output(done).startswith("right: ")
    assert "runtime error" not in done.stderr


@pytest.fixture(scope="module")
def mistakes_program() -> Path:
    return compile_with_objects(MPICH, SOURCES / "mistakes.cpp")


MISTAKES = {
    "index": "there is no object (1, 9) in the array of 2 x 3",
    "negative": "there is no object (-1, 0) in the array of 2 x 3",
    "axis": "there is no object (0, 0, 1) in the array of 2 x 3",
    "extents": "needs one to three positive extents",
    "home": "has its home on rank 9, but there are only 2",
    "rank": "cannot move to rank 64: there are only 2 ranks",
    "throw": "::fail threw seven is too many",
    "nested": "a method calls run(), which only the main program may",
    "lengths": "threw a reduction of vectors whose lengths differ",
    "memory": "memory_bytes is 4000, but 2 ranks need 4096 or more",
    "stall": "stall_timeout is -1.0",
    "serialize": "has packed 4 bytes more than it unpacks",
    "policy": "rebalance: no policy 'gredy' (did you mean 'greedy'?)",
    "machine": "rebalance: cannot read machine 'torus:4xx4'",
}


@pytest.mark.parametrize(("which", "line"), MISTAKES.items())
def test_a_mistake_ends_the_program_with_a_line(
    mistakes_program: Path, which: str, line: str
) -> None:
    done = run_to_end(MPICH.command(2, mistakes_program, which))
    assert done.returncode != 0
    said_of_it = [text for text in done.stderr.splitlines() if line in text]
    assert said_of_it
    assert said_of_it[0].startswith("topoloom: topoloom_objects: ")


@pytest.mark.parametrize("which", ["index", "throw", "serialize", "policy"])
def test_a_caught_error_leaves_the_other_objects_running(
    mistakes_program: Path, which: str
) -> None:
    lines = check_output(
        run_to_end(MPICH.command(2, mistakes_program, which, "return"))
    ).splitlines()
    assert any(line.startswith("caught: ") for line in lines)
    assert lines.count("went on") == 2


@pytest.mark.parametrize(
    ("macro", "words"),
    [
        ("NOT_SERIALIZED", "objects migrate between ranks: give T a member function"),
        ("NOT_LISTED", "list the method in T::methods"),
        ("VALUE", "this type cannot be serialized; give it a member function"),
    ],
)
def test_types_that_cannot_be_sent_do_not_compile(macro: str, words: str) -> None:
    source = SOURCES / "not_serialized.cpp"
    command = [
        find_cxx_compiler(MPICH),
        *list_compile_flags(),
        f"-D{macro}",
        "-fsyntax-only",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert words in done.stderr


def test_objects_are_moved_by_measured_loads(tmp_path: Path) -> None:
    program = compile_with_objects(MPICH, SOURCES / "uneven.cpp")
    file = tmp_path / "measured.npz"
    assert check_output(run_to_end(MPICH.command(3, program, file))) == "rebalanced\n"
    graph = load_graph(file)
    # A ring of twelve objects; the first four are the heaviest.
    assert graph.rank_count == 12
    assert graph.peer.tolist() == [*range(1, 12), 0]
    assert graph.messages.tolist() == [20] * 12
    load = graph.load
    assert min(load[:4]) > max(load[4:])


def test_a_stencil_of_objects_equals_a_serial_run() -> None:
    source = ROOT / "apps" / "jacobi_objects" / "jacobi_objects.cpp"
    program = compile_with_objects(MPICH, source)
    for words in (
        (2, 4, 8, 10, "round-robin", "greedy"),
        (3, 3, 4, 6, "random", "place"),
        (2, "4x6", 8, 6, "hashed"),
        (3, "3x2x4", 4, 5, "boxes=3x1x1"),
        (2, "2x9", 4, 5, "boxes=1x3x1"),
    ):
        assert check_output(run_to_end(MPICH.command(3, program, *words))).startswith(
            "right: "
        )
    for words in ((3, 4, 4, 6, "hashed"), (2, 4, 4, 6, "boxes=2x2x2")):
        assert run_to_end(MPICH.command(3, program, *words)).returncode == 2


def test_molecular_dynamics_has_the_energies_of_a_serial_run() -> None:
    source = ROOT / "apps" / "molecular_dynamics" / "molecular_dynamics.cpp"
    program = compile_with_objects(MPICH, source)
    for ranks, words in (
        (2, ("3x4x3", 2, 20, "bricks")),
        (3, ("3x3x3", 3, 10, "place", "torus:3")),
        (5, ("3x3x3", 2, 20, "greedy")),  # 6 patches on two ranks, 5 on three
    ):
        text = check_output(run_to_end(MPICH.command(ranks, program, *words)))
        assert text.startswith("right: ")
    assert run_to_end(MPICH.command(1, program, "2x4x4")).returncode == 2


def test_every_source_of_the_library_is_built() -> None:
    """Only this test fails if CMakeLists.txt lacks a source."""
    listed = (ROOT / "mpi/objects/CMakeLists.txt").read_text()
    for source in (ROOT / "mpi/objects").glob("*.cpp"):
        assert f"  {source.name}\n" in listed
