# SPDX-License-Identifier: BSD-3-Clause
"""Reads status logs of processes; ``mpi/record/status_log.c`` defines the format."""

from __future__ import annotations

import contextlib
import signal
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from topoloom.support.signal_status import ENDED_BY_SIGNAL, describe_early_end

#: Kinds of termination that a launcher or `record` causes after another rank has ended.
_CAUSED_BY_LAUNCHER = (f"asked {signal.SIGURG.value}", f"signal {signal.SIGTERM.value}")


@dataclass
class StatusLog:
    """How the processes of a command started and terminated."""

    #: Paths of the programs that loaded the recorder.
    programs: set[str] = field(default_factory=set)
    #: Problems in the logs: ``other``: the program uses another MPI; ``sessions``: only
    #: MPI sessions; ``unseen``: MPI_Init was not seen.
    flags: set[str] = field(default_factory=set)
    #: Programs that loaded the recorder after a rank on their host reached `MPI_Init`.
    later_programs: set[str] = field(default_factory=set)
    #: MPI world -> number of its ranks, and the ranks that reached ``MPI_Init``.
    started: dict[str, tuple[int, set[int]]] = field(default_factory=dict)
    #: MPI world -> rank -> how it terminated without ``MPI_Finalize``, such as ``exit
    #: 3``.
    ended: dict[str, dict[int, str]] = field(default_factory=dict)


def read_status_log(folder: Path) -> StatusLog:
    """Read the logs of all hosts; skip incomplete lines."""
    log = StatusLog()
    for file in sorted(folder.glob("log-*")):
        has_started = False
        for line in file.read_text(errors="replace", encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                _parse_line(line, log)
            word, _, rest = line.partition(" ")
            has_started |= word == "started"
            if word == "loaded" and has_started:
                log.later_programs.add(rest)
    return log


def _parse_line(line: str, log: StatusLog) -> None:
    word, _, rest = line.partition(" ")
    if word == "loaded":
        log.programs.add(rest)
    elif word == "started":
        job, rank, size = rest.split()
        ranks = log.started.setdefault(job, (int(size), set()))[1]
        ranks.add(int(rank))
    elif word == "ended":
        job, rank, termination = rest.split(" ", 2)
        log.ended.setdefault(job, {})[int(rank)] = termination
    else:
        log.flags.add(word)


def describe_terminations(
    log: StatusLog, job: str, missing: list[int]
) -> dict[str, list[int]]:
    """Describe how ranks without ``MPI_Finalize`` terminated.

    Ranks that the launcher terminated are omitted.

    `missing` lists the ranks without counts.
    """
    ends: defaultdict[str, list[int]] = defaultdict(list)
    ended = log.ended.get(job, {})
    first = {
        rank: termination
        for rank, termination in ended.items()
        if termination not in _CAUSED_BY_LAUNCHER
    }
    for rank, termination in sorted(first.items()):
        ends[_describe_termination(termination)].append(rank)
    if job in log.started:
        started = log.started[job][1]
        for rank in missing:
            if rank not in ended:
                termination = "killed" if rank in started else "unseen"
                ends[_describe_termination(termination)].append(rank)
    return dict(ends)


def _describe_termination(termination: str) -> str:
    kind, _, number = termination.partition(" ")
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
    }.get(kind, termination)


def explain_no_counts(
    log: StatusLog, exit_status: int, full_disk: Path | None = None
) -> str:
    """Explain why a command produced no counts.

    `full_disk` is the folder of the counts if its disk is full.
    """
    if full_disk is not None:
        return f"the disk of {full_disk} is full, so ranks cannot leave their counts"
    if log.started:
        size, ranks = next(iter(log.started.values()))
        started = f"{len(ranks)} of {size} ranks reached MPI_Init, but "
        if log.later_programs:
            program = Path(min(log.later_programs)).name
            return (
                f"{started}left no counts; {program} started after that: probably the "
                "ranks replaced themselves by it (exec), which discards their counts"
            )
        return f"{started}were killed (SIGKILL) before they could leave their counts"
    if "other" in log.flags:
        return (
            "the program and the launcher's compiler belong to different MPIs; name "
            "the program's compiler with --mpicc"
        )
    if "sessions" in log.flags:
        return (
            "the program uses MPI sessions alone; recording starts at MPI_Init or "
            "MPI_Init_thread"
        )
    if "unseen" in log.flags:
        return (
            "the program started MPI by a call that no preloaded library sees: it "
            "looks up MPI_Init itself (dlopen, dlsym), or contains it"
        )
    if exit_status in ENDED_BY_SIGNAL:
        return f"{describe_early_end(exit_status)} before MPI_Init"
    if not log.programs and exit_status:
        return "the command failed, and no rank reported; see what it printed"
    if not log.programs:
        return (
            "no program of the command loaded the recorder; check with ldd that the "
            "program of the ranks is dynamic, that nothing clears LD_PRELOAD, and that "
            "all hosts see the output's folder"
        )
    names = sorted({Path(program).name for program in log.programs})
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    is_python = any(name.startswith("python") for name in names)
    torch = "; if it is a program of PyTorch, add --torch" if is_python else ""
    failed = "failed before MPI_Init (see what it printed), " if exit_status else ""
    return (
        f"the command {failed}ran no MPI program that is linked dynamically; the "
        f"recorder was loaded into {shown}, which did not call MPI_Init{torch}"
    )
