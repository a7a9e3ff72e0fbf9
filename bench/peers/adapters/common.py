# SPDX-License-Identifier: BSD-3-Clause
"""Shared by adapters: read an instance, time a search, write an answer.

An adapter runs as ``python -m peers.adapters.NAME FOLDER ANSWER EFFORT SEED THREADS``
in a separate process, which the runner measures.
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


class UnsupportedInstance(Exception):
    """The tool is not installed or does not support the instance; the text says why."""


class ToolFailure(Exception):
    """The tool was called correctly but gave no answer; the text is its output."""


@dataclass
class Request:
    """A request to an adapter.

    Attributes
    ----------
    instance
        The instance, with its folder.
    effort
        An effort of the table of tools.
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
        Index into the allocation for every rank.
    search_cpu, search_wall
        Seconds of the search alone; None if the tool does not print them.
    process_cpu, process_rss
        Seconds and bytes of the tool's process; None if the tool runs in the adapter.
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
        """Measure the time of the search alone."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.search_cpu = time.process_time() - cpu
        self.search_wall = time.perf_counter() - wall

    def set_search_time(self, seconds: float) -> None:
        """Set the search time that a single-threaded program printed."""
        self.search_wall = seconds
        self.search_cpu = min(seconds, self.process_cpu or seconds)


def run_and_measure(command: Sequence[str | Path], answer: Answer) -> str:
    """Run a peer's program and measure it alone; return its output.

    Raises
    ------
    UnsupportedInstance
        If the program is not installed.
    ToolFailure
        If the program fails; the text is its last line.
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
        raise UnsupportedInstance(f"no program {words[0]}") from None
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    answer.process_cpu = used.ru_utime + used.ru_stime
    answer.process_rss = used.ru_maxrss * 1024
    if process.returncode != 0:
        last = next((s for s in reversed(text.splitlines()) if s.strip()), "no output")
        raise ToolFailure(
            f"{Path(words[0]).name} ended with {process.returncode}: {last}"
        )
    return text


def run_adapter(solve: Callable[[Request], Answer]) -> None:
    """Run an adapter: read the arguments, solve, write the answer."""
    folder, target, effort, seed, threads = sys.argv[1:6]
    instance = load_instance(Path(folder))
    try:
        answer = solve(Request(instance, effort, int(seed), int(threads)))
        assert answer.place is not None
        document = asdict(answer) | {"place": answer.place.tolist()}
    except UnsupportedInstance as reason:
        document = {"unable": str(reason)}
    except ImportError as reason:
        document = {"unable": f"not installed: {reason}"}
    except ToolFailure as reason:
        document = {"failed": str(reason)}
    Path(target).write_text(json.dumps(document))
