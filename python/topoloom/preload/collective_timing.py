# SPDX-License-Identifier: BSD-3-Clause
"""Times collectives in a job that the user's launcher starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.preload.collectives import build_timing_program
from topoloom.preload.shim import find_compiler, find_launcher
from topoloom.support.child_processes import find_error_line, run_child
from topoloom.support.files import make_shared_directory, write_text

#: Pseudo-schedule that selects the MPI library's own collective.
MPI_OWN = "mpi"


class TimingRequest(NamedTuple):
    """A collective to time, with several sizes, and with schedules or `MPI_OWN`."""

    operation: str
    ranks: int
    root: int
    cases: Sequence[tuple[int, str]]  # bytes, schedule


class TimingResult(NamedTuple):
    """Measured times of all cases."""

    #: Seconds by case and round; if interrupted, only complete rounds.
    samples: list[list[float]]
    traces: str  # recorded traces of calls; empty if interrupted
    interrupted: bool = False


def time_cases(
    request: TimingRequest,
    launcher: Sequence[str],
    repeats: int,
    mpicc: str | None = None,
    traced: bool = False,
) -> TimingResult:
    """Run all cases in one job, in `repeats` rounds of one call per case.

    A sample is the time from the common start of all ranks until the last rank is done.
    If `traced`, each schedule is also traced once at the first size, after the
    measurement. Ctrl-C ends the measurement and returns the complete rounds, if any.

    Raises `topoloom.Error` if the launcher or compiler is missing or fails, the number
    of ranks is wrong, or a schedule cannot run.
    """
    words = list(launcher)
    if not words:
        raise Error("no launcher; write it after --, as in: -- mpirun -n 4")
    starter = find_launcher(words)
    program = build_timing_program(find_compiler(starter, mpicc))
    with make_shared_directory("measure") as directory:
        folder = Path(directory)
        write_text(
            folder / "cases",
            _format_cases(request, repeats, folder if traced else None),
        )
        try:
            done = run_child([*words, str(program), str(folder)])
        except KeyboardInterrupt:
            complete = _drop_incomplete(
                _parse_samples(folder / "samples", len(request.cases))[0]
            )
            if not complete[0]:
                raise
            return TimingResult(complete, "", interrupted=True)
        if done.returncode != 0:
            raise Error(
                f"'{words[0]}' ended with status {done.returncode}: "
                f"{find_error_line(done.stderr + done.stdout)}"
            )
        samples = _read_samples(folder / "samples", len(request.cases), words[0])
        trace = folder / "trace"
        return TimingResult(
            samples, trace.read_text(encoding="utf-8") if trace.exists() else ""
        )


def _format_cases(request: TimingRequest, repeats: int, trace_in: Path | None) -> str:
    ways = list(dict.fromkeys(schedule for _, schedule in request.cases))
    lines = [
        f"operation {request.operation}",
        f"ranks {request.ranks}",
        f"root {request.root}",
        f"repeats {repeats}",
    ]
    if trace_in is not None:
        if "," in str(trace_in) or "(" in str(trace_in):
            raise Error(
                f"'{trace_in.parent}' contains a comma or a parenthesis; trace "
                "calls from another folder"
            )
        lines.append(f"trace {trace_in / 'trace'}")
    lines += [f"way {way}" for way in ways]
    lines += [f"case {size} {ways.index(schedule)}" for size, schedule in request.cases]
    return "\n".join(lines) + "\n"


def _parse_samples(file: Path, cases: int) -> tuple[list[list[float]], str]:
    """Return the samples in the file, and its last complete line."""
    lines = (
        file.read_text(encoding="utf-8").splitlines(keepends=True)
        if file.exists()
        else []
    )
    found: list[list[float]] = [[] for _ in range(cases)]
    last = ""
    for line in lines:
        if not line.endswith("\n"):  # truncated
            break
        last = line.rstrip("\n")
        kind, _, rest = last.partition(" ")
        if kind == "problem":
            raise Error(rest)
        if kind == "sample":
            number, seconds = rest.split()
            found[int(number)].append(float(seconds))
    return found, last


def _drop_incomplete(samples: list[list[float]]) -> list[list[float]]:
    """Drop rounds that are not complete for all cases."""
    count = min(map(len, samples))
    return [each[:count] for each in samples]


def _read_samples(file: Path, cases: int, launcher: str) -> list[list[float]]:
    found, last = _parse_samples(file, cases)
    if last != "end":
        raise Error(
            f"'{launcher}' did not complete the measurement; its rank 0 must see the "
            "working directory, and its MPI must match the compiler (--mpicc)"
        )
    return found
