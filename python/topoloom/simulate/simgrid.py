# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's SMPI, replaying a trace of what the ranks send.

Nothing is compiled and no payload is held in memory: SMPI's own replay program reads
``isend``, ``irecv`` and ``waitall`` of every rank (Desprez et al., "Improving the
accuracy and efficiency of time-independent trace replay", PMBS 2012). Phases are
simulated one by one: a barrier between them would send messages of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from topoloom._core import CommGraph, Error, Machine
from topoloom.children import run_child
from topoloom.discover.simgrid_platform import host_name, write_routes
from topoloom.phases import Ints, edge_rows

#: Messages of a phase; SimGrid's time grows with their square.
MOST_MESSAGES = 50_000

#: Links are what the machine says: nothing for TCP's headers, windows and
#: acknowledgements, nothing for MPI's own work.
SETTINGS = (
    "network/model:CM02",  # bandwidth and latency factors of 1
    "network/TCP-gamma:0",  # no window that bounds a flow
    "network/crosstraffic:no",  # no load on the way back
    "network/optim:Full",  # Lazy, the default, overfills links in SimGrid 3.32
    "smpi/os:0:0:0",
    "smpi/or:0:0:0",
    "smpi/ois:0:0:0",
    "smpi/simulate-computation:no",
    "smpi/host-speed:1Gf",
    "smpi/display-timing:yes",
)
#: SMPI counts a message's bytes in an int. Where one has more, all are counted in
#: parts of several bytes, and links carry fewer parts.
_MOST_BYTES = 2**31 - 64
TIME = re.compile(r"Simulated time: (\S+) seconds")


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    settings: Sequence[str] = SETTINGS,
) -> list[float]:
    """Simulate phases one after the other; see `topoloom.simulate.Simulate`.

    `settings` are SimGrid's, ``key:value``. Messages inside a node take no time.
    """
    smpirun = shutil.which("smpirun")
    if smpirun is None:
        raise Error(
            "SimGrid is not installed: there is no smpirun on PATH; Debian's package "
            "is libsimgrid-dev"
        )
    between = [_between_nodes(phase, node_of_rank) for phase in phases]
    most = max(map(len, between), default=0)
    if most > MOST_MESSAGES:
        raise Error(
            f"{most:,} messages at once are too many for SimGrid, which takes hours "
            f"for over {MOST_MESSAGES:,}; simulate fewer ranks, or phases"
        )
    pairs = {
        (node_of_rank[source], node_of_rank[target])
        for rows in between
        for source, target, *_ in rows.tolist()
    }
    # Settings of SimGrid's own may load the way back.
    pairs |= {(target, source) for source, target in pairs}
    beside = machine.startup + machine.node_latency
    platform = write_routes(machine, pairs, beside)
    with tempfile.TemporaryDirectory(prefix="topoloom-simgrid-") as directory:
        home = Path(directory)
        (home / "platform.xml").write_text(platform)
        (home / "traces").write_text("trace\n")
        command = [smpirun, *(f"--cfg={setting}" for setting in settings)]
        command += ["--log=root.fmt:%m%n", "-no-privatize", "-platform", "platform.xml"]
        return [_run(command, home, rows, node_of_rank) for rows in between]


def _between_nodes(phase: CommGraph, node_of_rank: Sequence[int]) -> Ints:
    rows = edge_rows(phase)
    crosses = [
        node_of_rank[source] != node_of_rank[target]
        for source, target, *_ in rows.tolist()
    ]
    return rows[crosses]


def _run(
    command: list[str], home: Path, rows: Ints, node_of_rank: Sequence[int]
) -> float:
    """Simulate one phase of the ranks that send or receive in it."""
    if len(rows) == 0:
        return 0.0
    ranks = sorted({*rows[:, 0].tolist(), *rows[:, 1].tolist()})
    number = {rank: place for place, rank in enumerate(ranks)}
    hosts = [host_name(node_of_rank[rank]) for rank in ranks]
    (home / "hosts").write_text("\n".join(hosts) + "\n")
    part = -(-int(rows[:, 2].max()) // _MOST_BYTES)
    if part > 1:
        command = [*command, f"--cfg=network/bandwidth-factor:{1 / part}"]
        rows = np.column_stack([rows[:, :2], -(-rows[:, 2] // part), rows[:, 3]])
    (home / "trace").write_text(_trace(rows, number))
    run = ["-np", str(len(ranks)), "-hostfile", "hosts", "-replay", "traces"]
    said = run_child([*command, *run], home, stderr=subprocess.STDOUT).stdout
    found = TIME.search(said)
    if found is None:
        raise Error(f"SimGrid failed: {_complaint(said)}")
    return float(found[1])


def _trace(rows: Ints, number: dict[int, int]) -> str:
    """Write what each rank does; bytes are SMPI's default type where init is alone."""
    actions = {rank: [f"{place} init"] for rank, place in number.items()}
    for source, target, size, _ in rows.tolist():
        actions[target].append(f"{number[target]} irecv {number[source]} 0 {size}")
    for source, target, size, _ in rows.tolist():
        actions[source].append(f"{number[source]} isend {number[target]} 0 {size}")
    for rank, place in number.items():
        actions[rank] += [f"{place} waitall", f"{place} finalize"]
    return "\n".join(line for lines in actions.values() for line in lines) + "\n"


def _complaint(said: str) -> str:
    """Take the last line before the backtrace, else the last of all."""
    lines = [line for line in said.partition("Backtrace")[0].splitlines() if line]
    return lines[-1][:400] if lines else "it said nothing"
