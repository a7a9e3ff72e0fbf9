# SPDX-License-Identifier: BSD-3-Clause
"""Records PyTorch jobs: counts compared with the jobs' own, and cost."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

from topoloom._core import CommGraph
from topoloom.frameworks.device_mesh import DeviceMeshJob
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import layout_graph
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.phases import edge_rows
from topoloom.graphs.profile import KINDS, Profile
from topoloom.tasks.record import record_torch

HERE = Path(__file__).parent
RANKS = 4
#: 4 stages of 256 ranks. A rank sends SENT bytes along each axis, enough for rings.
WORLD = DeviceMeshJob(replicate=4, shard=8, tp=8, pp=4)
SENT = {"replicate": 3 << 23, "shard": 7 << 22, "tp": 7 << 21, "pp": 1 << 20}


class RecordedJob(NamedTuple):
    """A recorded job of gloo ranks: the job's own counts and the recorded ones."""

    release: str
    counted: int
    equal: int
    bytes: int
    differ: list[str]
    losses: list[str]


class EmulatedWorld(NamedTuple):
    """A world that is emulated by one process at a time."""

    ranks: int
    played: int
    pairs: int
    differ: int
    cpu: float
    losses: list[str]


class Cost(NamedTuple):
    """CPU seconds per training step and per call, and calls per step."""

    step: float
    call: float
    calls: int
    measured: float  # relative CPU time that the recorder adds to a step

    @property
    def part(self) -> float:
        """The recorder's share of a step's CPU time."""
        return self.call * self.calls / self.step


def count(profile: Profile) -> Counter[str]:
    """Count the calls of a profile by operation, members, bytes and root."""
    counts = Counter[str]()
    for _, operation, number, root, size, calls in profile.records.tolist():
        members = profile.communicators[number].tolist()
        counts[json.dumps([OPERATIONS[operation], members, size, root])] += calls
    for _, kind, source, target, size, calls, _ in profile.traffic.tolist():
        key = [KINDS[kind], [source, target], size // calls, -1]
        counts[json.dumps(key)] += calls
    return counts


def record_job(python: Path) -> RecordedJob:
    """Record the job that counts its own calls."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = torchrun(python, RANKS, "recorded_job.py", str(folder))
        recorded = record_torch(command, folder / "job.npz", stdout=sys.stderr)
        expected, release = Counter[str](), ""
        for file in folder.glob("counts_*.json"):
            about = json.loads(file.read_text())
            expected.update(about["counts"])
            release = about["release"].partition("+")[0]
    read = count(recorded.profile)
    equal = sum(calls for key, calls in expected.items() if read[key] == calls)
    differ = sorted(key for key in read | expected if read[key] != expected[key])
    bytes = sum(json.loads(key)[2] * calls for key, calls in expected.items())
    return RecordedJob(
        release, expected.total(), equal, bytes, differ, [*recorded.losses]
    )


def play_world(python: Path) -> EmulatedWorld:
    """Emulate one rank per stage, and compare with the pattern of the same axes."""
    stages = [stage * (WORLD.ranks // WORLD.pp) for stage in range(WORLD.pp)]
    mesh = {axis: WORLD.mesh[axis] for axis in ("pp", "replicate", "shard", "tp")}
    command = [str(python), str(HERE / "world_job.py"), *map(json.dumps, (mesh, SENT))]
    before = getrusage(RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as name:
        recorded = record_torch(
            command,
            Path(name) / "world.npz",
            world=WORLD.ranks,
            ranks=",".join(map(str, stages)),
            stdout=sys.stderr,
        )
    after = getrusage(RUSAGE_CHILDREN)
    traffic = [
        Traffic((axis,), "chain" if axis == "pp" else "ring", size)
        for axis, size in SENT.items()
    ]
    expected = count_inter_node_bytes(layout_graph(WORLD.layouts()[0], traffic)[0])
    found = count_inter_node_bytes(recorded.profile.graph())
    differ = sum(found[pair] != expected[pair] for pair in found | expected)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    losses = [*recorded.losses]
    return EmulatedWorld(WORLD.ranks, len(stages), len(expected), differ, cpu, losses)


def count_inter_node_bytes(graph: CommGraph) -> Counter[tuple[int, int]]:
    """Sum the bytes of each pair over both directions.

    Returns
    -------
    Counter
        Bytes by (lower rank, higher rank).
    """
    sums = Counter[tuple[int, int]]()
    for source, target, size, _ in edge_rows(graph).tolist():
        sums[min(source, target), max(source, target)] += size
    return sums


def measure(python: Path) -> Cost:
    """Measure the CPU time of training steps with and without the recorder."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "seconds.json"
        command = torchrun(python, 2, "step_job.py", str(file))
        recorded = record_torch(command, Path(name) / "p.npz", stdout=sys.stderr)
        found = json.loads(file.read_text())
    steps = 1 + STEPS_OBSERVED
    calls = recorded.profile.records[:, 5].sum() // steps
    # Use the minimum of all runs, because other processes use the same cores.
    least = {
        work: {way: min(values) for way, values in ways.items()}
        for work, ways in found.items()
    }
    step, call = least["step"], least["call"]
    extra = call["with"] - call["without"]
    ratio = step["with"] / step["without"] - 1
    return Cost(step["without"], extra, int(calls), ratio)


#: of step_job.py: TURNS x STEPS
STEPS_OBSERVED = 8 * 4


def torchrun(python: Path, ranks: int, job: str, *arguments: str) -> list[str]:
    """Build the torchrun command of one of our jobs."""
    launcher = str(python.with_name("torchrun"))
    return [launcher, f"--nproc-per-node={ranks}", str(HERE / job), *arguments]


def recorder_table(
    counts: RecordedJob,
    played: EmulatedWorld,
    cost: Cost,
    of_frameworks: Sequence[str],
    losses: Sequence[str],
) -> str:
    """Format the results as Markdown, with frameworks and lost calls."""
    lines = [
        f"| PyTorch {counts.release} | measured | target |",
        "| --- | --- | --- |",
        f"| {RANKS} gloo ranks: calls, {counts.bytes:,} bytes | {counts.equal} of "
        f"{counts.counted} as the job counts them, {len(counts.differ)} differ | all |",
        f"| world of {played.ranks:,} ranks, {played.played} of them played | "
        f"{played.pairs:,} pairs, {played.differ} differ from the pattern of the axes; "
        f"{played.cpu:.0f} s of CPU time | 0 differ |",
        *of_frameworks,
        f"| a call | {1e6 * cost.call:.0f} us of CPU time more | |",
        f"| a step of FSDP with {cost.calls} calls, {1e3 * cost.step:.0f} ms of CPU "
        f"time | {100 * cost.part:.1f} % by its calls; {100 * cost.measured:+.1f} % "
        "between the best of 8 turns | < 2 % |",
    ]
    lost = [*counts.losses, *played.losses, *losses]
    return "\n".join([*lines, *(f"\nLost: {one}." for one in lost)]) + "\n"
