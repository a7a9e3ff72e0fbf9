# SPDX-License-Identifier: BSD-3-Clause
"""How far each process came: the lines that ``mpi/record/status_log.c`` describes."""

from __future__ import annotations

import contextlib
import signal
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

#: Ends that a launcher or `record` itself brings about, after one of another kind.
_FOLLOWING = (f"asked {signal.SIGURG.value}", f"signal {signal.SIGTERM.value}")


@dataclass
class Marks:
    """What the processes of a command left on their way.

    Attributes
    ----------
    programs
        Paths of what the recorder was loaded into.
    flags
        ``other``, ``sessions`` or ``unseen``, where a process left such a line.
    started
        For each world, the number of its ranks and those that reached ``MPI_Init``.
    ended
        For each world, how ranks ended without ``MPI_Finalize``, as in ``exit 3``.
    """

    programs: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    started: dict[str, tuple[int, set[int]]] = field(default_factory=dict)
    ended: dict[str, dict[int, str]] = field(default_factory=dict)


def read_marks(folder: Path) -> Marks:
    """Read the files of all hosts; lines that are not whole are left out."""
    marks = Marks()
    for file in sorted(folder.glob("marks-*")):
        for line in file.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                _read(line, marks)
    return marks


def _read(line: str, marks: Marks) -> None:
    word, _, rest = line.partition(" ")
    if word == "loaded":
        marks.programs.add(rest)
    elif word == "started":
        job, rank, size = rest.split()
        ranks = marks.started.setdefault(job, (int(size), set()))[1]
        ranks.add(int(rank))
    elif word == "ended":
        job, rank, how = rest.split(" ", 2)
        marks.ended.setdefault(job, {})[int(rank)] = how
    else:
        marks.flags.add(word)


def describe_ends(marks: Marks, job: str, missing: list[int]) -> dict[str, list[int]]:
    """Say how ranks ended that did not reach ``MPI_Finalize``.

    Those that only followed others are left out, unless all did.

    Parameters
    ----------
    missing
        Ranks without counts.
    """
    ends: defaultdict[str, list[int]] = defaultdict(list)
    ended = marks.ended.get(job, {})
    first = {rank: how for rank, how in ended.items() if how not in _FOLLOWING}
    for rank, how in sorted(first.items()):
        ends[_words(how)].append(rank)
    if job in marks.started:
        started = marks.started[job][1]
        for rank in missing:
            if rank not in ended:
                how = "killed" if rank in started else "unseen"
                ends[_words(how)].append(rank)
    return dict(ends)


def _words(how: str) -> str:
    kind, _, number = how.partition(" ")
    if kind == "signal":
        with contextlib.suppress(ValueError):
            number = signal.Signals(int(number)).name
        return f"ended by {number}"
    return {
        "abort": f"called MPI_Abort with code {number}",
        "error": "ended by MPI, for an error that it printed",
        "exit": f"called exit({number})",
        "_exit": f"called _exit({number})",
        "_Exit": f"called _Exit({number})",
        "quick_exit": f"called quick_exit({number})",
        "main": "returned from main without MPI_Finalize",
        "killed": "reached MPI_Init, then was killed (SIGKILL) or lost",
        "unseen": "never came to MPI_Init with the recorder loaded",
    }.get(kind, how)


def why_nothing(marks: Marks, exit_status: int) -> str:
    """Say why a command that has run left no counts."""
    if marks.started:
        size, ranks = next(iter(marks.started.values()))
        return (
            f"{len(ranks)} of {size} ranks reached MPI_Init, but were killed (SIGKILL) "
            "before they could leave their counts, or the output's folder is full"
        )
    if "other" in marks.flags:
        return (
            "the program uses another MPI than the launcher's (name its compiler with "
            "--mpicc)"
        )
    if "sessions" in marks.flags:
        return (
            "the program uses MPI sessions alone; recording starts at MPI_Init or "
            "MPI_Init_thread"
        )
    if "unseen" in marks.flags:
        return (
            "the program started MPI by a call that no preloaded library sees: it "
            "looks up MPI_Init itself (dlopen, dlsym), or contains it"
        )
    if not marks.programs:
        return (
            "the recorder was loaded into nothing that the command ran: programs "
            "linked statically, ones that clear LD_PRELOAD, or on hosts that do not "
            "see the output's folder"
        )
    names = sorted({Path(program).name for program in marks.programs})
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    is_python = any(name.startswith("python") for name in names)
    torch = "; if it is a program of PyTorch, add --torch" if is_python else ""
    failed = "failed before MPI_Init (see what it printed), " if exit_status else ""
    return (
        f"the command {failed}ran no MPI program that is linked dynamically; the "
        f"recorder was loaded into {shown}, which did not call MPI_Init{torch}"
    )
