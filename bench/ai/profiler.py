# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of the NCCL plugin per event, and lost events."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom.preload.nccl.profiler_plugin import build_plugin

SOURCE = Path(__file__).with_name("nccl_stub.c")
VERSIONS = (1, 2, 3, 4, 5, 6, 7)
#: Number of threads, and whether all use the same communicator.
KINDS = ((1, False), (16, False), (16, True))
REPEATED = 5


class PluginTime(NamedTuple):
    """Minimum CPU time per event over several runs, and counted events of all runs."""

    version: int
    threads: int
    together: bool
    nanoseconds: float
    events: int
    counted: int


def time_plugin(
    versions: Sequence[int] = VERSIONS,
    events: int = 1_000_000,
    repeated: int = REPEATED,
) -> list[PluginTime]:
    """Time the events of the NCCL stub, including the time to fill descriptors."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "nccl_stub"
        options = ["-std=gnu11", "-O2", "-rdynamic", "-pthread"]
        command = ["cc", *options, str(SOURCE), "-o", str(program), "-ldl"]
        subprocess.run(command, check=True)
        return [
            _run_timed(program, version, *kind, events, repeated)
            for version in versions
            for kind in KINDS
        ]


def _run_timed(
    program: Path,
    version: int,
    threads: int,
    together: bool,
    events: int,
    repeated: int,
) -> PluginTime:
    how = "time-together" if together else "time"
    words = [str(program), str(version), str(threads), str(events), how]
    nanoseconds, counted = [], 0
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "NCCL_PROFILER_PLUGIN": str(build_plugin()),
            "TOPOLOOM_NCCL_OUTPUT": folder,
        }
        for _ in range(repeated):
            done = subprocess.run(
                words, env=os.environ | variables, stdout=subprocess.PIPE, check=True
            )
            nanoseconds.append(float(done.stdout))
        for file in Path(folder).iterdir():
            for line in map(json.loads, file.read_text().splitlines()):
                counted += line.get("coll_perf", {}).get("coll_calls", 0)
    done_events = events * threads * repeated
    least = min(nanoseconds)
    return PluginTime(version, threads, together, least, done_events, counted)


def profiler_table(rows: Sequence[PluginTime]) -> str:
    """Format the times as Markdown, one row per version."""
    lines = [
        "| version | NCCL | 1 thread | 16 threads | 16 on one communicator "
        "| events | lost |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for version in dict.fromkeys(row.version for row in rows):
        found = [row for row in rows if row.version == version]
        times = " | ".join(f"{row.nanoseconds:.0f} ns" for row in found)
        events = sum(row.events for row in found)
        lost = events - sum(row.counted for row in found)
        release = _RELEASES[version]
        lines.append(f"| {version} | {release} | {times} | {events:,} | {lost} |")
    return "\n".join(lines) + "\n"


_RELEASES = {
    1: "2.23",
    2: "2.24 and 2.25",
    3: "2.26",
    4: "2.27",
    5: "2.28",
    6: "2.29 and 2.30",
    7: "in its sources",
}
