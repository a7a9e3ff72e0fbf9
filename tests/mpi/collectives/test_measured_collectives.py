# SPDX-License-Identifier: BSD-3-Clause
"""Schedules are timed under a launcher and compared with MPI's collectives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from built_libraries import compile_with_collectives
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, SIMGRID, Mpi, need
from own_process import TOPOLOOM
from several_hosts import SECONDS
from simulated_hosts import hosts_options

from smpi import SETTINGS
from topoloom.preload.collective_timing import MPI_OWN
from topoloom.schedules.call_trace import CallTrace
from topoloom.schedules.choose import Call, list_schedule_names, operations
from topoloom.tasks.collectives.measure import fastest, measure_collective

if TYPE_CHECKING:
    from tests.conftest import Command

RANKS = 6
#: Simulated calls.
MACHINE = "fattree:16,bandwidth=10GB/s,latency=1us"
#: Schedules in which all ranks send and receive equally many messages.
EQUAL_ROUNDS = {"at-once", "cyclic", "bruck"}
ALLTOALL = Call("alltoall", RANKS, 0)


@pytest.fixture(scope="module")
def simulated_command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return SimGrid's launcher with its options, without the number of ranks."""
    folder = tmp_path_factory.mktemp("platform")
    options = hosts_options(folder, 16, SETTINGS)
    return [need(SIMGRID.mpirun, SIMGRID.install), *options]


def test_simulated_times_equal_the_predicted_ones(
    topoloom: Command, simulated_command: list[str]
) -> None:
    files = ["-o", "samples", "--decisions", "table", "--figure", "bars.svg"]
    done = topoloom(
        *("collective", "measure", "alltoall", "-n", RANKS, "--bytes", "64,4KiB"),
        "--json",
        *("--model", "simgrid", "--machine", MACHINE, "--repeats", 3, *files),
        *("--timeline", "call.svg", "--", *simulated_command, "-n", RANKS),
    )
    assert done.status == 0, done.err
    assert [one["bytes"] for one in done.json["sizes"]] == [64, 4096]
    best = []
    for size in done.json["sizes"]:
        found = size["schedules"]
        call = ALLTOALL._replace(bytes=size["bytes"])
        assert {one["name"] for one in found} == {MPI_OWN, *list_schedule_names(call)}
        medians = [one["median_seconds"] for one in found]
        assert medians == sorted(medians)
        ours = [one for one in found if one["name"] != MPI_OWN]
        best.append(ours[0]["name"])
        for one in ours:
            # The model assumes that all ranks wait for the slowest one in each round.
            close = 0.01 if one["name"] in EQUAL_ROUNDS else 0.1
            predicted = pytest.approx(one["predicted_seconds"], rel=close)
            assert one["median_seconds"] == predicted, one
            low, high = one["interval_seconds"]
            assert low <= one["median_seconds"] <= high
    samples = [json.loads(line) for line in Path("samples").read_text().splitlines()]
    count = sum(len(size["schedules"]) for size in done.json["sizes"])
    assert len(samples) == 3 * count
    assert all(one["seconds"] > 0 for one in samples)
    lines = json.loads(Path("table").read_text())["decisions"]
    assert [line["schedule"] for line in lines] == list(dict.fromkeys(best))
    assert lines[0]["bytes"] == 1
    for picture in ("bars.svg", "call.svg"):
        assert Path(picture).read_text().startswith("<?xml")


