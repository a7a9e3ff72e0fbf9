# SPDX-License-Identifier: BSD-3-Clause
"""A PyTorch job whose traces are imported and compared with its own counts."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import Profile
from topoloom.graphs.traces.trace_formats import read_trace

JOB = Path(__file__).with_name("torch_job.py")

Counts = Counter[str]


class RecordedProgram(NamedTuple):
    """Comparison of a trace with the job's own counts."""

    trace: str
    counted: int
    equal: int
    differ: list[str]  # kinds of calls with a different number or size
    unread: int  # calls that are missing or incomplete in the trace
    missing: list[str]  # lost records that the import reports


def import_job(python: Path) -> list[RecordedProgram]:
    """Run the job in a Python that has PyTorch, and import its traces."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [python, JOB, folder]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return compare_job(folder)


def compare_job(folder: Path) -> list[RecordedProgram]:
    """Compare the traces in a folder with the counts in the same folder."""
    about = json.loads((folder / "job.json").read_text())
    expected = Counts(about["counts"])
    release = about["release"].partition("+")[0]
    found = []
    for kind in ("flight-recorder", "kineto"):
        profile, losses = read_trace(folder / kind, partial=True)
        read = count(profile)
        equal = sum(calls for key, calls in expected.items() if read[key] == calls)
        differ = sorted(key for key in read if read[key] != expected[key])
        unread = sum(calls for key, calls in expected.items() if key not in read)
        name = f"PyTorch {release}, gloo, {kind}"
        found.append(
            RecordedProgram(name, expected.total(), equal, differ, unread, losses)
        )
    return found


def count(profile: Profile) -> Counts:
    """Count the calls of a profile by operation, members and bytes."""
    counts = Counts()
    for _, operation, number, _, size, calls in profile.records.tolist():
        members = profile.communicators[number].tolist()
        counts[json.dumps([OPERATIONS[operation], members, size])] += calls
    for _, _, source, target, size, calls, _ in profile.traffic.tolist():
        counts[json.dumps(["send", [source, target], size // calls])] += calls
    return counts


def recorded_table(rows: Sequence[RecordedProgram]) -> str:
    """Format the comparison of traces as Markdown."""
    lines = [
        "| trace | calls of the job | read as counted | differ | not in the trace |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.trace} | {row.counted} | {row.equal} | {len(row.differ)} "
        f"| {row.unread} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
