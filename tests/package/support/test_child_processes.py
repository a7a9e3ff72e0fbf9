# SPDX-License-Identifier: BSD-3-Clause
"""Child processes end with Topoloom, whenever a signal arrives."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from topoloom.support import child_processes


@pytest.mark.parametrize(
    ("number", "raised"),
    [
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGTERM, SystemExit),
        (signal.SIGHUP, SystemExit),
        (signal.SIGQUIT, SystemExit),
    ],
)
def test_a_signal_while_a_child_starts_ends_the_child(
    number: signal.Signals,
    raised: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    class SignallingPopen(subprocess.Popen[str]):
        """Sends the signal before the caller gets the child process."""

        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self)
            os.kill(os.getpid(), number)

    # Background processes ignore Ctrl-C, so the handler is restored.
    monkeypatch.setattr(signal, "default_int_handler", signal.getsignal(signal.SIGINT))
    before = [signal.getsignal(each) for each in (number, signal.SIGTERM)]
    monkeypatch.setattr(child_processes.subprocess, "Popen", SignallingPopen)
    with pytest.raises(raised):
        child_processes.run_child(["sleep", "600"])
    (child,) = started
    assert child.returncode == -signal.SIGTERM
    assert before == [signal.getsignal(each) for each in (number, signal.SIGTERM)]


@pytest.mark.parametrize("is_late", [False, True])
def test_a_command_that_waits_after_a_failure_is_ended(
    is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_processes, "_POLL_SECONDS", 0.05)
    monkeypatch.setattr(child_processes, "_SECONDS_TO_FAIL", 0.1)
    wait = "sleep 600" if is_late else "exit 3"
    script = f"trap 'exit 0' TERM; echo lost >&2; {wait} & wait $!"
    done = child_processes.run_child(
        ["sh", "-c", script], has_failed=lambda errors: errors == "lost\n"
    )
    assert done.returncode == (-signal.SIGTERM if is_late else 3)
    assert done.stderr == "lost\n"


def test_a_missing_program_is_an_error_and_leaves_no_handler() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(FileNotFoundError):
        child_processes.run_child(["/nowhere/at/all"])
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", "no output"),
        ("\n  ==\nfirst line\nsecond\n", "first line"),
        ("warning\ntopoloom: the cause\n", "the cause"),
        ("[1 xbt/INFO] started\nerror\n", "error"),
        (
            "-----\nThere are not enough slots to satisfy the 8\nslots that were "
            "requested:\n\n  ./app\n-----\n",
            "There are not enough slots to satisfy the 8 slots that were requested:",
        ),
        ("-----\nonly this\n-----\nnot that\n", "only this"),
    ],
)
def test_the_error_line_of_a_launcher_is_a_paragraph(output: str, line: str) -> None:
    assert child_processes.find_error_line(output) == line
