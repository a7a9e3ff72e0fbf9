# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs print: tables for people, JSON for programs, progress on stderr."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from topoloom.tasks.search import Search


def print_json(document: Any) -> None:
    """Print one JSON document and nothing else; long ones on one line."""
    import json

    text = json.dumps(document, allow_nan=False)
    if len(text) < 4000:
        text = json.dumps(document, indent=2)
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Print something besides the result to stderr, for people."""
    print(text, file=sys.stderr)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    best: int | None = None,
    left: int = 1,
    spare: Sequence[str] = (),
) -> list[str]:
    """Print a table; the first `left` columns are text, the others numbers.

    Where the terminal is too narrow, `spare` columns are left out, the first of them
    first; returns which.
    """
    if not is_terminal(sys.stdout):
        # A pipe has no width: never wrap lines that a user may want to grep.
        print(_plain_table(columns, rows, title, left))
        return []
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    dropped = _too_many(columns, rows, spare, console.width)
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
    """Whether a stream is a terminal; it is None if closed before we started."""
    return stream is not None and stream.isatty()


def _plain_table(
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


def _too_many(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    spare: Sequence[str],
    width: int,
) -> list[str]:
    """Choose as many of the spare columns as must go for the others to fit."""
    between = 3  # columns, and at the edges of the table
    lines = [max(map(len, name.split("\n"))) for name in columns]
    needed = {
        name: between + max([line, *(len(row[index]) for row in rows)])
        for index, (name, line) in enumerate(zip(columns, lines, strict=True))
    }
    dropped: list[str] = []
    for name in spare:
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
    """Print names and values in two columns, under a title; then files, if any."""
    paths = [("written", str(path)) for path in written if path is not None]
    facts = [*facts, *paths]
    if title:
        print(title)
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        print(f"  {name:<{width}}  {value}")


@contextlib.contextmanager
def progress_bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much is done; call it with that, and with all.

    Where stderr is not a terminal, what takes long says so once. Ctrl-C is not heard
    here: it interrupts what runs.
    """
    if not sys.stderr.isatty():
        from topoloom.cli.forecast import Forecast

        yield Forecast(what, unit, note)
        return
    bar = _bar(knows_the_end=True)
    task = bar.add_task(what, total=None, done="")

    def show(done: int, total: int) -> None:
        text = f"{done:,} of {total:,} {unit}"
        bar.update(task, completed=done, total=total, done=text)

    with bar:
        yield show


def _bar(*, knows_the_end: bool = False) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rest = (TextColumn("left:"), TimeRemainingColumn()) if knows_the_end else ()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        *rest,
        console=Console(stderr=True, highlight=False, markup=False),
        transient=True,
    )


class Watch:
    """A long search seen from outside: shows progress and hears Ctrl-C.

    Call it with the work done so far, as the core does; it returns whether to continue.
    The core may call from threads of its own, where Python runs no signal handlers,
    so Ctrl-C is heard through the wake-up socket that the interpreter writes to.
    """

    def __init__(self, show: Any = None) -> None:
        self.interrupted = False
        self._show = show
        self._ear: socket.socket | None = None

    def __call__(self, work: int) -> bool:
        """Show the work done; False once Ctrl-C was pressed."""
        import select

        if self._ear is not None and select.select([self._ear], [], [], 0)[0]:
            self._ear.recv(4096)
            self.interrupted = True
        if self._show is not None:
            self._show(work)
        return not self.interrupted

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Turn Ctrl-C into `interrupted` while the block runs."""
        import socket
        import threading

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        ear, mouth = socket.socketpair()
        ear.setblocking(False)
        mouth.setblocking(False)
        self._ear = ear

        pressed = False

        def interrupt(*_: Any) -> None:
            nonlocal pressed
            if pressed:  # what runs does not ask whether to go on
                raise KeyboardInterrupt
            pressed = self.interrupted = True

        handler = signal.signal(signal.SIGINT, interrupt)
        wakeup = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGINT, handler)
            self._ear = None
            ear.close()
            mouth.close()


@contextlib.contextmanager
def monitor_search(what: str, search: Search) -> Iterator[Watch]:
    """Watch a search: a progress bar if stderr is a terminal, and Ctrl-C stops it.

    With a budget the bar fills up; without one it counts the work.
    """
    if not sys.stderr.isatty():
        watch = Watch()
        with watch.listening():
            yield watch
        return
    total = search.seconds if search.seconds is not None else search.work
    start = time.monotonic()
    bar = _bar()

    def show(done: int) -> None:
        passed = time.monotonic() - start
        bar.update(
            task,
            completed=passed if search.seconds is not None else done,
            done=f"{done:,} evaluated",
        )

    task = bar.add_task(what, total=total, done="")
    watch = Watch(show)
    with bar, watch.listening():
        yield watch
