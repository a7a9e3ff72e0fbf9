# SPDX-License-Identifier: BSD-3-Clause
"""Prints stored runs and their summaries."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING

from topoloom.cli.console import print_facts, print_table
from topoloom.support.units import counted

if TYPE_CHECKING:
    from topoloom.documents.runs import StoredRun
    from topoloom.tasks.runs.summary import GroupSummary

_UNKNOWN = "-"


def print_runs(runs: Sequence[StoredRun], title: str) -> None:
    """Print a table of runs."""
    columns = ["run", "started", "program", "kind", "machine", "user", "partition"]
    numbers = ["ranks", "nodes", "wall", "in MPI", "predicted", "status"]
    rows = [
        [
            run["id"],
            _format_start(run),
            run["program"],
            run["kind"],
            run["machine"],
            run["user"],
            run["partition"] or _UNKNOWN,
            _format_number(run["ranks"]),
            _format_number(run["nodes"]),
            _format_wall(run),
            _format_mpi_share(run),
            _format_prediction(run),
            _format_number(run["exit_status"]),
        ]
        for run in runs
    ]
    print_table(
        [*columns, *numbers],
        rows,
        title=title,
        left=len(columns),
        keep=["run", "program", "kind", "wall"],
        drop_first=["user", "partition", "nodes", "machine"],
    )


def print_run(
    run: StoredRun, recording: Path | None, placement: Path | None, gain: str
) -> None:
    """Print one run, its files, and the gain of placement for its program."""
    facts = [
        ("run", f"{run['id']}, {run['kind']}"),
        ("started", f"{_format_start(run)} by {run['user']} on {run['host']}"),
        ("command", shlex.join(run["command"])),
        ("in", run["directory"]),
        ("program", run["program"]),
        ("ranks", f"{_format_number(run['ranks'])} on {counted(run['nodes'], 'node')}"),
        ("launcher", run["launcher"] or "unknown"),
        ("machine", run["machine"]),
        ("hosts", run["hosts"] or "unknown"),
        ("ended", _format_end(run)),
    ]
    if run["job"]:
        facts.insert(2, ("job", f"{run['job']} in {run['partition'] or 'unknown'}"))
    if time := run["mpi_time"]:
        share = f"{_format_mpi_share(run)} of {time['run']:.3g} s"
        facts.append(("time in MPI", f"{share}; at most {time['max']:.3g} s"))
    if run["mapper"]:
        facts.append(("placement", f"{run['mapper']}, objective {run['objective']}"))
        facts.append(("predicted", _format_prediction(run)))
    if run["drift"] is not None:
        share = f"{100 * run['drift']:.1f} % of the traffic"
        facts.append(("drift", f"{share} flows between other ranks than recorded"))
    if run["note"]:
        facts.append(("note", run["note"]))
    if recording is not None:
        facts.append(("recording", str(recording)))
    if placement is not None:
        facts.append(("placement file", str(placement)))
    facts.append(("measured", gain))
    print_facts(facts)


def print_summary(groups: Sequence[GroupSummary], by: str) -> None:
    """Print what placement gains, by user, program or partition."""
    rows = [
        [
            group.name,
            group.verdict,
            str(group.runs),
            str(group.placed),
            f"{group.node_hours:,.1f}",
            _format_percent(group.mpi_percent, ""),
            _format_percent(group.predicted_percent),
            _format_percent(group.saving_percent),
            _format_percent(group.gain.change),
        ]
        for group in groups
    ]
    print_table(
        [
            by,
            "verdict",
            "runs",
            "placed",
            "node hours",
            "in MPI",
            "predicted,\nof MPI time",
            "predicted,\nof run time",
            "measured",
        ],
        rows,
        left=2,
        keep=[by, "verdict", "runs"],
    )


def _format_start(run: StoredRun) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", localtime(run["started"]))


def _format_number(number: int | None) -> str:
    return _UNKNOWN if number is None else str(number)


def _format_wall(run: StoredRun) -> str:
    seconds = run["wall_seconds"]
    return _UNKNOWN if seconds is None else f"{seconds:.2f} s"


def _format_end(run: StoredRun) -> str:
    if run["exit_status"] is None:
        return "unknown"
    return f"with status {run['exit_status']} after {_format_wall(run)}"


def _format_mpi_share(run: StoredRun) -> str:
    time = run["mpi_time"]
    if time is None or not time["run"]:
        return _UNKNOWN
    return f"{100 * time['mean'] / time['run']:.1f} %"


def _format_prediction(run: StoredRun) -> str:
    """Format the predicted change of communication time, or of hop-bytes."""
    for name in ("predicted_seconds", "hop_bytes"):
        before, after = run["predicted"].get(name, (0.0, 0.0))
        if before:
            return _format_percent(100 * (after / before - 1))
    return _UNKNOWN


def _format_percent(number: float | None, sign: str = "+") -> str:
    return _UNKNOWN if number is None else f"{number:{sign}.1f} %"
