# SPDX-License-Identifier: BSD-3-Clause
"""Prints the output of verbs: tables, JSON, and progress on stderr."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from topoloom.tasks.search import Search


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


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    best: int | None = None,
    left: int = 1,
    droppable: Sequence[str] = (),
) -> list[str]:
    """Print a table; the first `left` columns contain text, the others numbers.

    If the terminal is too narrow, `droppable` columns are omitted, in this order.
    Returns the omitted headings.
    """
    if not is_terminal(sys.stdout):
        # Do not limit the width if output goes to a pipe, so that grep finds whole
        # lines.
        print(_format_plain_table(columns, rows, title, left))
        return []
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    dropped = _choose_dropped_columns(columns, rows, droppable, console.width)
    kept = [index for index, name in enumerate(columns) if name not in dropped]
    columns = [columns[index] for index in kept]
    rows = [[row[index] for index in kept] for row in rows]
    if title:
        console.print(title, style="italic", soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        right = index >= left
        table.add_column(column, justify="right" if right else "left", no_wrap=right)
    for index, row in enumerate(rows):
        table.add_row(*row, style="bold green" if index == best else None)
    console.print(table)
    return dropped


def is_terminal(stream: IO[str] | None) -> bool:
    """Return whether a stream is a terminal; False for None, which means closed."""
    return stream is not None and stream.isatty()


def _format_plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str, left: int
) -> str:
    headings = [name.split("\n") for name in columns]
    height = max(map(len, headings))
    padded = [[*[""] * (height - len(parts)), *parts] for parts in headings]
    lines = [*zip(*padded, strict=True), *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]

    def format_row(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"  {'   '.join(aligned)}".rstrip()

    rule = " " + "─" * (sum(widths) + 3 * len(widths) - 1)
    text = [format_row(cells) for cells in lines]
    above = [title] if title else []
    return "\n".join([*above, "", *text[:height], rule, *text[height:], ""])


def _choose_dropped_columns(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    droppable: Sequence[str],
    width: int,
) -> list[str]:
    """Choose columns to omit, so that the others fit into `width`."""
    between = 3  # characters between two columns, and at the edges
    lines = [max(map(len, name.split("\n"))) for name in columns]
    needed = {
        name: between + max([line, *(len(row[index]) for row in rows)])
        for index, (name, line) in enumerate(zip(columns, lines, strict=True))
    }
    dropped: list[str] = []
    for name in droppable:
        if sum(needed.values()) + between <= width:
            break
        if needed.pop(name, None) is not None:
            dropped.append(name)
    return dropped


def print_facts(
    facts: Sequence[tuple[str, str]],
    title: str = "",
    written: Sequence[Path | None] = (),
) -> None:
    """Print a title, names and values in two columns, and the written files."""
    paths = [("written", str(path)) for path in written if path is not None]
    facts = [*facts, *paths]
    if title:
        print(title)
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        print(f"  {name:<{width}}  {value}")


@contextlib.contextmanager
def make_progress_bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Return a callback that shows progress; it takes the done and the total amount.

    If stderr is not a terminal, the remaining time is printed once, if it is long.
    Ctrl-C raises KeyboardInterrupt.
    """
    if not sys.stderr.isatty():
        from topoloom.cli.forecast import Forecast

        yield Forecast(what, unit, note)
        return
    bar = _make_bar(has_total=True)
    task = bar.add_task(what, total=None, done="")

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
        console=Console(stderr=True, highlight=False, markup=False),
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
    """Show a progress bar if stderr is a terminal; stop the search on Ctrl-C.

    The bar shows the used share of the budget; without a budget, the work.
    """
    if not sys.stderr.isatty():
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

    task = bar.add_task(what, total=total, done="")
    monitor = SearchMonitor(show)
    with bar, monitor.catch_interrupt():
        yield monitor
