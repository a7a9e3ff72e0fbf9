# SPDX-License-Identifier: BSD-3-Clause
"""Scripts for the NCCL stub, and the expected recording."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import Profile
from topoloom.preload.nccl.profiler_plugin import build_plugin

SOURCE = Path(__file__).resolve().parents[3] / "bench" / "ai" / "nccl_stub.c"

#: NCCL function number -> our name.
FUNCTIONS = {
    0: "bcast",
    1: "reduce",
    2: "allgather",
    3: "reduce_scatter",
    4: "allreduce",
    8: "alltoall",
    9: "scatter",
    10: "gather",
}
ROOTED = ("bcast", "reduce", "scatter", "gather")
#: Size in bytes of each NCCL datatype, by number.
BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)

Members = tuple[int, ...]


@dataclass(frozen=True)
class NcclCollective:
    """A collective; `communicator` is an index."""

    communicator: int
    function: int
    datatype: int
    count: int
    root: int
    times: int
    how: str = "plan"


@dataclass(frozen=True)
class NcclMessage:
    """A message between two ranks of a communicator."""

    communicator: int
    source: int
    target: int
    datatype: int
    count: int
    times: int


@dataclass(frozen=True)
class StubScript:
    """Members of each communicator, and the steps that every thread executes."""

    communicators: tuple[Members, ...]
    steps: tuple[NcclCollective | NcclMessage, ...]

    def format_text(self) -> str:
        """Return the script as input of the stub program."""
        lines = [
            f"communicator {4096 + number} {' '.join(map(str, members))}"
            for number, members in enumerate(self.communicators)
        ]
        for step in self.steps:
            words = " ".join(map(str, vars(step).values()))
            kind = "collective" if isinstance(step, NcclCollective) else "message"
            lines.append(f"{kind} {words}")
        return "\n".join(lines) + "\n"

    def count_collectives(self, threads: int) -> Counter[tuple[str, Members, int, int]]:
        """Count collectives: name, members, bytes, root or -1."""
        counts: Counter[tuple[str, Members, int, int]] = Counter()
        for step in self.steps:
            if isinstance(step, NcclCollective):
                name = FUNCTIONS[step.function]
                members = self.communicators[step.communicator]
                size = step.count * BYTES[step.datatype]
                size *= len(members) if name == "reduce_scatter" else 1
                root = step.root if name in ROOTED else -1
                counts[name, members, size, root] += step.times * threads
        return counts

    def count_messages(self, threads: int) -> tuple[Counter[Members], Counter[Members]]:
        """Count messages between ranks, and their bytes."""
        numbers: Counter[Members] = Counter()
        amounts: Counter[Members] = Counter()
        for step in self.steps:
            if isinstance(step, NcclMessage):
                members = self.communicators[step.communicator]
                pair = members[step.source], members[step.target]
                numbers[pair] += step.times * threads
                amounts[pair] += (
                    step.times * threads * step.count * BYTES[step.datatype]
                )
        return numbers, amounts


def compile_stub(folder: Path) -> Path:
    """Compile the stub program."""
    program = folder / "nccl_stub"
    command = ["cc", "-std=gnu11", "-O1", "-rdynamic", "-pthread", SOURCE, "-ldl"]
    subprocess.run([*command, "-o", program], check=True)
    return program


def run_script(
    program: Path,
    folder: Path,
    script: StubScript,
    version: int,
    threads: int = 1,
    per_process: int = 1,
    ending: str = "finalize",
    ranks_from_launcher: bool = False,
) -> None:
    """Run a script in the stub with the profiler plugin, which writes to the folder."""
    words = [str(version), str(threads), str(per_process), ending]
    variables = {
        "NCCL_PROFILER_PLUGIN": str(build_plugin()),
        "TOPOLOOM_NCCL_OUTPUT": str(folder),
        **({"GIVE_RANKS": "1"} if ranks_from_launcher else {}),
    }
    subprocess.run(
        [program, *words],
        input=script.format_text(),
        text=True,
        env=os.environ | variables,
        timeout=600,
        check=True,
    )


def count_recorded_collectives(
    profile: Profile,
) -> Counter[tuple[str, Members, int, int]]:
    """Count the collectives of a profile in the form of a script's counts."""
    counts: Counter[tuple[str, Members, int, int]] = Counter()
    for _, operation, number, root, size, calls in profile.records.tolist():
        members = tuple(profile.communicators[number].tolist())
        counts[OPERATIONS[operation], members, size, root] += calls
    return counts


def count_recorded_messages(
    profile: Profile,
) -> tuple[Counter[Members], Counter[Members]]:
    """Count the messages of a profile in the form of a script's counts."""
    numbers: Counter[Members] = Counter()
    amounts: Counter[Members] = Counter()
    for _, _, source, target, size, messages, _ in profile.traffic.tolist():
        numbers[source, target] += messages
        amounts[source, target] += size
    return numbers, amounts
