# SPDX-License-Identifier: BSD-3-Clause
"""Profiling tools work before and after the recorder, and its counts stay the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_programs import NAP_SOURCE, compile_program
from mpis import (
    MPICH,
    MPIS,
    OPEN_MPI_4,
    OPEN_MPI_5,
    PROGRAMS,
    Mpi,
    build_program,
    need,
    pairs,
)

from topoloom.graphs.profile import Profile
from topoloom.preload.record import record

UNUSUAL = PROGRAMS / "unusual"
PASSED = {(rank, rank + 1): (100, 1) for rank in range(3)}
#: Position of the tool relative to the recorder.
PLACES = ["linked", "behind", "before", "inside"]
ROMIO = {
    OPEN_MPI_4.name: ["--mca", "io", "romio321"],
    MPICH.name: [],
    OPEN_MPI_5.name: ["--mca", "io", "romio341"],
}


def build_with_tool(mpi: Mpi, place: str, chained: bool) -> list[str]:
    """Build the program and the tool; return the command that runs both."""
    compiler = need(mpi.compilers[".c"], mpi.install)
    source, flags = UNUSUAL / "tool.c", ["-DCHAINED"] if chained else []
    words = [compiler, "-O1", *flags, "-shared", "-fPIC", source]
    tool = compile_program("libtool.so", words)
    more: list[object] = []
    if place == "linked":
        more = [tool, f"-Wl,-rpath,{tool.parent}"]
    elif place == "inside":
        more = [*flags, source]
    source = UNUSUAL / "chain_and_file_write.c"
    words = [compiler, "-O1", "-w", source, *more, NAP_SOURCE, "-ldl"]
    program = compile_program("chain_and_file_write", words)
    preload = {"behind": f"$LD_PRELOAD:{tool}", "before": f"{tool}:$LD_PRELOAD"}
    if place not in preload:
        return [str(program)]
    start = f'LD_PRELOAD="{preload[place]}" exec "$0" "$@"'
    return ["sh", "-c", start, str(program)]


def check_output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout


def record_with_output(command: list[str], folder: Path) -> tuple[Profile, str]:
    file = folder / "printed"
    with file.open("w") as stream:
        profile = record(command, folder=folder, timeout=600, stdout=stream)
    return profile, file.read_text()


@pytest.mark.parametrize("chained", [False, True], ids=["PMPI", "next"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_tool_and_the_recorder_both_count_every_call(
    mpi: Mpi, place: str, chained: bool, tmp_path: Path
) -> None:
    command = mpi.command(4, *build_with_tool(mpi, place, chained))
    expected = check_output(command)
    assert "tool: 3 received" in expected
    profile, output = record_with_output(command, tmp_path)
    assert output == expected
    assert profile.exit_status == 0
    assert not profile.partial
    assert pairs(profile.point_to_point()) == PASSED


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_internal_messages_of_mpi_file_writes_are_not_counted(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = build_program(mpi, UNUSUAL / "chain_and_file_write.c")
    launcher, *words = mpi.command(4, program, tmp_path / "file")
    command = [launcher, *ROMIO[mpi.name], *words]
    profile = record(command, folder=tmp_path, timeout=600)
    assert (tmp_path / "file").stat().st_size == 400
    assert pairs(profile.point_to_point()) == PASSED
    assert not len(profile.records)
    assert not profile.lost


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_eztrace_traces_a_recorded_program(mpi: Mpi, tmp_path: Path) -> None:
    eztrace = need("eztrace", "apt-get install eztrace")
    program = build_program(mpi, UNUSUAL / "chain_and_file_write.c")

    def record_calls(name: str) -> list[str]:
        words = [eztrace, "-t", mpi.name, "-o", tmp_path / name, program]
        return mpi.command(4, *words)

    def list_trace_files(name: str) -> list[Path]:
        folder = tmp_path / name
        return sorted(file.relative_to(folder) for file in folder.rglob("*.evt"))

    check_output(record_calls("alone"))
    profile = record(record_calls("beside"), folder=tmp_path, timeout=600)
    assert len(list_trace_files("alone")) >= 4
    assert list_trace_files("beside") == list_trace_files("alone")
    # EZTrace precedes the recorder and sends its own messages.
    sent = pairs(profile.point_to_point())
    assert all(sent[pair][0] >= size for pair, (size, _) in PASSED.items())
