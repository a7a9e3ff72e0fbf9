# SPDX-License-Identifier: BSD-3-Clause
"""Prints the output of commands: tables, JSON, and progress on stderr."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from topoloom.cli.streams import (
    find_width,
    get_code_stream,
    has_escape_codes,
    spell_bytes,
    spell_line,
    to_encodable,
)
from topoloom.cli.tables import (
    Column,
    describe_omissions,
    format_lines,
    lay_out,
    wrap_words,
)

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from topoloom.tasks.search import Search

_ITALIC, _BOLD_GREEN, _RESET = "\x1b[3m", "\x1b[1;32m", "\x1b[0m"


def print_json(document: Mapping[str, Any]) -> None:
    """Print the JSON document of the current command, after the name of its schema."""
    from topoloom.cli.json_output import format_json

    sys.stdout.write(format_json(document) + "\n")


def note_json(document: Mapping[str, Any]) -> None:
    """Print the JSON document to stderr, on one line: stdout is the program's."""
    from topoloom.cli.json_output import format_json

    note(format_json(document, pretty=False))


def note(text: str) -> None:
    """Print a remark to stderr."""
    print(text, file=sys.stderr)


def note_assumption(remark: str) -> None:
    """Print what was assumed about the input to stderr; nothing if empty."""
    if remark:
        note(f"topoloom: {remark}")


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    best: int | None = None,
    left: int = 1,
    keep: Sequence[str] = (),
    drop_first: Sequence[str] = (),
) -> None:
    """Print a table; the first `left` columns contain text, the others numbers.

    Without a terminal, tables are complete, unless COLUMNS limits their width. If a
    table is too wide, columns that are equal in all rows are left out first, then those
    of `drop_first`, in this order, then the rightmost. `keep` names columns that always
    stay; by default the first text column and the first numbers. A line below the table
    names what was left out.
    """
    stream = sys.stdout
    table = [
        Column(
            to_encodable(name, stream),
            [to_encodable(spell_line(row[index]), stream) for row in rows],
            index < left,
        )
        for index, name in enumerate(columns)
    ]
    kept = keep or [*columns[: 1 if left else 0], *columns[left : left + 1]]
    width = find_width(stream)
    layout = lay_out(
        table,
        width,
        {to_encodable(name, stream) for name in kept},
        [to_encodable(name, stream) for name in drop_first],
    )
    has_codes = has_escape_codes(stream)
    if title:
        _print_styled(_wrap_to_terminal(title, width), _ITALIC, has_codes)
    head, body = format_lines(layout, to_encodable("─", stream))
    print("\n".join(["", *head]))
    for index, lines in enumerate(body):
        _print_styled(lines, _BOLD_GREEN, has_codes and index == best)
    print()
    if omissions := describe_omissions(layout):
        for line in omissions:
            print("\n".join(_wrap_to_terminal(f"  {line}", width, "    ")))
        print()


def _print_styled(lines: Sequence[str], style: str, has_codes: bool) -> None:
    for line in lines:
        if has_codes:
            print(style, end="", file=get_code_stream(sys.stdout))
            print(line, end="")
            print(_RESET, file=get_code_stream(sys.stdout))
        else:
            print(line)


def _wrap_to_terminal(text: str, width: int | None, indent: str = "") -> list[str]:
    return [text] if width is None else wrap_words(text, width, indent)


