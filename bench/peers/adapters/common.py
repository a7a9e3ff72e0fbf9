# SPDX-License-Identifier: BSD-3-Clause
"""Shared by adapters: read an instance, time a search, write an answer.

An adapter runs as ``python -m peers.adapters.NAME FOLDER ANSWER EFFORT SEED THREADS``
in a process of its own, which the runner measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from peers.graphs import Ints
from peers.instance import Instance, load_instance


class Unable(Exception):
    """The tool cannot do this instance, or is not there; the text says why."""


class Failed(Exception):
    """The tool was called correctly and gave no answer; the text is its output."""


@dataclass
class Request:
    """A request to an adapter.

    Attributes
    ----------
    instance
        With its folder.
    effort
        One of those that the table of tools names.
    """

    instance: Instance
    effort: str
    seed: int
    threads: int


@dataclass
class Answer:
    """The answer of an adapter.

    Attributes
    ----------
    place
        The place in the allocation of every rank.
    search_cpu, search_wall
        Seconds of the search alone; None if the tool does not tell.
    process_cpu, process_rss
        Seconds and bytes of the tool's own process, where it is a program. None where
        the adapter is the process.
    version
        The tool's version.
    """

    place: Ints | None = None
    search_cpu: float | None = None
    search_wall: float | None = None
    process_cpu: float | None = None
    process_rss: int | None = None
    version: str = ""

    @contextmanager
    def search(self) -> Iterator[None]:
        """Measure the search alone."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.search_cpu = time.process_time() - cpu
        self.search_wall = time.perf_counter() - wall

    def set_search_time(self, seconds: float) -> None:
        """Take the time that a single-threaded program printed."""
        self.search_wall = seconds
        self.search_cpu = min(seconds, self.process_cpu or seconds)


def run(command: Sequence[str | Path], answer: Answer) -> str:
    """Run a peer's program, measure it alone, return what it printed.

    Raises
    ------
    Unable
        If it is not there.
    Failed
        If it ends with an error, with its last line.
    """
    words = list(map(str, command))
    try:
        process = subprocess.Popen(
            words,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except FileNotFoundError:
        raise Unable(f"no program {words[0]}") from None
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    answer.process_cpu = used.ru_utime + used.ru_stime
    answer.process_rss = used.ru_maxrss * 1024
    if process.returncode != 0:
        last = next((s for s in reversed(text.splitlines()) if s.strip()), "no output")
        raise Failed(f"{Path(words[0]).name} ended with {process.returncode}: {last}")
    return text


def adapter(solve: Callable[[Request], Answer]) -> None:
    """Run an adapter: read the arguments, solve, write the answer."""
    folder, target, effort, seed, threads = sys.argv[1:6]
    instance = load_instance(Path(folder))
    try:
        answer = solve(Request(instance, effort, int(seed), int(threads)))
        assert answer.place is not None
        document = asdict(answer) | {"place": answer.place.tolist()}
    except Unable as reason:
        document = {"unable": str(reason)}
    except ImportError as reason:
        document = {"unable": f"not installed: {reason}"}
    except Failed as reason:
        document = {"failed": str(reason)}
    Path(target).write_text(json.dumps(document))
