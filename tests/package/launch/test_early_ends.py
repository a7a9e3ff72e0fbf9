# SPDX-License-Identifier: BSD-3-Clause
"""A command that fails or is interrupted before its ranks report."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from topoloom.launch.apply.launcher_failure import find_loader_error
from topoloom.launch.apply.run_program import run_program
from topoloom.launch.launcher import Launch
from topoloom.preload.record.status_log import (
    StatusLog,
    explain_no_counts,
    read_status_log,
)
from topoloom.preload.verify.verify_agent import explain_missing_report
from topoloom.support.ending_signals import hold_signals
from topoloom.support.signal_status import INTERRUPTED

#: Starts of guesses about programs that run and end with status 0.
GUESSES = ("ldd", "statically", "LD_PRELOAD", "--mpicc")


@pytest.mark.parametrize(
    ("name", "end", "status"),
    [
        ("INT", 1, 130),
        ("TERM", 1, 143),
        ("HUP", 1, 129),
        ("QUIT", 1, 131),
        ("INT", 0, 0),
        ("USR1", 1, 1),
    ],
)
def test_the_status_of_an_interrupted_launcher_names_the_signal(
    name: str, end: int, status: int
) -> None:
    """Open MPI's mpirun ends with status 1 after Ctrl-C."""
    trap = f"trap : {name}; kill -{name} $PPID; sleep 0.2; exit {end}"
    assert run_program(Launch(["sh", "-c", trap])) == status


def test_no_command_starts_after_a_signal_that_ends_commands(tmp_path: Path) -> None:
    with hold_signals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        touch = Launch(["touch", str(tmp_path / "started")])
        assert run_program(touch, signals=signals) == 128 + signal.SIGTERM
    assert not (tmp_path / "started").exists()


def test_a_command_that_fails_first_is_named() -> None:
    failed = [explain_no_counts(StatusLog(), 1), explain_missing_report(1)]
    assert failed == [
        "the command failed, and no rank reported; see what it printed",
        "the command ended with status 1 before its ranks reported",
    ]
    assert "check with ldd" in explain_no_counts(StatusLog(), 0)
    assert "--mpicc" in explain_missing_report(0)


def test_an_interrupted_command_is_not_explained() -> None:
    log = StatusLog(programs={"/usr/bin/app"})
    told = [
        explain_no_counts(log, INTERRUPTED),
        explain_missing_report(INTERRUPTED),
    ]
    assert all(one.startswith("the command was interrupted before") for one in told)
    assert not any(guess in one for guess in GUESSES for one in told)


def test_a_static_program_is_named_only_if_that_was_checked() -> None:
    explained = [
        explain_no_counts(StatusLog(programs=programs, flags=flags), status)
        for programs in (set[str](), {"/usr/bin/app"})
        for flags in (set[str](), {"other"}, {"sessions"}, {"unseen"})
        for status in (0, 1, INTERRUPTED)
    ]
    assert not any("static" in one for one in explained)


def test_causes_have_lines_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "log-n1").write_text("loaded /a/app\nstarted 7 0 2\nstarted 7 1 2\n")
    log = read_status_log(tmp_path)
    assert explain_no_counts(log, 0) == (
        "2 of 2 ranks reached MPI_Init, but were killed (SIGKILL) before they could "
        "leave their counts"
    )
    assert explain_no_counts(log, 0, tmp_path) == (
        f"the disk of {tmp_path} is full, so ranks cannot leave their counts"
    )
    with (tmp_path / "log-n1").open("a") as file:
        file.write("loaded /a/other\n")
    replaced = explain_no_counts(read_status_log(tmp_path), 0)
    assert "other started after that: probably the ranks replaced" in replaced


def test_the_loaders_message_is_the_cause() -> None:
    text = (
        "ERROR: ld.so: object '/c/record-1.so' from LD_PRELOAD cannot be preloaded "
        "(wrong ELF class: ELFCLASS64): ignored.\n"
    )
    assert find_loader_error(text, Path("/c/record-1.so")) == (
        "the dynamic loader cannot preload /c/record-1.so: wrong ELF class: ELFCLASS64"
    )
    assert find_loader_error(text, Path("/c/tool.so")) is None
