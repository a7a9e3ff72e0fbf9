# SPDX-License-Identifier: BSD-3-Clause
"""Predicted alltoalls with the best schedule and the best order of ranks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from time import perf_counter

from topoloom import Allocation
from topoloom.allocations import fragmented_allocation
from topoloom.machines.machine_file import load_machine
from topoloom.model import NetworkModel
from topoloom.model.model_names import load_model
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    find_default_schedule,
    rank_schedules,
)
from topoloom.schedules.joint_search import make_block_order, optimize_jointly

RANKS = 1024
SIZES = (64, 256, 1024)

#: Fat trees and tori of the zoo with 1,024 nodes or more, and their network models;
#: without a measured model, a message has a startup of 2 us.
ASSUMED = "2 us"
MACHINES = {
    "frontera": "hdr100",
    "stampede3": "hdr100",
    "fugaku": "tofu-d",
    "k": "tofu-d",
    "bgp-rack": ASSUMED,
    "bgq-rack": ASSUMED,
    "bigben-xt3": ASSUMED,
    "titan": ASSUMED,
    "hopper": ASSUMED,
    "tpu-v4-pod": ASSUMED,
}


@dataclass(frozen=True)
class Result:
    """Predicted seconds of an alltoall on a machine.

    Attributes
    ----------
    direct, usual
        MPI in block order: all messages at once, and MPICH's choice.
    alone
        The best schedule in block order.
    together
        The best schedule in the best order.
    took
        Search time in seconds.
    """

    machine: str
    model: str
    bytes: int
    direct: float
    usual: float
    usual_name: str
    alone: float
    together: float
    name: str
    took: float

    @property
    def gain(self) -> float:
        """Speedup over the faster of MPI's two choices."""
        return min(self.direct, self.usual) / self.together


def measure(machine: str, size: int, seed: int = 1) -> Result:
    """Choose schedule and order for one rank per node on 1,024 nodes in 4 fragments."""
    the_machine = load_machine(machine)
    pieces = 4 if the_machine.node_count > RANKS else 1
    nodes = fragmented_allocation(the_machine, RANKS, pieces, seed).nodes
    slots = [int(node) * the_machine.slots_per_node for node in nodes]
    allocation = Allocation(the_machine, nodes, slots)
    model = network_model(machine)
    call = Call("alltoall", RANKS, size)
    start = perf_counter()
    block = RankSlots(allocation, make_block_order(call, allocation))
    ranked = rank_schedules(call, model, block)
    usual = find_default_schedule(call) or ""
    plain = rank_schedules(call, model, block, ["at-once", usual])
    times = {one.name: one.cost.time for one in plain}
    found = optimize_jointly(call, allocation, model, seed)
    return Result(
        machine,
        MACHINES[machine],
        size,
        times["at-once"],
        times[usual],
        usual,
        ranked[0].cost.time,
        found.best.cost.time,
        found.best.name,
        perf_counter() - start,
    )


def network_model(machine: str) -> NetworkModel:
    """Return the network model of a machine."""
    if MACHINES[machine] != ASSUMED:
        return load_model(MACHINES[machine]).model
    bandwidth = float(load_bandwidth(machine))
    return NetworkModel.regimes([(2e-6, 1 / bandwidth, None)])


def load_bandwidth(machine: str) -> float:
    """Return the bandwidth of most links, in bytes per second."""
    from topoloom.machines.machine_facts import machine_facts

    facts = machine_facts(load_machine(machine))
    return float(facts["bandwidths"][0]["bytes_per_second"])


def compare(only: str) -> str:
    """Measure the machines whose names have this prefix; format a table as Markdown."""
    results = []
    for machine in MACHINES:
        for size in SIZES if machine.startswith(only) else ():
            results.append(measure(machine, size))
            print(_format_row(results[-1]), file=sys.stderr, flush=True)
    return table(results) if results else ""


def table(results: Sequence[Result]) -> str:
    """Format a table as Markdown; times are microseconds."""
    rows = [
        "| machine | model | bytes | at once | MPI's usual | its schedule "
        "| best schedule | best order, too | its schedule | times as fast |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |",
    ]
    for r in results:
        times = (f"{1e6 * t:,.0f}" for t in (r.direct, r.usual))
        ours = (f"{1e6 * t:,.0f}" for t in (r.alone, r.together))
        words = (r.machine, r.model, r.bytes, *times, r.usual_name, *ours, r.name)
        rows.append(f"| {' | '.join(map(str, words))} | {r.gain:.2f} |")
    mean = geometric_mean(r.gain for r in results)
    rows.append(f"| **all** | | | | | | | | | **{mean:.2f}** |")
    return "\n".join(rows)


def _format_row(r: Result) -> str:
    """Format a result for the progress output."""
    return (
        f"{r.machine:12} {r.bytes:5} B  {r.usual_name} {1e6 * r.usual:8.1f} us, ours "
        f"{r.name} {1e6 * r.together:8.1f} us: {r.gain:.2f} times as fast, "
        f"chosen in {r.took:.1f} s"
    )
