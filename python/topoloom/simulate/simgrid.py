# SPDX-License-Identifier: BSD-3-Clause
"""Simulates phases by replaying message traces with SimGrid's SMPI.

Nothing is compiled and no payload is allocated: SMPI's replay program reads ``isend``,
``irecv`` and ``waitall`` of every rank, and ``sleep`` for the startup cost of a message
(Desprez et al., "Improving the accuracy and efficiency of time-independent trace
replay", PMBS 2012). Each phase and round is a separate simulation, because a barrier
between them would send further messages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from topoloom._core import CommGraph, Error, Machine
from topoloom.graphs.phases import Ints
from topoloom.importers.simgrid.platform import write_routes
from topoloom.simulate.result import ReportProgress, SimulationResult, ignore_progress
from topoloom.simulate.rounds import Floats, Round, choose_send_order, split_into_rounds
from topoloom.simulate.single_routes import Pair, choose_routes
from topoloom.support.child_processes import run_child

#: Maximum number of messages per round; SimGrid's run time grows with the square of
#: this number.
MAX_MESSAGES = 50_000

CONSTANT_FACTORS = "network/model:CM02"  # bandwidths and latencies have factor 1
#: Settings with which links behave as the machine describes them: no TCP headers,
#: windows or acknowledgements, and no MPI overhead.
SETTINGS = (
    CONSTANT_FACTORS,
    "network/TCP-gamma:0",  # no window limit per flow
    "network/crosstraffic:no",  # no load on the reverse route
    "network/optim:Full",  # the default, Lazy, overfills links in SimGrid 3.32
    "surf/precision:1e-12",  # seconds; smpirun sets 1e-9
    "smpi/os:0:0:0",
    "smpi/or:0:0:0",
    "smpi/ois:0:0:0",
    "smpi/simulate-computation:no",
    "smpi/host-speed:1Gf",
    "smpi/display-timing:yes",
)
#: SMPI counts the bytes of a message in an int. Sizes and bandwidths are scaled so that
#: the largest message just fits. SMPI's header of 16 bytes is subtracted from each
#: message.
_MAX_BYTES = 2**31 - 64
_HEADER = 16
#: SimGrid's simulated time in the last line of its output, in seconds
_CLOCK = re.compile(r"^([0-9.]+)\|Simulated time:", re.MULTILINE)
#: Seconds added to all latencies, and subtracted from the result. Like TCP, SimGrid
#: gives flows with longer latency a smaller share of a link, but cluster networks do
#: not. With nearly equal latencies, shares are equal.
EXTRA_LATENCY = 1.0


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    settings: Sequence[str] = SETTINGS,
    *,
    progress: ReportProgress = ignore_progress,
) -> SimulationResult:
    """Simulate phases one after another; see `topoloom.simulate.Simulator`.

    `settings` are SimGrid options as ``key:value``. Progress counts messages.

    Several messages of a pair are sent in rounds; a round begins when the previous
    round is complete. Equal rounds are simulated once. If pairs have more than 16
    distinct message counts, some counts are rounded up to the next one, without a
    change of the total bytes.
    """
    smpirun = shutil.which("smpirun")
    if smpirun is None:
        raise Error(
            "SimGrid is not installed: there is no smpirun on PATH; Debian's package "
            "is libsimgrid-dev"
        )
    if not machine.has_bandwidths:
        raise Error(_describe_missing_rates(machine))
    rounds = [split_into_rounds(phase) for phase in phases]
    most = max((len(sent) for phase in rounds for _, sent in phase), default=0)
    if most > MAX_MESSAGES:
        raise Error(
            f"{most:,} concurrent messages are too many for SimGrid, which takes hours "
            f"for more than {MAX_MESSAGES:,}; simulate fewer ranks or smaller phases"
        )
    nodes = np.asarray(node_of_rank)
    with tempfile.TemporaryDirectory(prefix="topoloom-simgrid-") as directory:
        home = Path(directory)
        (home / "traces").write_text("trace\n", encoding="utf-8")
        command = [smpirun, *(f"--cfg={setting}" for setting in settings)]
        command += ["--log=root.fmt:%.14r|%m%n", "-no-privatize"]
        command += ["-platform", "platform.xml"]
        far = EXTRA_LATENCY if CONSTANT_FACTORS in settings else 0.0
        found = []
        count = sum(len(sent) for phase in rounds for _, sent in phase)
        done = 0
        for phase in rounds:
            routes = find_links(machine, nodes, phase)
            (home / "platform.xml").write_text(
                write_platform(machine, nodes, routes, far), encoding="utf-8"
            )
            seconds = 0.0
            for times, sent in phase:
                latencies = _sum_latencies(machine, nodes, sent, routes)
                end = _simulate_round(command, home, sent, latencies, machine)
                seconds += times * (end - far)
                done += len(sent)
                progress(done, count)
            found.append(seconds)
        return SimulationResult(found)


def _describe_missing_rates(machine: Machine) -> str:
    if machine.link_count:
        return (
            f"{machine.name} gives no bandwidths, so there is no time to simulate; "
            "describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )
    return (
        f"{machine.name}: there are no links, and how fast the node's memory is, is "
        "not known, so there is no time to simulate; say it, such as "
        "'+node:4,memory=50GB/s'"
    )


def find_links(
    machine: Machine, nodes: Ints, rounds: Sequence[Round]
) -> dict[Pair, list[int]]:
    """Choose the route for every pair of ranks that exchanges messages in a phase."""
    bytes_by_pair: dict[Pair, float] = {}
    for times, sent in rounds:
        ends = sent[:, :2].astype(int)
        for (source, target), size in zip(ends.tolist(), sent[:, 2], strict=True):
            before = bytes_by_pair.get((source, target), 0)
            bytes_by_pair[source, target] = before + times * size
            # SimGrid's default settings may load the reverse route.
            bytes_by_pair.setdefault((target, source), 0)
    return choose_routes(machine, nodes.tolist(), bytes_by_pair)


def _sum_latencies(
    machine: Machine, nodes: Ints, sent: Floats, routes: Mapping[Pair, list[int]]
) -> Floats:
    """Sum the latencies on each message's route; -1 inside a node."""
    ends = sent[:, :2].astype(int)
    found = [
        machine.node_latency + sum(map(machine.latency, routes[source, target]))
        for source, target in ends.tolist()
    ]
    is_inside = nodes[ends[:, 0]] == nodes[ends[:, 1]]
    return np.where(is_inside, -1.0, found)


