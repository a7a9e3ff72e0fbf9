# SPDX-License-Identifier: BSD-3-Clause
"""Child processes that end with their parent."""

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

_TERMINATE_SECONDS = 5
_POLL_SECONDS = 0.5
#: Bytes of output that are kept: the first and as many of the last.
_KEPT_BYTES = 1 << 15
#: Prefix of messages of Topoloom's own programs.
_OWN_PREFIX = "topoloom: "


def terminal_interrupts_children() -> bool:
    """Return whether Ctrl-C in the terminal reaches the children as well."""
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
    """Run a command and wait for it.

    Signals that end this process end the command and its children first.

    Raises
    ------
    subprocess.TimeoutExpired
        After the timeout, which ends them as well.
    """
    with _raise_on_signals() as signals:
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
                out, errors = _communicate(child, timeout)
            except BaseException:
                _terminate(child)
                raise
    return subprocess.CompletedProcess(command, child.returncode, out, errors)


class BackgroundChild:
    """A command that runs in the background.

    A thread reads its output and keeps the first and the last bytes.
    """

    def __init__(self, process: subprocess.Popen[bytes], output: int) -> None:
        self.process = process
        self._head, self._tail = bytearray(), bytearray()
        self._reader = threading.Thread(target=self._read, args=(output,), daemon=True)
        self._reader.start()

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self.process.poll()

    @property
    def output(self) -> str:
        """Standard output and standard error so far."""
        if self.status is not None:
            # Its children may still hold the other end of the pipe.
            self._reader.join(_POLL_SECONDS)
        return bytes(self._head + self._tail).decode(errors="replace")

    def _read(self, output: int) -> None:
        try:
            while data := os.read(output, _KEPT_BYTES):
                room = max(0, _KEPT_BYTES - len(self._head))
                self._head += data[:room]
                self._tail += data[room:]
                del self._tail[:-_KEPT_BYTES]
        finally:
            os.close(output)


@contextlib.contextmanager
def background_child(command: Sequence[str], folder: Path) -> Iterator[BackgroundChild]:
    """Run a command in the background, in `folder`.

    Leaving the context ends it and its children; so do signals that end this process.
    """
    with _raise_on_signals() as signals:
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


def find_reason(output: str) -> str:
    """Find the first line with text, without the boxes of launchers and SimGrid's log.

    Lines of Topoloom's own programs take precedence.
    """
    lines = output.splitlines()
    own = [line for line in lines if line.startswith(_OWN_PREFIX)]
    for line in [*own, *lines]:
        if any(map(str.isalpha, line)) and "/INFO]" not in line:
            return line.strip().removeprefix(_OWN_PREFIX)
    return "it does not say why"


def _communicate(
    child: subprocess.Popen[str], timeout: float | None
) -> tuple[str, str]:
    """Wait in short steps, since a signal just before a wait is handled after it."""
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = max(end - time.monotonic(), 0)
        try:
            return child.communicate(timeout=min(left, _POLL_SECONDS))
        except subprocess.TimeoutExpired:
            if timeout is not None and left <= _POLL_SECONDS:
                raise subprocess.TimeoutExpired(child.args, timeout) from None


def _terminate(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Send SIGTERM first, so that a launcher can end its ranks on other hosts."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_TERMINATE_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)


class _Signals:
    """Turns signals into exceptions; delays them until it is released.

    Otherwise a child that is just being started would survive.
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
        """Raise for delayed signals; later ones raise immediately."""
        held, self._held = self._held, None
        for number in held or []:
            self(number, None)


@contextlib.contextmanager
def _raise_on_signals() -> Iterator[_Signals]:
    """Turn SIGTERM, SIGHUP and Ctrl-C into exceptions.

    A handler of SIGINT that is not Python's default stays installed.
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
