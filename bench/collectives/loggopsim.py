# SPDX-License-Identifier: BSD-3-Clause
"""Predictions compared with LogGOPSim's, for the same schedules and parameters.

T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications
in the LogGOPS Model", HPDC 2010; github.com/spcl/LogGOPSim, built from the user's copy.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import smpi
from topoloom import Allocation, Machine, Placement
from topoloom.model import MessageCosts, NetworkModel
from topoloom.schedules.choose import Call
from topoloom.schedules.exports import goal
from topoloom.schedules.exports.request import ExportRequest

RANKS = (8, 13, 64)
SIZES = (8, 1024, 65536)
SCHEDULES = {
    "bcast": (
        *("binomial", "linear", "scatter-allgather"),
        *("chain(segment=8192)", "two-trees(segment=8192)"),
    ),
    "allgather": ("ring", "recursive-doubling", "bruck", "at-once"),
    "allreduce": ("recursive-doubling", "halving", "ring"),
    "alltoall": ("at-once", "cyclic", "pairwise", "bruck", "mesh"),
}
#: LogGOPSim's parameters in nanoseconds; S makes all messages eager.
NANOSECONDS = {"L": 2000, "o": 1000, "g": 1500, "G": 1, "S": 2**31 - 1}


@dataclass(frozen=True)
class Predicted:
    """Predicted seconds of a call.

    Attributes
    ----------
    schedule
        Operation and name.
    alone
        Seconds from the messages alone, summed over rounds.
    run
        Seconds until all ranks finish without waiting for rounds, on a machine with
        contention-free links.
    theirs
        Seconds predicted by LogGOPSim.
    """

    schedule: tuple[str, str]
    alone: float
    run: float
    theirs: float


def build(sources: Path, folder: Path) -> Path:
    """Build a copy of LogGOPSim; return the folder of its programs."""
    for program, package in (("re2c", "re2c"), ("gengetopt", "gengetopt")):
        smpi.find(program, package)
    if not Path("/usr/include/graphviz/cgraph.h").exists():
        header = "bench: graphviz/cgraph.h is missing"
        raise SystemExit(f"{header}: apt-get install libgraphviz-dev")
    copy = folder / "loggopsim"
    shutil.copytree(sources / "src" / "LogGOPSim", copy)
    smpi.run("make", "-s", "-C", copy)
    return copy


def model(gamma: float = 0, reduce: float = 0) -> NetworkModel:
    """Make the model; `gamma` and `reduce`: seconds per byte to copy and to combine."""
    costs = MessageCosts()
    costs.gamma, costs.reduce = gamma, reduce
    L, o, g, G = (1e-9 * NANOSECONDS[name] for name in "LogG")
    return NetworkModel.loggp(L, o, g, G, costs)


def predict(programs: Path, costs: NetworkModel) -> Iterator[Predicted]:
    """Predict all calls by Topoloom and by LogGOPSim."""
    for operation, names in SCHEDULES.items():
        for ranks in RANKS:
            allocation = Allocation.whole(Machine(f"tree:{ranks},bandwidth=1e9GB/s"))
            placement = Placement(allocation, list(range(ranks)))
            for size in SIZES:
                for name in names:
                    call = Call(operation, ranks, size)
                    schedule = call.schedule(name)
                    yield Predicted(
                        (operation, name),
                        schedule.cost(costs).time,
                        schedule.cost_on(allocation, placement, costs).time,
                        simulate(
                            programs, goal.write(ExportRequest(call, name, costs))
                        ),
                    )


def simulate(programs: Path, text: str) -> float:
    """Simulate a GOAL schedule with LogGOPSim; return seconds."""
    written, binary = programs / "schedule.goal", programs / "schedule.bin"
    written.write_text(text)
    smpi.run(programs / "txt2bin", "-i", written, "-o", binary)
    options = [f"-{name}{value}" for name, value in NANOSECONDS.items()]
    command = [str(programs / "LogGOPSim"), "--batchmode", "-f", str(binary), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return read_end(done.stdout)


def read_end(printed: str) -> float:
    """Parse the time when the last rank ends, in seconds."""
    found = re.search(r"Maximum finishing time at host \d+: (\d+)", printed)
    if found is None:
        raise SystemExit(f"bench: LogGOPSim failed:\n{printed}")
    return 1e-9 * int(found[1])


def table(messages: Iterable[Predicted], work: Iterable[Predicted]) -> str:
    """Format a line per schedule: ratios of our times to LogGOPSim's over all calls."""
    lines = [
        "| operation | schedule | messages alone | run | run, with work |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    without, with_work = _group_by_schedule(messages), _group_by_schedule(work)
    for (operation, name), rows in without.items():
        ratios = (
            [row.alone / row.theirs for row in rows],
            [row.run / row.theirs for row in rows],
            [row.run / row.theirs for row in with_work[operation, name]],
        )
        cells = " | ".join(map(_format_range, ratios))
        lines.append(f"| {operation} | `{name}` | {cells} |")
    return "\n".join(lines)


def _group_by_schedule(
    rows: Iterable[Predicted],
) -> dict[tuple[str, str], list[Predicted]]:
    found: dict[tuple[str, str], list[Predicted]] = {}
    for row in rows:
        found.setdefault(row.schedule, []).append(row)
    return found


def _format_range(ratios: Sequence[float]) -> str:
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low}-{high}"
