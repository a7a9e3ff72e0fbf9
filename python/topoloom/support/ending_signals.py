# SPDX-License-Identifier: BSD-3-Clause
"""Handles the signals that end a command: Ctrl-C, hangups and termination."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_OTHER_FORWARDED = (signal.SIGUSR1, signal.SIGUSR2)


class HeldSignals:
    """Signals that do not end this process; a child process gets those it lacks."""

    def __init__(self) -> None:
        #: Ending signals, in order of arrival.
        self.received: list[int] = []
        self._pending: list[int] = []
        self._child: subprocess.Popen[Any] | None = None
        self._before_end: Callable[[bool], None] = lambda _: None
        self._had_terminal = _is_in_foreground()

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        if number in ENDING_SIGNALS:
            self.received.append(number)
        if self._child is None:
            self._pending.append(number)
        else:
            self._forward(number)

    @contextlib.contextmanager
    def forwarded_to(
        self, child: subprocess.Popen[Any], before_end: Callable[[bool], None]
    ) -> Iterator[None]:
        """Forward signals to the child, starting with those that have arrived.

        Before each signal that ends the child, `before_end` is called with False.
        """
        self._child, self._before_end = child, before_end
        for number in self._pending:
            self._forward(number)
        try:
            yield
        finally:
            self._child, self._pending = None, []

    def _forward(self, number: int) -> None:
        assert self._child is not None
        with contextlib.suppress(OSError):  # The child has just ended.
            if number in ENDING_SIGNALS or not handles_signal(self._child.pid, number):
                self._before_end(False)
        # Launchers kill a job without waiting for its ranks on a second signal.
        if not self._is_sent_by_terminal(number):
            self._child.send_signal(number)

    def _is_sent_by_terminal(self, number: int) -> bool:
        """Return whether a terminal sends the signal to child processes, too."""
        if number in (signal.SIGINT, signal.SIGQUIT):
            return _is_in_foreground()
        is_hangup = number == signal.SIGHUP and self._had_terminal
        return is_hangup and not _is_in_foreground()


def handles_signal(process: int, number: int) -> bool:
    """Return whether a process handles or ignores a signal.

    Raises `OSError` if there is no such process.
    """
    status = Path(f"/proc/{process}/status").read_text(
        encoding="utf-8", errors="replace"
    )
    masks = (
        int(status.partition(f"\n{name}:")[2].split(maxsplit=1)[0], 16)
        for name in ("SigCgt", "SigIgn")
    )
    return any(mask >> (number - 1) & 1 for mask in masks)


def _is_in_foreground() -> bool:
    """Return whether this process belongs to the terminal's foreground group."""
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


@contextlib.contextmanager
def hold_signals() -> Iterator[HeldSignals]:
    """Keep signals from ending this process, so that it can write its results.

    Does nothing outside the main thread, which alone can handle signals.
    """
    signals = HeldSignals()
    with _handle_signals((*ENDING_SIGNALS, *_OTHER_FORWARDED), signals):
        yield signals


class SignalQueue:
    """Converts signals to exceptions, and defers them until `release`.

    Otherwise, a signal during the start of a child would leave the child running.
    """

    def __init__(self) -> None:
        self._deferred: list[int] | None = []

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        if self._deferred is not None:
            self._deferred.append(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    def release(self) -> None:
        """Raise exceptions for deferred signals, and for later signals immediately."""
        deferred, self._deferred = self._deferred, None
        for number in deferred or []:
            self(number, None)


@contextlib.contextmanager
def raise_on_signals() -> Iterator[None]:
    """Convert ending signals to exceptions, as Python converts SIGINT."""
    with defer_signals() as signals:
        signals.release()
        yield


@contextlib.contextmanager
def defer_signals() -> Iterator[SignalQueue]:
    """Convert ending signals to exceptions once the queue is released.

    A custom handler of SIGINT is not replaced. Does nothing outside the main thread.
    """
    signals = SignalQueue()
    current = signal.getsignal(signal.SIGINT)
    is_custom = not (
        current is signal.default_int_handler or isinstance(current, SignalQueue)
    )
    try:
        with _handle_signals(
            ENDING_SIGNALS[1:] if is_custom else ENDING_SIGNALS, signals
        ):
            yield signals
    finally:
        signals.release()


@contextlib.contextmanager
def _handle_signals(
    numbers: Sequence[signal.Signals], handler: HeldSignals | SignalQueue
) -> Iterator[None]:
    """Install a handler; SIGHUP stays ignored, as by nohup."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    handled = [n for n in numbers if not (n == signal.SIGHUP and is_ignored)]
    old = {number: signal.signal(number, handler) for number in handled}
    try:
        yield
    finally:
        for number, previous in old.items():
            signal.signal(number, previous)
