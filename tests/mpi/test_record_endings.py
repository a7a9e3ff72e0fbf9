# SPDX-License-Identifier: BSD-3-Clause
"""The recorder saves counts at any kind of exit without disturbing the program."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
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
    pairs,
)
from own_process import TOPOLOOM, topoloom
from several_hosts import SeveralHosts

from topoloom import Error
from topoloom.graphs.profile import Profile, load_profile
from topoloom.preload.record import NothingRecorded, read_recording, record
from topoloom.preload.record.live_ranks import find_ranks
from topoloom.preload.record.recorder_library import build_recorder
from topoloom.preload.shim import add_preload, find_compiler, find_launcher
from topoloom.support.ending_signals import ENDING_SIGNALS

RING = {(rank, (rank + 1) % 4): (10, 1) for rank in range(4)}


@pytest.fixture
def ending_program() -> Path:
    return build_program(OPEN_MPI_4, PROGRAMS / "ending.c")


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("how", ["abort", "exit"])
def test_every_rank_writes_its_counts_without_mpi_finalize(
    mpi: Mpi, how: str, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    profile = record(mpi.command(4, program, how), folder=tmp_path, timeout=600)
    assert profile.partial == [0, 1, 2, 3]
    assert not profile.missing
    assert pairs(profile.point_to_point()) == RING
    assert not list(tmp_path.glob(".topoloom-record-*"))


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_the_counts_of_a_terminated_job_are_saved(mpi: Mpi, tmp_path: Path) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    ready = tmp_path / "ready"

    def end_process() -> None:
        for _ in range(3000):
            if ready.exists():
                # `record` forwards the signal to the job.
                os.kill(os.getpid(), signal.SIGTERM)
                return
            time.sleep(0.02)

    with ThreadPoolExecutor() as pool:
        pool.submit(end_process)
        profile = record(mpi.command(4, program, "wait", ready), folder=tmp_path)
    assert profile.exit_status == 128 + signal.SIGTERM
    assert profile.partial == [0, 1, 2, 3]
    assert pairs(profile.point_to_point()) == RING


def test_a_job_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(NothingRecorded, match="exit status 143"):
        record(["sleep", "600"], mpicc="mpicc.openmpi", folder=tmp_path, timeout=0.1)


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_the_exit_status_is_that_of_the_program(mpi: Mpi, tmp_path: Path) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    profile = record(mpi.command(4, program, "status", 5), folder=tmp_path)
    assert profile.exit_status == 5
    assert not profile.partial


def test_ranks_whose_counts_are_lost_are_named(
    ending_program: Path, tmp_path: Path
) -> None:
    notes, variables, command = prepare_recording(
        OPEN_MPI_4, ending_program, "exit", tmp_path
    )
    subprocess.run(command, env=variables, capture_output=True, check=False)
    next(notes.glob("partial-2-*")).unlink()
    profile = read_recording(notes)
    assert profile.missing == [2]
    assert profile.partial == [0, 1, 3]


def test_counts_are_saved_if_no_graph_can_be_made_from_them(tmp_path: Path) -> None:
    def fail(_profile: Profile) -> None:
        raise MemoryError("no memory for the graph")

    program = build_program(OPEN_MPI_4, PROGRAMS / "ending.c")
    command = OPEN_MPI_4.command(4, program, "status", 0)
    with pytest.raises(Error, match="for the graph; the recordings of") as caught:
        record(command, folder=tmp_path, then=fail)
    [kept] = tmp_path.glob("topoloom-record-*")
    assert f"are in {kept}: " in str(caught.value)
    assert read_recording(kept).rank_count == 4
    assert not list(tmp_path.glob(".topoloom-record-*"))


@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_interrupting_topoloom_ends_the_job_and_keeps_its_counts(
    number: signal.Signals, ending_program: Path, tmp_path: Path
) -> None:
    output = tmp_path / "app.npz"
    command = [
        *TOPOLOOM,
        "record",
        "-o",
        output,
        "--",
        *OPEN_MPI_4.command(4, ending_program, "wait"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "waiting\n"
        job.send_signal(number)
        _, errors = job.communicate(timeout=600)
    assert job.returncode == 128 + number
    assert "topoloom: ranks 0-3 ended before MPI_Finalize" in errors
    assert pairs(load_profile(output).point_to_point()) == RING
    assert list(tmp_path.iterdir()) == [output]


def test_a_signal_after_the_job_does_not_lose_its_counts(
    ending_program: Path, tmp_path: Path
) -> None:
    profile = record(
        OPEN_MPI_4.command(4, ending_program, "finalize"),
        folder=tmp_path,
        then=lambda _: os.kill(os.getpid(), signal.SIGTERM),
    )
    assert profile.exit_status == 0
    assert pairs(profile.point_to_point()) == RING
    assert not list(tmp_path.iterdir())


#: Signals that each MPI, or UCX below it, handles itself: its ranks do not end.
HANDLED = {OPEN_MPI_5: {signal.SIGHUP}, MPICH: {signal.SIGHUP, signal.SIGUSR1}}
DEADLY = [
    (mpi, number)
    for mpi in MPIS
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1)
    if number not in HANDLED.get(mpi, ())
]


@pytest.mark.parametrize(
    ("mpi", "number"), DEADLY, ids=lambda each: getattr(each, "name", None)
)
def test_a_signal_to_a_rank_loses_no_counts(
    mpi: Mpi, number: signal.Signals, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    command = mpi.command(4, program, "raise", int(number))
    profile = record(command, folder=tmp_path, timeout=600)
    assert profile.exit_status
    assert profile.partial == [0, 1, 2, 3]
    assert pairs(profile.point_to_point()) == RING


def test_counts_outlive_topoloom(ending_program: Path, tmp_path: Path) -> None:
    output = tmp_path / "app.npz"
    launcher_name, *words = OPEN_MPI_4.command(4, ending_program, "wait")
    # By default ranks have 1 s to write: on a busy host that can be too little.
    patience = ["--mca", "odls_base_sigkill_timeout", "4"]
    job = [launcher_name, *patience, *words]
    command = [*TOPOLOOM, "record", "-o", output, "--", *job]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        [launcher] = map(int, children.split())
        # A launcher gets SIGTERM when topoloom is killed; this one acts later.
        os.kill(launcher, signal.SIGSTOP)
        process.kill()
        [left] = tmp_path.glob(".topoloom-record-*")
        running = topoloom("record", "-o", output, "--recover", left)
        assert f"{left}: the job still runs" in running.stderr
        os.kill(launcher, signal.SIGCONT)
        process.stdout.read()  # until the launcher ends
        while find_ranks(left):
            time.sleep(0.01)
    later = topoloom("record", "-o", output, "--", "true")
    assert f"topoloom: {left} is left from a killed recording" in later.stderr
    recovered = topoloom("record", "-o", output, "--recover", left)
    assert recovered.returncode == 0, recovered.stderr
    assert pairs(load_profile(output).point_to_point()) == RING
    assert not left.exists()


def prepare_recording(
    mpi: Mpi, program: Path, how: str, folder: Path
) -> tuple[Path, dict[str, str], list[str]]:
    """Prepare the command that `record` runs."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    command = mpi.command(4, program, how)
    launcher = find_launcher(command)
    library = build_recorder(find_compiler(launcher))
    variables = {"TOPOLOOM_RECORD": str(notes)}
    words, environment = add_preload(
        launcher, command, [library], variables, os.environ
    )
    return notes, environment, words


