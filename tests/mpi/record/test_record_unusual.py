# SPDX-License-Identifier: BSD-3-Clause
"""Programs are recorded even if they exit, jump out of calls or spawn unusually."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mpis import (
    MPICH,
    MPICH_5,
    MPIS,
    OPEN_MPI_4,
    OPEN_MPI_5,
    PROGRAMS,
    Mpi,
    build_program,
    pairs,
    record_run,
)
from own_process import topoloom

from topoloom import Error
from topoloom.preload.record import NothingRecorded, record
from topoloom.preload.record.recorder_library import build_recorder

UNUSUAL = PROGRAMS / "unusual"
RING = {(rank, (rank + 1) % 3): (10, 1) for rank in range(3)}
#: Debian's MPICH cannot spawn.
SPAWNING = [OPEN_MPI_4, OPEN_MPI_5, MPICH_5]
ENDS = {
    "segv": "ended by SIGSEGV",
    "stack": "ended by SIGSEGV",
    "abort": "ended by SIGABRT",
    "_exit": "called _exit(4)",
    "quick": "called quick_exit(5)",
    "exit": "called exit(6)",
    "mpi_abort": "called MPI_Abort with code 7",
    "main": "returned from main without MPI_Finalize",
}


def get_mpi_name(mpi: Mpi) -> str:
    return mpi.name


@pytest.fixture(params=MPIS, ids=get_mpi_name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


@pytest.fixture
def unusual_exits(mpi: Mpi) -> Path:
    return build_program(mpi, UNUSUAL / "unusual_exits.c")


@pytest.mark.parametrize("how", ENDS)
def test_the_cause_of_an_exit_is_reported_and_all_counts_are_saved(
    mpi: Mpi, how: str, unusual_exits: Path, tmp_path: Path
) -> None:
    profile = record(mpi.command(3, unusual_exits, how), folder=tmp_path, timeout=600)
    assert profile.exit_status
    assert profile.ends == {ENDS[how]: [1]}
    assert profile.partial == [0, 1, 2]
    assert pairs(profile.point_to_point()) == RING


@pytest.mark.parametrize("mpi", [*MPIS, MPICH_5], ids=get_mpi_name)
@pytest.mark.parametrize("how", ["error", "receive"])
def test_a_fatal_error_of_mpi_is_reported(mpi: Mpi, how: str, tmp_path: Path) -> None:
    program = build_program(mpi, UNUSUAL / "unusual_exits.c")
    command = mpi.command(3, program, how)
    profile = record(command, folder=tmp_path, timeout=600)
    assert profile.ends == {"ended by MPI, for an error that it printed": [1]}
    assert pairs(profile.point_to_point()) == RING
    # Under Hydra, the status can be that of a rank that Hydra killed.
    assert profile.exit_status


def test_no_program_sees_the_error_handler_for_fatal_errors(
    mpi: Mpi, unusual_exits: Path, tmp_path: Path
) -> None:
    profile = record_run(mpi, 2, unusual_exits, "handler", folder=tmp_path)
    assert not profile.ends


def test_a_rank_killed_by_mpich_leaves_only_status_marks(tmp_path: Path) -> None:
    program = build_program(MPICH, UNUSUAL / "unusual_exits.c")
    output = record_nothing(MPICH.command(3, program, "kill"), tmp_path)
    assert "3 of 3 ranks reached MPI_Init, but were killed (SIGKILL)" in output


def test_a_killed_rank_is_distinguished_from_one_that_never_started(
    tmp_path: Path,
) -> None:
    program = build_program(OPEN_MPI_4, UNUSUAL / "unusual_exits.c")
    profile = record(OPEN_MPI_4.command(3, program, "kill"), folder=tmp_path)
    # mpirun then kills the other ranks, possibly before they write their counts.
    assert 1 in profile.missing
    killed = "reached MPI_Init, then was killed (SIGKILL) or lost"
    assert profile.ends == {killed: profile.missing}


def test_finalizing_in_an_exit_handler_works(
    mpi: Mpi, unusual_exits: Path, tmp_path: Path
) -> None:
    profile = record_run(mpi, 3, unusual_exits, "atexit", folder=tmp_path)
    assert pairs(profile.point_to_point()) == RING
    assert not profile.ends


def test_the_time_limit_does_not_resume_a_sleeping_program(
    mpi: Mpi, unusual_exits: Path, tmp_path: Path
) -> None:
    went_on = tmp_path / "went on"
    command = mpi.command(3, unusual_exits, "sleep", went_on)
    for limit in (3, 20, 120):  # on busy cores, ranks start late
        try:
            profile = record(command, folder=tmp_path, timeout=limit)
        except NothingRecorded:
            continue
        if pairs(profile.point_to_point()) == RING:
            break
    assert not went_on.exists()
    assert pairs(profile.point_to_point()) == RING
    assert profile.ends == {f"cut short by the time limit of {limit} s": [0, 1, 2]}


@pytest.mark.parametrize("how", ["throw", "jump"])
def test_counting_continues_after_longjmp_or_exception_out_of_a_call(
    mpi: Mpi, how: str, tmp_path: Path
) -> None:
    program = build_program(mpi, UNUSUAL / "jumps.cpp")
    profile = record_run(mpi, 3, program, how, folder=tmp_path)
    expected = {pair: (3 * size, 3 * count) for pair, (size, count) in RING.items()}
    assert pairs(profile.point_to_point()) == expected


@pytest.mark.parametrize(
    ("mpi", "child"),
    [
        pytest.param(mpi, child, id=f"{mpi.name}-{child}")
        for mpi in SPAWNING
        for child in ("finalize", "exit")
        # Elsewhere, a child that exits ends its parent, even without the recorder:
        # always under Open MPI 5, and mostly under MPICH on a busy machine.
        if child == "finalize" or mpi is OPEN_MPI_4
    ],
)
def test_a_spawned_program_does_not_replace_its_parent(
    mpi: Mpi, child: str, tmp_path: Path
) -> None:
    program = build_program(mpi, UNUSUAL / "spawns.c")
    profile = record(mpi.command(2, program, child), folder=tmp_path, timeout=600)
    assert profile.rank_count == 2
    assert not profile.partial
    assert pairs(profile.point_to_point()) == {(0, 1): (10, 1), (1, 0): (10, 1)}
    # One barrier on the intercommunicator, five of rank 0 and the child.
    assert profile.lost == 6


@pytest.mark.parametrize("mpi", SPAWNING, ids=get_mpi_name)
def test_reorder_does_not_change_spawned_programs(mpi: Mpi) -> None:
    program = build_program(mpi, UNUSUAL / "spawns.c")
    done = topoloom(
        "run", "--apply", "topologies", "--", *mpi.command(2, program, "finalize")
    )
    assert done.returncode == 0, done.stderr
    ours = [line for line in done.stderr.splitlines() if "topoloom" in line]
    assert len(ours) == 1, ours


@pytest.mark.parametrize(
    ("first", "second"), [("atexit", "segv"), ("segv", "atexit"), ("kill", "segv")]
)
def test_two_programs_are_refused_in_any_order_of_exit(
    first: str, second: str, tmp_path: Path
) -> None:
    program = build_program(MPICH, UNUSUAL / "unusual_exits.c")
    script = tmp_path / "job.sh"
    lines = [" ".join(MPICH.command(2, program, how)) for how in (first, second)]
    script.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    script.chmod(0o755)
    with pytest.raises(Error, match="ran 2 MPI programs"):
        record([str(script)], mpicc=MPICH.compilers[".c"], folder=tmp_path)


def record_nothing(command: list[str], folder: Path, mpicc: str | None = None) -> str:
    with pytest.raises(NothingRecorded) as caught:
        record(command, mpicc=mpicc, folder=folder, timeout=600)
    return str(caught.value)


def test_an_empty_recording_is_reported_with_its_cause(tmp_path: Path) -> None:
    """Each program records nothing for a different reason."""
    ends = build_program(OPEN_MPI_4, UNUSUAL / "unusual_exits.c")
    early = record_nothing(OPEN_MPI_4.command(2, ends, "before"), tmp_path)
    assert "(exit status 3): the command failed before MPI_Init" in early
    assert "loaded into unusual_exits.openmpi, which did not call MPI_Init" in early

    late = f"import ctypes; m = ctypes.CDLL('{mpi_library()}', ctypes.RTLD_GLOBAL)"
    late += "; m.MPI_Init(None, None); m.MPI_Finalize()"
    loading = record_nothing(
        OPEN_MPI_4.command(1, sys.executable, "-c", late), tmp_path
    )
    assert "looks up MPI_Init itself (dlopen, dlsym)" in loading

    without = record_nothing(
        OPEN_MPI_4.command(1, sys.executable, "-c", "pass"), tmp_path
    )
    assert "if it is a program of PyTorch, add --torch" in without
    assert "--torch" not in early
    unknown = "neither a known launcher nor linked with MPI; .* PyTorch, add --torch"
    with pytest.raises(Error, match=unknown):
        record([sys.executable, "-c", "pass"], folder=tmp_path)

    launcher = OPEN_MPI_4.command(1)[0]
    crowded = record_nothing([launcher, "-n", "1000", str(ends)], tmp_path)
    assert f"{Path(launcher).name} exited before it started any rank: " in crowded
    assert "not enough slots available in the system to satisfy the 1000" in crowded

    mixed = record_nothing(MPICH.command(2, ends, "atexit"), tmp_path)
    assert f"{ends.name} is linked with Open MPI 4." in mixed
    assert "belongs to MPICH (Hydra) 4" in mixed
    assert "start it with the launcher of Open MPI 4." in mixed

    sessions = build_program(OPEN_MPI_5, PROGRAMS / "sessions.c")
    alone = record_nothing(OPEN_MPI_5.command(2, sessions), tmp_path)
    assert "uses MPI sessions alone" in alone

    cleared = ["env", "-u", "LD_PRELOAD", str(ends), "atexit"]
    inside = record_nothing(OPEN_MPI_4.command(2, *cleared), tmp_path)
    assert "which did not call MPI_Init" in inside
    assert "loaded into env" in inside


def mpi_library() -> str:
    shown = subprocess.run(
        ["ldd", build_recorder(Path("/usr/bin/mpicc.openmpi"))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return next(line.split()[2] for line in shown.splitlines() if "libmpi.so" in line)


def test_a_folder_with_a_space_works_and_a_cache_with_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = build_program(OPEN_MPI_4, UNUSUAL / "unusual_exits.c")
    spaced = tmp_path / "a b:c"
    spaced.mkdir()
    for mpi in (OPEN_MPI_4, MPICH, OPEN_MPI_5):
        program = build_program(mpi, UNUSUAL / "unusual_exits.c")
        profile = record_run(mpi, 3, program, "atexit", folder=spaced)
        assert pairs(profile.point_to_point()) == RING
    monkeypatch.setenv("XDG_CACHE_HOME", str(spaced))
    command = OPEN_MPI_4.command(3, program, "atexit")
    with pytest.raises(Error, match=r"a b:c/topoloom' contains a space or a colon"):
        record(command, folder=tmp_path)


def test_a_command_that_ends_before_mpi_init_is_reported(
    tmp_path: Path,
) -> None:
    with pytest.raises(NothingRecorded) as caught:
        record(["sleep", "600"], mpicc="mpicc.openmpi", folder=tmp_path, timeout=0.2)
    assert "it was terminated after 0.2 s; until then, " in str(caught.value)
    assert caught.value.exit_status == 128 + signal.SIGTERM
