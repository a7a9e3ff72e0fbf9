# SPDX-License-Identifier: BSD-3-Clause
"""Simulations of the chapter: its switches, networks and traffic patterns.

A channel moves a flit in 10.24 ns. A packet of 256 bytes has 20 flits. A channel takes
two cycles (20 ns), a switch nine (92 ns).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from topoloom import Allocation, Machine
from topoloom._core import LoadMeasure, SwitchWiring
from topoloom.simulate.switch_toml import load_switch
from topoloom.tasks.collectives.multicast_trees import build_trees
from topoloom.tasks.network.tree_times import SizeTimes, time_trees

CYCLE = 10.24e-9  # seconds
PACKET = 20  # flits
NETWORKS = {8: "fattree:4:4:4:4", 32: "fattree:16:16"}
SPEEDS = ",bandwidth=1.25GB/s,latency=20ns"
CARDS = "+node:1,startup=1.3us,latency=1.3us"
TRAFFICS = ("complement", "transpose", "reversal", "uniform")


@dataclass(frozen=True)
class Curve:
    """Results of loads up to the first saturated one."""

    points: dict[float, LoadMeasure]

    @property
    def highest(self) -> float:
        """The highest load below saturation; 0 if there is none."""
        stable = [load for load, one in self.points.items() if not one.saturated]
        return max(stable, default=0.0)

    @property
    def throughput(self) -> float:
        """Flits per node and cycle at the highest measured load."""
        return self.points[max(self.points)].accepted

    def latency(self, load: float) -> float | None:
        """Mean latency in seconds; None if saturated."""
        one = self.points.get(load)
        return None if one is None or one.saturated else one.latency_mean * CYCLE


def measure(
    machine: str,
    traffic: str,
    packets: int,
    loads: Sequence[float],
    *,
    router: str = "output-queued",
    routing: str = "minimal-adaptive",
    packet: int = PACKET,
    iterations: int = 1,
) -> Curve:
    """Measure loads in order until one saturates; `packets` is the buffer size."""
    wiring = SwitchWiring(Machine(machine), routing)
    points = {}
    for load in loads:
        points[load] = wiring.measure_load(
            traffic,
            load,
            vcs=1,
            buffer=packets * packet,
            packet=packet,
            switching="cut-through",
            router=router,
            channel=2 if packet > 1 else 1,
            crossing=8 if packet > 1 else 1,
            iterations=iterations,
        )
        if points[load].saturated:
            break
    return Curve(points)


def simulate_reductions(sizes: Sequence[int]) -> Iterator[tuple[str, list[SizeTimes]]]:
    """Simulate reductions of 256 nodes to one node, without the time of NICs."""
    switch = load_switch("kumar-2005")
    for ports, units in ((8, 1), (32, 1), (32, 5)):
        machine = Machine(NETWORKS[ports] + SPEEDS)
        allocation = Allocation.whole(machine)
        found = time_trees(
            allocation,
            build_trees(allocation),
            "reduce",
            sizes,
            replace(switch, units=units),
        )
        yield f"{ports} ports, {units} unit{'s' if units > 1 else ''}", found.sizes


def simulate_multicasts(sizes: Sequence[int]) -> Iterator[tuple[int, list[SizeTimes]]]:
    """Simulate 16 concurrent multicasts to 16 random nodes each, on 256 nodes."""
    for ports, network in NETWORKS.items():
        allocation = Allocation.whole(Machine(network + SPEEDS + CARDS))
        trees = build_trees(allocation, "16", 16)
        found = time_trees(allocation, trees, "bcast", sizes, load_switch("kumar-2005"))
        yield ports, found.sizes
