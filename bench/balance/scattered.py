# SPDX-License-Identifier: BSD-3-Clause
"""Steps with random loads in SimGrid's MPI, on nodes scattered over a torus."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import topoloom as tl
from balance.simulated import HERE, ON_MACHINE, Walk, build, launch
from smpi import run
from topoloom import graphs

MACHINE = "torus:25x32x24,bandwidth=10GB/s,latency=0.1us"
#: (processes, one per node; bytes of a task; steps).
CASES = ((100, 672, 11), (100, 32768, 11), (1000, 672, 2))
FEW = (16, 672, 2)
#: The source exchanges without capacity checks; its QWalk sends a message per task.
METHODS = {
    "alias": "unasked:alias",
    "alias along the curve": "unasked:alias",
    "QWalk, a message per task": "walk",
    "QWalk, a message per rank": "unasked:qwalk",
    "transport(receives=0)": "transport(receives=0)",
}
#: SimGrid settings without its correction factors for TCP.
PLAIN = {"smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1"}


def time_scattered(processes: int, task_bytes: int, steps: int) -> Walk:
    """Time steps by each method; "alias along the curve" sorts processes."""
    machine = tl.load_machine(MACHINE)
    nodes = random.Random(1).sample(range(machine.slot_count), processes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(HERE / "random_steps.c", folder)
        platform, hosts = folder / "torus.xml", folder / "hosts"
        run("topoloom", "machine", "export", MACHINE, "-o", platform)
        times = {}
        for way, method in METHODS.items():
            order = sort_nodes_along_curve(machine, nodes) if "curve" in way else nodes
            hosts.write_text("".join(f"node-{node}.topoloom\n" for node in order))
            place = [MACHINE] if method in ON_MACHINE else []
            words = (method, task_bytes, steps, *place)
            times[way] = float(
                launch(platform, hosts, PLAIN, processes, program, *words)
            )
        return Walk(processes, task_bytes, times)


def sort_nodes_along_curve(machine: tl.Machine, nodes: list[int]) -> list[int]:
    """Sort nodes along the Hilbert curve."""
    allocation = tl.Allocation(machine, sorted(nodes))
    ring = graphs.ring(len(nodes), 1)
    return [int(slot) for slot in tl.place(ring, allocation, "hilbert").placement.slots]
