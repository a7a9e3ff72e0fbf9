# SPDX-License-Identifier: BSD-3-Clause
"""A command that fails or is interrupted before its ranks report."""

from __future__ import annotations

import pytest

from topoloom.launch.apply.run_program import run_program
from topoloom.launch.launcher import Launch
from topoloom.preload.record.status_log import StatusLog, explain_no_counts
from topoloom.preload.verify.verify_agent import explain_missing_report
from topoloom.support.signal_status import INTERRUPTED

#: Starts of guesses about programs that run and end with status 0.
GUESSES = ("statically", "LD_PRELOAD", "--mpicc")


@pytest.mark.parametrize(
    ("signal", "end", "status"),
    [("INT", 1, 130), ("TERM", 1, 143), ("INT", 0, 0), ("USR1", 1, 1)],
)
def test_the_status_of_an_interrupted_launcher_names_the_signal(
    signal: str, end: int, status: int
) -> None:
    """Open MPI's mpirun ends with status 1 after Ctrl-C."""
    trap = f"trap : {signal}; kill -{signal} $PPID; sleep 0.2; exit {end}"
    assert run_program(Launch(["sh", "-c", trap])) == status


def test_a_command_that_fails_first_is_named() -> None:
    failed = [explain_no_counts(StatusLog(), 1), explain_missing_report(1)]
    assert failed == [
        "the command failed, and no rank reported; see what it printed",
        "the command ended with status 1 before its ranks reported",
    ]
    assert "statically" in explain_no_counts(StatusLog(), 0)
    assert "--mpicc" in explain_missing_report(0)


def test_an_interrupted_command_is_not_explained() -> None:
    log = StatusLog(programs={"/usr/bin/app"})
    told = [
        explain_no_counts(log, INTERRUPTED),
        explain_missing_report(INTERRUPTED),
    ]
    assert all(one.startswith("the command was interrupted before") for one in told)
    assert not any(guess in one for guess in GUESSES for one in told)