def test_a_signal_while_counts_are_written_does_not_lose_them(
    ending_program: Path, tmp_path: Path
) -> None:
    for attempt in range(4):
        notes, environment, command = prepare_recording(
            OPEN_MPI_4, ending_program, "wait", tmp_path / str(attempt)
        )
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as job:
            assert job.stdout is not None
            assert job.stdout.readline() == b"waiting\n"
            ranks = find_ranks(notes)
            for rank in ranks:  # as its peers do when one rank ends
                os.kill(rank, signal.SIGURG)
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGTERM)
        assert pairs(read_recording(notes).point_to_point()) == RING


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_program_whose_counts_cannot_be_written_runs_as_usual(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    notes, environment, command = prepare_recording(mpi, program, "finalize", tmp_path)
    notes.rmdir()
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0
    assert done.stdout == ""
    ours = [line for line in done.stderr.splitlines() if "topoloom" in line]
    assert ours == [f"topoloom: not recorded: cannot write into {notes}"]


@pytest.mark.parametrize(("mpi", "other"), [(OPEN_MPI_4, MPICH), (MPICH, OPEN_MPI_4)])
def test_a_program_of_another_mpi_runs_as_usual(
    mpi: Mpi, other: Mpi, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "ending.c")
    with pytest.raises(NothingRecorded, match="different MPIs") as caught:
        record(
            mpi.command(2, program, "status", 4),
            mpicc=other.compilers[".c"],
            folder=tmp_path,
        )
    assert caught.value.exit_status == 4


@pytest.mark.parametrize(("mpi", "other"), [(OPEN_MPI_4, MPICH), (MPICH, OPEN_MPI_4)])
def test_a_fortran_program_of_another_mpi_runs_as_usual(
    mpi: Mpi, other: Mpi, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "calls.f90")
    compiler = other.compilers[".c"]
    with pytest.raises(NothingRecorded, match="different MPIs") as caught:
        record(mpi.command(4, program), mpicc=compiler, folder=tmp_path)
    assert caught.value.exit_status == 0


def test_a_script_that_calls_mpirun_is_recorded(
    ending_program: Path, tmp_path: Path
) -> None:
    script = tmp_path / "job.sh"
    line = " ".join(OPEN_MPI_4.command(4, ending_program, "finalize"))
    script.write_text(f"#!/bin/sh\necho begin | cat\n{line}\n")
    script.chmod(0o755)
    compiler = OPEN_MPI_4.compilers[".c"]
    profile = record([str(script)], mpicc=compiler, folder=tmp_path)
    assert pairs(profile.point_to_point()) == RING


def test_a_command_with_several_parts_is_recorded(
    ending_program: Path, tmp_path: Path
) -> None:
    one = OPEN_MPI_4.command(1, ending_program, "finalize")
    command = [*one, ":", "-n", "3", str(ending_program), "finalize"]
    profile = record(command, folder=tmp_path)
    assert pairs(profile.point_to_point()) == RING


def test_ranks_on_several_hosts_are_recorded(
    several_hosts: SeveralHosts, tmp_path: Path
) -> None:
    compiler = several_hosts.mpi.mpicc
    words = [compiler, "-w", PROGRAMS / "ending.c", NAP_SOURCE]
    program = compile_program("ending", words)
    hosts = "alpha:2,beta:2"
    option = "-hosts" if several_hosts.mpi.is_hydra else "--host"
    command = several_hosts.command(option, hosts, "-n", 4, program, "finalize")
    profile = record(command, mpicc=compiler, folder=tmp_path, timeout=600)
    assert pairs(profile.point_to_point()) == RING


def test_a_program_without_mpi_is_refused_with_its_status(tmp_path: Path) -> None:
    with pytest.raises(NothingRecorded, match="ran no MPI program") as caught:
        record(["sh", "-c", "exit 3"], mpicc="mpicc.openmpi", folder=tmp_path)
    assert caught.value.exit_status == 3


def test_a_script_with_an_unknown_mpi_is_not_started(tmp_path: Path) -> None:
    script, ran = tmp_path / "job.sh", tmp_path / "ran"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    with pytest.raises(Error, match="name its compiler with --mpicc"):
        record([str(script)], folder=tmp_path)
    assert not ran.exists()


def test_a_missing_program_or_compiler_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    with pytest.raises(Error, match="cannot run 'no-such-mpirun'"):
        record(["no-such-mpirun", "-n", "2", "./app"], folder=tmp_path)
    with pytest.raises(Error, match="no compiler 'no-such-mpicc'"):
        record(["true"], mpicc="no-such-mpicc", folder=tmp_path)
    with pytest.raises(Error, match="no command; write"):
        record([], folder=tmp_path)
    with pytest.raises(Error, match="cannot write into"):
        record(["true"], mpicc="mpicc.openmpi", folder=tmp_path / "nowhere")


def test_a_compiler_without_mpi_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        Error, match=r"cannot compile the library to preload: .*mpi\.h"
    ) as caught:
        record(["true"], mpicc="cc", folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_part_that_cannot_be_recorded_is_refused_because_others_would_wait(
    tmp_path: Path,
) -> None:
    source, static = tmp_path / "nothing.c", tmp_path / "static"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["cc", "-static", source, "-o", static], check=True)
    program = build_program(OPEN_MPI_4, PROGRAMS / "ending.c")
    parts = [program, "status", "0", ":", "-n", "1", static]
    with pytest.raises(Error, match=f"{static} is linked statically"):
        record(OPEN_MPI_4.command(1, *parts), folder=tmp_path)