@pytest.mark.parametrize(
    "operation", [name for name in operations() if not name.startswith("many")]
)
def test_every_schedule_of_every_operation_is_measured(
    operation: str,
    simulated_command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    call = Call(operation, RANKS, 0, root=0 if operation in NO_ROOT else 2)
    sizes = [] if operation == "barrier" else [20, 160]
    launcher = [*simulated_command, "-n", str(RANKS)]
    found = measure_collective(call, sizes, launcher, repeats=2)
    assert [measured[0].bytes for measured in found.sizes] == (sizes or [0])
    for measured in found.sizes:
        names = set(list_schedule_names(call._replace(bytes=measured[0].bytes)))
        assert {one.schedule for one in measured} == {MPI_OWN, *names}
        assert all(len(one.samples) == 2 for one in measured)
        assert min(min(one.samples) for one in measured) > 0


NO_ROOT = {
    *("alltoall", "allgather", "allreduce", "reduce_scatter", "scan", "exscan"),
    "barrier",
}


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_collectives_of_real_ranks_are_measured_and_traced(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = Call("alltoall", 3, 0)
    names = ["bruck", "at-once"]
    launcher = mpi.command(3)
    found = measure_collective(
        call, [64], launcher, None, names, repeats=4, traced=True
    )
    (measured,) = found.sizes
    assert {one.schedule for one in measured} == {MPI_OWN, *names}
    assert all(len(one.samples) == 4 for one in measured)
    assert min(min(one.samples) for one in measured) > 0
    assert found.trace is not None
    check_trace(found.trace, call._replace(bytes=64), fastest(measured).schedule)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("schedule", ["bruck(radix=3)", "pairwise"])
def test_a_trace_has_the_messages_of_the_schedule(
    schedule: str,
    simulated_command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    launcher = [*simulated_command, "-n", str(RANKS)]
    found = measure_collective(
        ALLTOALL, [64], launcher, None, [schedule], repeats=1, traced=True
    )
    trace = found.trace
    assert trace is not None
    check_trace(trace, ALLTOALL._replace(bytes=64), schedule)
    (one,) = (one for one in found.sizes[0] if one.schedule == schedule)
    assert trace.seconds == pytest.approx(one.median, rel=0.05)
    for wait in trace.waits():
        assert wait.ready < wait.sent < wait.receive.end


def test_traced_ranks_wait_in_their_own_order(tmp_path: Path) -> None:
    program = compile_with_collectives(
        OPEN_MPI_4, PROGRAMS / "collectives" / "traced_completion_order.c"
    )
    trace = tmp_path / "calls.jsonl"
    command = OPEN_MPI_4.command(4, program)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
        env={**os.environ, "TOPOLOOM_COLLECTIVES": f"schedule=binomial,trace={trace}"},
    )
    assert done.stdout == "right\n"
    assert [json.loads(line)["operation"] for line in trace.open()] == ["bcast"] * 20


def check_trace(trace: CallTrace, call: Call, schedule: str) -> None:
    """Compare the traced messages of all ranks with the schedule."""
    assert (trace.schedule, trace.bytes, trace.ranks) == (schedule, 64, call.ranks)
    assert sorted(one.rank for one in trace.select("call")) == list(range(call.ranks))
    assert all(one.begin <= one.end for one in trace.events)
    planned: Counter[tuple[int, ...]] = Counter()
    made = call.schedule(schedule)
    for number in range(made.rounds):
        planned.update(zip(*(a.tolist() for a in made.messages(number)), strict=True))
    sent = Counter((one.rank, one.peer, one.bytes) for one in trace.select("send"))
    received = Counter(
        (one.peer, one.rank, one.bytes) for one in trace.select("receive")
    )
    assert sent == received == planned


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the launcher is missing"),
        (["--", "no-such-run"], "cannot run 'no-such-run'"),
        (["--", "false"], "'false' ended with status 1: no output"),
        (["--", "true"], "'true' did not complete the measurement"),
        (
            ["--", "mpirun", "-n", "2", "true"],
            "give only the launcher after --, without 'true'",
        ),
        (["--repeats", 0, "--", "true"], "--repeats must be 1 or more, not 0"),
        (["--schedule", "brukc", "--", "true"], "'brukc'"),
        (["--bytes", "0", "--", "true"], "--bytes must be 1 or more, not 0"),
        (["--bytes", "8,8", "--", "true"], "--bytes has a size twice"),
        (["--bytes", "2GiB", "--", "true"], "or less for MPI"),
    ],
)
def test_invalid_input_is_refused_in_one_line(
    topoloom: Command, words: list[object], message: str
) -> None:
    check_refused(topoloom, message, "alltoall", "-n", 4, *words)


def check_refused(topoloom: Command, message: str, *words: object) -> None:
    """Expect a one-line error and no new file."""
    done = topoloom("collective", "measure", *words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not list(Path().iterdir())


def test_operations_that_cannot_be_measured_are_refused(topoloom: Command) -> None:
    many = ["many-to-many", "-n", 4, "--", "true"]
    check_refused(topoloom, "MPI has no many-to-many to run", *many)
    root = ["bcast", "-n", 4, "--root", 4, "--", "true"]
    check_refused(topoloom, "--root must be one of the ranks 0 to 3", *root)
    wide = ["alltoall", "-n", 65, "--timeline", "x.svg", "--", "true"]
    check_refused(topoloom, "timelines can be drawn for up to 64 ranks, not 65", *wide)


def test_the_launcher_must_start_the_stated_number_of_ranks(
    topoloom: Command, simulated_command: list[str]
) -> None:
    words = ["alltoall", "-n", 4, "--", *simulated_command, "-n", 3]
    check_refused(topoloom, "the launcher starts 3, not 4 ranks", *words)


#: Output of rank 0: two samples of case 0 and of case 1, then a third of case 0.
SAMPLES = "sample 0 2e-6 sample 1 1e-6 sample 0 4e-6 sample 1 3e-6 sample 0 9e-6"


@pytest.mark.parametrize("turns", [0, 2])
def test_an_interrupt_returns_the_completed_repetitions(
    turns: int, tmp_path: Path
) -> None:
    launcher = tmp_path / "slow"
    words = SAMPLES.split()[: 12 if turns else 3]
    lines = " ".join(["printf '%s %s %s\\n'", *words, "sample 1 1e"])
    launcher.write_text(
        f'#!/bin/sh\nfor folder; do :; done\n{lines} | head -c -1 > "$folder/samples"\n'
        "touch started\nexec sleep 60\n"
    )
    launcher.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    compiler = need(MPICH.compilers[".c"], MPICH.install)
    words = ["collective", "measure", "alltoall", "-n", "4", "-o", "samples"]
    words += ["--schedule", "bruck", "--json"]
    process = subprocess.Popen(
        [*TOPOLOOM, *words, "--mpicc", compiler, "--", str(launcher)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + SECONDS
    while not (folder / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert len(errors.splitlines()) == 1
    if not turns:
        assert not printed
        assert [file.name for file in folder.iterdir()] == ["started"]
        return
    assert "interrupted after 2 of 30 calls" in errors
    (size,) = json.loads(printed)["sizes"]
    medians = {one["name"]: one["median_seconds"] for one in size["schedules"]}
    assert medians == pytest.approx({MPI_OWN: 3e-6, "bruck": 2e-6})
    assert len((folder / "samples").read_text().splitlines()) == 4