def print_facts(
    facts: Sequence[tuple[str, str]],
    title: str = "",
    written: Sequence[Path | None] = (),
    stream: IO[str] | None = None,
    advice: str = "",
) -> None:
    """Print a title, names and values in two columns, written files, and the advice.

    Values are wrapped on terminals. `stream` is stdout by default; commands that start
    a program print to stderr, because stdout is the program's.
    """
    stream = sys.stdout if stream is None else stream
    paths = [("written", str(path)) for path in written if path is not None]
    facts = [*facts, *paths]
    if advice:
        facts.append(("advice", spell_bytes(advice)))
    width = find_width(stream)
    if title:
        print("\n".join(_wrap_to_terminal(title, width)), file=stream)
    names = max((len(name) for name, _ in facts), default=0)
    indent = " " * (names + 4)
    for name, value in facts:
        line = f"  {name:<{names}}  "
        value = spell_line(value)
        lines = [value]
        if width is not None and len(line) + len(value) > width:
            lines = wrap_words(value, width - len(line))
        print(f"\n{indent}".join([line + lines[0], *lines[1:]]).rstrip(), file=stream)


@contextlib.contextmanager
def make_progress_bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Return a callback that shows progress; it takes the done and the total amount.

    If stderr takes no escape codes, the remaining time is printed once, if it is long.
    Ctrl-C raises KeyboardInterrupt.
    """
    if not has_escape_codes(sys.stderr):
        from topoloom.cli.forecast import Forecast

        yield Forecast(what, unit, note)
        return
    bar = _make_bar(has_total=True)
    task = bar.add_task(spell_line(what), total=None, done="")

    def show(done: int, total: int) -> None:
        text = f"{done:,} of {total:,} {unit}"
        bar.update(task, completed=done, total=total, done=text)

    with bar:
        yield show


def _make_bar(*, has_total: bool = False) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rest = (TextColumn("left:"), TimeRemainingColumn()) if has_total else ()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        *rest,
        console=Console(
            file=get_code_stream(sys.stderr), highlight=False, markup=False
        ),
        transient=True,
    )


class SearchMonitor:
    """Shows the progress of a long search and stops it on Ctrl-C.

    The core calls the monitor with the work done so far; the result is False to stop.
    Python runs no signal handlers in the core's threads. Therefore Ctrl-C is read from
    the interpreter's wake-up socket.
    """

    def __init__(self, show: Any = None) -> None:
        self.interrupted = False
        self._show = show
        self._wakeup_socket: socket.socket | None = None

    def __call__(self, work: int) -> bool:
        """Show the progress; return False after Ctrl-C."""
        import select

        wakeup = self._wakeup_socket
        if wakeup is not None and select.select([wakeup], [], [], 0)[0]:
            wakeup.recv(4096)
            self.interrupted = True
        if self._show is not None:
            self._show(work)
        return not self.interrupted

    @contextlib.contextmanager
    def catch_interrupt(self) -> Iterator[None]:
        """Set `interrupted` on Ctrl-C within the context."""
        import socket
        import threading

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        receiver, sender = socket.socketpair()
        receiver.setblocking(False)
        sender.setblocking(False)
        self._wakeup_socket = receiver

        pressed = False

        def interrupt(*_: Any) -> None:
            nonlocal pressed
            if pressed:  # second Ctrl-C, because the search does not call the monitor
                raise KeyboardInterrupt
            pressed = self.interrupted = True

        handler = signal.signal(signal.SIGINT, interrupt)
        wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGINT, handler)
            self._wakeup_socket = None
            receiver.close()
            sender.close()


@contextlib.contextmanager
def monitor_search(what: str, search: Search) -> Iterator[SearchMonitor]:
    """Show a progress bar if stderr takes escape codes; stop the search on Ctrl-C.

    The bar shows the used share of the budget; without a budget, the work.
    """
    if not has_escape_codes(sys.stderr):
        monitor = SearchMonitor()
        with monitor.catch_interrupt():
            yield monitor
        return
    total = search.seconds if search.seconds is not None else search.work
    start = time.monotonic()
    bar = _make_bar()

    def show(done: int) -> None:
        passed = time.monotonic() - start
        bar.update(
            task,
            completed=passed if search.seconds is not None else done,
            done=f"{done:,} evaluated",
        )

    task = bar.add_task(spell_line(what), total=total, done="")
    monitor = SearchMonitor(show)
    with bar, monitor.catch_interrupt():
        yield monitor
