# SPDX-License-Identifier: BSD-3-Clause
"""Hop-bytes of tasks that each balancer moves on tori, fat trees and dragonflies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoloom import Allocation, load_machine
from topoloom.tasks import AllocationSpec, Ranks, balance_loads, block_ranks, load_nodes

#: machine -> number of nodes of its ragged allocation
MACHINES = {
    "torus:8x8x8": 300,
    "torus:16x16x16": 2000,
    "torus:32x32x32": 16000,
    "fattree:16:16:8": 1000,
    "fattree:32:32:32": 16000,
    "dragonfly:17x8,nodes=4": 300,
    "dragonfly:65x16,nodes=16": 8000,
}
METHODS = (
    "alias",
    "qwalk",
    "curve(partners=order)",
    "curve",
    "transport(receives=0)",
    "transport(receives=1)",
    "auto",
)
#: Kinds of random loads.
WALKERS, CLOUD = "walkers", "cloud"


class PlanCost(NamedTuple):
    """Cost of a plan, averaged over seeds."""

    hop_bytes: float
    messages: float
    receives: int
    busiest: float


class Case(NamedTuple):
    """Costs of all methods for one machine, allocation and kind of loads."""

    machine: str
    allocation: str
    loads: str
    ranks: int
    by_method: dict[str, PlanCost]

    def over(self, method: str, other: str) -> float:
        """Return the ratio of two methods' hop-bytes."""
        return self.by_method[method].hop_bytes / self.by_method[other].hop_bytes

    def messages(self, method: str) -> float:
        """Return the ratio of a method's messages to the alias method's."""
        return self.by_method[method].messages / self.by_method["alias"].messages


def measure(machine: str, ragged: bool, kind: str, seeds: int) -> Case:
    """Balance random loads by every method."""
    if ragged:
        allocation = load_nodes(machine, AllocationSpec(nodes=MACHINES[machine]))[
            0
        ].allocation
    else:
        allocation = Allocation.whole(load_machine(machine))
    ranks = block_ranks(allocation, allocation.slot_count)
    runs: dict[str, list[PlanCost]] = {method: [] for method in METHODS}
    for seed in range(seeds):
        loads = draw(kind, ranks, np.random.default_rng(seed))
        for method in METHODS:
            runs[method].append(_measure_plan(loads, method, ranks))
    means = {
        method: PlanCost(
            float(np.mean([run.hop_bytes for run in found])),
            float(np.mean([run.messages for run in found])),
            max(run.receives for run in found),
            float(np.mean([run.busiest for run in found])),
        )
        for method, found in runs.items()
    }
    where = "ragged" if ragged else "whole"
    return Case(machine, where, kind, allocation.slot_count, means)


def draw(kind: str, ranks: Ranks, rng: np.random.Generator) -> np.ndarray:
    """Draw loads: 24 +- 4 walkers per rank, or a cloud of load around one rank."""
    count = len(ranks.placement.slots)
    if kind == WALKERS:
        return rng.integers(20, 29, count)
    away = np.abs(np.arange(count) - int(rng.integers(count)))
    return rng.poisson(20 + 40 * np.exp(-away / (count / 16)))


def _measure_plan(loads: np.ndarray, method: str, ranks: Ranks) -> PlanCost:
    found = balance_loads(loads, method, ranks)
    assert found.cost is not None
    judged, measures = found.cost.judgement, found.balance.measures
    return PlanCost(
        judged.hop_bytes,
        measures["messages"],
        measures["max_receives"],
        judged.congestion_max,
    )