def write_platform(
    machine: Machine,
    nodes: Ints,
    routes: Mapping[Pair, list[int]],
    extra_latency: float,
) -> str:
    """Write the SimGrid platform of a phase: one host per rank, on the rank's node.

    `extra_latency` seconds are added to every route.
    """
    ranks = sorted({rank for pair in routes for rank in pair})
    return write_routes(
        machine,
        {host_name(rank): int(nodes[rank]) for rank in ranks},
        {
            (host_name(a), host_name(b)): route
            for (a, b), route in sorted(routes.items())
        },
        machine.node_latency,
        machine.memory_bandwidth,
        extra_latency,
    )


def host_name(rank: int) -> str:
    """Return the host name of a rank; hosts on one node share its links."""
    return f"rank-{rank}.topoloom"


def _simulate_round(
    command: list[str], home: Path, sent: Floats, latencies: Floats, machine: Machine
) -> float:
    """Simulate one round, with only the ranks that send or receive; return seconds."""
    ends = sent[:, :2].astype(int)
    ranks, index = np.unique(ends, return_inverse=True)
    (home / "hosts").write_text(
        "".join(f"{host_name(rank)}\n" for rank in ranks), encoding="utf-8"
    )
    most = max(1.0, float(sent[:, 2].max()))
    # Sizes must not be scaled up, because other network models have size-dependent
    # factors.
    scale = _MAX_BYTES / most if f"--cfg={CONSTANT_FACTORS}" in command else 1
    scale = min(scale, _MAX_BYTES / most)
    if scale != 1:
        command = [*command, f"--cfg=network/bandwidth-factor:{scale!r}"]
    sizes = np.maximum(0, np.rint(sent[:, 2] * scale) - (_HEADER if scale != 1 else 0))
    startups = np.where(latencies < 0, machine.memory_startup, machine.startup)
    order = choose_send_order(ends[:, 0], latencies)
    trace = _write_trace(
        index.reshape(ends.shape)[order], sizes[order], startups[order], len(ranks)
    )
    (home / "trace").write_text(trace, encoding="utf-8")
    run = ["-np", str(len(ranks)), "-hostfile", "hosts", "-replay", "traces"]
    # smpirun adds TMPDIR to the search path for libraries, so it must be private.
    environment = {**os.environ, "TMPDIR": "."}
    output = run_child(
        [*command, *run], home, environment, stderr=subprocess.STDOUT
    ).stdout
    found = _CLOCK.search(output)
    if found is None:
        raise Error(f"SimGrid failed: {_find_error_line(output)}")
    return float(found[1])


def _write_trace(ends: Ints, sizes: Floats, startups: Floats, ranks: int) -> str:
    """Write the traces of all ranks; `init` without arguments means sizes in bytes."""
    actions = [[f"{rank} init"] for rank in range(ranks)]
    messages = [
        (source, target, int(size), float(startup))
        for (source, target), size, startup in zip(
            ends.tolist(), sizes, startups, strict=True
        )
    ]
    for source, target, size, _ in messages:
        actions[target].append(f"{target} irecv {source} 0 {size}")
    for source, target, size, startup in messages:
        if startup:
            actions[source].append(f"{source} sleep {startup!r}")
        actions[source].append(f"{source} isend {target} 0 {size}")
    for rank, lines in enumerate(actions):
        lines += [f"{rank} waitall", f"{rank} finalize"]
    return "\n".join(line for lines in actions for line in lines) + "\n"


def _find_error_line(output: str) -> str:
    """Find the last line before the backtrace, or the last line."""
    lines = [line for line in output.partition("Backtrace")[0].splitlines() if line]
    return lines[-1][:400] if lines else "no output"
