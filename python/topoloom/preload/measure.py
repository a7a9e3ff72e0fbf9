# SPDX-License-Identifier: BSD-3-Clause
"""Times collectives where a launcher starts ranks, with a program of our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.preload.collectives import build_measurement
from topoloom.preload.shim import find_compiler, find_launcher
from topoloom.support.child_processes import find_reason, run_child
from topoloom.support.files import shared_directory, write_text

#: What MPI's own collective is called among schedules.
OWN = "mpi"


class Cases(NamedTuple):
    """What is timed: an operation at sizes, by schedules or `OWN`."""

    operation: str
    ranks: int
    root: int
    cases: Sequence[tuple[int, str]]  # bytes, schedule


class Timed(NamedTuple):
    """What was found out.

    Attributes
    ----------
    samples
        Seconds of each case; those of whole turns, if it was interrupted.
    traces
        The text of traces; empty if it was interrupted.
    """

    samples: list[list[float]]
    traces: str
    interrupted: bool = False


def time_cases(
    asked: Cases,
    launcher: Sequence[str],
    repeats: int,
    mpicc: str | None = None,
    traced: bool = False,
) -> Timed:
    """Run all cases in one job, in turns, each as often as `repeats`.

    A sample is from a common start of all ranks to the end of the last one. With
    `traced`, schedules are traced once at the first size, after the measurement.
    Ctrl-C ends it with what it has, if that is a turn of all cases.

    Raises
    ------
    topoloom.Error
        If the launcher or its compiler is not there or fails, starts another number of
        ranks, or a schedule cannot be run.
    """
    words = list(launcher)
    if not words:
        raise Error("no launcher; write it after --, as in: -- mpirun -n 4")
    starter = find_launcher(words)
    program = build_measurement(find_compiler(starter, mpicc))
    with shared_directory("measure") as directory:
        folder = Path(directory)
        write_text(folder / "cases", _text(asked, repeats, folder if traced else None))
        try:
            done = run_child([*words, str(program), str(folder)])
        except KeyboardInterrupt:
            turns = _turns(_samples(folder / "samples", len(asked.cases))[0])
            if not turns[0]:
                raise
            return Timed(turns, "", interrupted=True)
        if done.returncode != 0:
            raise Error(
                f"'{words[0]}' ended with status {done.returncode}: "
                f"{find_reason(done.stderr + done.stdout)}"
            )
        samples = _read(folder / "samples", len(asked.cases), words[0])
        trace = folder / "trace"
        return Timed(samples, trace.read_text() if trace.exists() else "")


def _text(asked: Cases, repeats: int, trace_in: Path | None) -> str:
    ways = list(dict.fromkeys(schedule for _, schedule in asked.cases))
    lines = [
        f"operation {asked.operation}",
        f"ranks {asked.ranks}",
        f"root {asked.root}",
        f"repeats {repeats}",
    ]
    if trace_in is not None:
        if ";" in str(trace_in) or "(" in str(trace_in):
            raise Error(
                f"'{trace_in.parent}' has a semicolon or a parenthesis; trace calls "
                "from another folder"
            )
        lines.append(f"trace {trace_in / 'trace'}")
    lines += [f"way {way}" for way in ways]
    lines += [f"case {size} {ways.index(schedule)}" for size, schedule in asked.cases]
    return "\n".join(lines) + "\n"


def _samples(file: Path, cases: int) -> tuple[list[list[float]], str]:
    """Read the samples that are there, and the last line."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    found: list[list[float]] = [[] for _ in range(cases)]
    last = ""
    for line in lines:
        if not line.endswith("\n"):  # cut off
            break
        last = line.rstrip("\n")
        kind, _, rest = last.partition(" ")
        if kind == "problem":
            raise Error(rest)
        if kind == "sample":
            number, seconds = rest.split()
            found[int(number)].append(float(seconds))
    return found, last


def _turns(samples: list[list[float]]) -> list[list[float]]:
    """Keep the turns that all cases have made."""
    count = min(map(len, samples))
    return [each[:count] for each in samples]


def _read(file: Path, cases: int, launcher: str) -> list[list[float]]:
    found, last = _samples(file, cases)
    if last != "end":
        raise Error(
            f"'{launcher}' has not run the measurement to its end; its rank 0 must see "
            "the working directory, and its MPI be that of the compiler (--mpicc)"
        )
    return found
