# SPDX-License-Identifier: BSD-3-Clause
"""Helper programs that do not outlive us."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_SECONDS_TO_END = 5
_SECONDS_TO_WAIT = 0.5
#: Bytes of what a child says that are kept, at its beginning and at its end.
_KEPT = 1 << 15
#: How lines of our own programs begin.
_OWN = "topoloom: "


def terminal_tells_children() -> bool:
    """Return whether Ctrl-C, where that ends us, has reached our children, too."""
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def run_child(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; whatever ends us ends it and its children.

    So does the timeout, with `subprocess.TimeoutExpired`.
    """
    with _ended_by_signals() as signals:
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
        )
        with child:
            try:
                signals.release()
                said, complained = _communicate(child, timeout)
            except BaseException:
                _end(child)
                raise
    return subprocess.CompletedProcess(command, child.returncode, said, complained)


class ChildBeside:
    """A command that runs beside us.

    What it says is read as it comes: of much of it the beginning and the end are kept.
    """

    def __init__(self, process: subprocess.Popen[bytes], output: int) -> None:
        self.process = process
        self._head, self._tail = bytearray(), bytearray()
        self._reader = threading.Thread(target=self._read, args=(output,), daemon=True)
        self._reader.start()

    @property
    def status(self) -> int | None:
        """The status with which it has ended; None while it runs."""
        return self.process.poll()

    @property
    def said(self) -> str:
        """What it said, its errors between."""
        if self.status is not None:
            # What it has started may still have the other end of the pipe.
            self._reader.join(_SECONDS_TO_WAIT)
        return bytes(self._head + self._tail).decode(errors="replace")

    def _read(self, output: int) -> None:
        try:
            while data := os.read(output, _KEPT):
                room = max(0, _KEPT - len(self._head))
                self._head += data[:room]
                self._tail += data[room:]
                del self._tail[:-_KEPT]
        finally:
            os.close(output)


@contextlib.contextmanager
def child_beside(command: Sequence[str], folder: Path) -> Iterator[ChildBeside]:
    """Run a command beside us in `folder`.

    It and its children are ended where the context is left, and by what ends us.
    """
    with _ended_by_signals() as signals:
        output, said = os.pipe()
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(said)
        child = ChildBeside(process, output)
        with process:
            try:
                signals.release()
                yield child
            finally:
                if process.poll() is None:
                    _end(process)


def reason_of(said: str) -> str:
    """Find the first line that says something; launchers draw boxes, SimGrid logs.

    Lines of our own programs come before all others.
    """
    lines = said.splitlines()
    own = [line for line in lines if line.startswith(_OWN)]
    for line in [*own, *lines]:
        if any(map(str.isalpha, line)) and "/INFO]" not in line:
            return line.strip().removeprefix(_OWN)
    return "it does not say why"


def _communicate(
    child: subprocess.Popen[str], timeout: float | None
) -> tuple[str, str]:
    """Wait in short spans: a signal just before a long one is handled after it."""
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = max(end - time.monotonic(), 0)
        try:
            return child.communicate(timeout=min(left, _SECONDS_TO_WAIT))
        except subprocess.TimeoutExpired:
            if timeout is not None and left <= _SECONDS_TO_WAIT:
                raise subprocess.TimeoutExpired(child.args, timeout) from None


def _end(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Ask first: a launcher has ranks on other hosts to end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_SECONDS_TO_END)
        os.killpg(child.pid, signal.SIGKILL)


class _Signals:
    """Turns signals into exceptions, and holds them back until it is released.

    A child of which nobody knows yet, since it is just being started, would stay.
    """

    def __init__(self) -> None:
        self._held: list[int] | None = []

    def __call__(self, number: int, _frame: object) -> None:
        if self._held is not None:
            self._held.append(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    def release(self) -> None:
        """Raise for what came meanwhile, and from now on at once."""
        held, self._held = self._held, None
        for number in held or []:
            self(number, None)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[_Signals]:
    """Turn SIGTERM and SIGHUP into an exception, as Python does with Ctrl-C.

    Where somebody else sees to Ctrl-C, or it is ignored, that stays so.
    """
    signals = _Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    numbers = [signal.SIGTERM, signal.SIGHUP]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    old = {number: signal.signal(number, signals) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        signals.release()
