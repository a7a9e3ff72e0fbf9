# SPDX-License-Identifier: BSD-3-Clause
"""Runs child processes that end with this process."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom.support.ending_signals import defer_signals

_TERMINATE_SECONDS = 5
_POLL_SECONDS = 0.5
#: Time in which a command may end by itself after a failure.
_SECONDS_TO_FAIL = 5
#: Timeout for system programs; without it, they can retry an absent service for
#: minutes.
_OUTPUT_SECONDS = 30
#: Bytes of output that are stored from its beginning, and from its end.
_KEPT_BYTES = 1 << 15
#: Prefix of messages of Topoloom's programs.
_OWN_PREFIX = "topoloom: "


class Output(NamedTuple):
    """Output and exit status of a program."""

    text: str
    errors: str
    status: int


@contextlib.contextmanager
def redirect_stdout_to(target: int) -> Iterator[None]:
    """Let standard output, also of children, be the file descriptor `target`."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(target, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def run_system_command(*command: str) -> Output:
    """Run a system program for at most 30 s; the status is nonzero after errors."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_OUTPUT_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
            encoding="utf-8",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Output("", str(error), -1)
    return Output(done.stdout, done.stderr, done.returncode)


def run_child(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    timeout: float | None = None,
    has_failed: Callable[[str], bool] = lambda _: False,
) -> subprocess.CompletedProcess[str]:
    """Run a command until it exits; signals to this process end its process group.

    A timeout also ends the process group, and raises `subprocess.TimeoutExpired`. If
    `has_failed` is true of the output on stderr, the command gets 5 s to exit. Then its
    process group is ended, and the result has a nonzero status.
    """
    with defer_signals() as signals:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
            encoding="utf-8",
        )
        with child:
            try:
                signals.release()
                out, errors = _wait_for_output(child, timeout, has_failed)
            except _FailedChildError as error:
                _terminate(child)
                status = child.returncode or -signal.SIGTERM
                return subprocess.CompletedProcess(command, status, "", str(error))
            except BaseException:
                _terminate(child)
                raise
    return subprocess.CompletedProcess(command, child.returncode, out, errors)


class BackgroundChild:
    """A background command; a thread reads its output."""

    def __init__(self, process: subprocess.Popen[bytes], output: int) -> None:
        self.process = process
        self._head, self._tail = bytearray(), bytearray()
        self._reader = threading.Thread(
            target=self._read_pipe, args=(output,), daemon=True
        )
        self._reader.start()

    @property
    def status(self) -> int | None:
        """Exit status of the command; None while it runs."""
        return self.process.poll()

    @property
    def output(self) -> str:
        """First and last bytes of standard output and error."""
        if self.status is not None:
            # Another process can still have the pipe's write end open.
            self._reader.join(_POLL_SECONDS)
        return bytes(self._head + self._tail).decode(errors="replace")

    def _read_pipe(self, output: int) -> None:
        try:
            while data := os.read(output, _KEPT_BYTES):
                room = max(0, _KEPT_BYTES - len(self._head))
                self._head += data[:room]
                self._tail += data[room:]
                del self._tail[:-_KEPT_BYTES]
        finally:
            os.close(output)


@contextlib.contextmanager
def run_in_background(
    command: Sequence[str], folder: Path
) -> Iterator[BackgroundChild]:
    """Run a command in the background, with working directory `folder`.

    Its process group is terminated when the context or this process ends.
    """
    with defer_signals() as signals:
        output, write_end = os.pipe()
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(write_end)
        child = BackgroundChild(process, output)
        with process:
            try:
                signals.release()
                yield child
            finally:
                if process.poll() is None:
                    _terminate(process)


def find_error_line(output: str) -> str:
    """Find the first output line that has words and is not from SimGrid's log.

    Lines of Topoloom's own programs take precedence. Below a line of dashes, as Open
    MPI prints them, the whole paragraph is returned as one line.
    """
    lines = output.splitlines()
    own = [line for line in lines if line.startswith(_OWN_PREFIX)]
    if own:
        return own[0].strip().removeprefix(_OWN_PREFIX)
    for number, line in enumerate(lines):
        if any(map(str.isalpha, line)) and "/INFO]" not in line:
            is_paragraph = number > 0 and _is_separator(lines[number - 1])
            return _join_paragraph(lines[number:]) if is_paragraph else line.strip()
    return "no output"


def _is_separator(line: str) -> bool:
    return len(line) > 1 and not line.strip("-")


def _join_paragraph(lines: Sequence[str]) -> str:
    ends = (i for i, line in enumerate(lines) if not line.strip(" -"))
    return " ".join(map(str.strip, lines[: next(ends, None)]))


class _FailedChildError(Exception):
    """A command that does not end after a failure; the message is its stderr."""


def _wait_for_output(
    child: subprocess.Popen[str],
    timeout: float | None,
    has_failed: Callable[[str], bool],
) -> tuple[str, str]:
    """Wait in short intervals; Python handles some signals only between waits."""
    end = math.inf if timeout is None else time.monotonic() + timeout
    end_after_failure = math.inf
    while True:
        left = max(end - time.monotonic(), 0)
        try:
            return child.communicate(timeout=min(left, _POLL_SECONDS))
        except subprocess.TimeoutExpired as error:
            if timeout is not None and left <= _POLL_SECONDS:
                raise subprocess.TimeoutExpired(child.args, timeout) from None
            errors = (error.stderr or b"").decode(errors="replace")
        if has_failed(errors):
            end_after_failure = min(
                end_after_failure, time.monotonic() + _SECONDS_TO_FAIL
            )
        if time.monotonic() >= end_after_failure:
            raise _FailedChildError(errors)


def _terminate(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Send SIGTERM before SIGKILL, so that a launcher can end ranks on other hosts."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_TERMINATE_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)
