# SPDX-License-Identifier: BSD-3-Clause
"""Links, nodes, and times of a few messages, for tests of simulations."""

from __future__ import annotations

import numpy as np

from topoloom import CommGraph, Machine
from topoloom.simulate.simgrid import simulate

RATE, LATENCY, SIZE = 1e9, 1e-6, 10**6
LINKS = "bandwidth=1GB/s,latency=1us"
#: Node without costs: only bytes and link latencies take time.
FREE = "+node:1,startup=0us,latency=0us"
NODE = "startup=2us,latency=3us,memory=4GB/s,memory-startup=1us"
CLOSE = 1e-5

Messages = list[tuple[int, int]]


def make_graph(
    ranks: int, messages: Messages, size: int = SIZE, times: int = 1
) -> CommGraph:
    source, target = np.array(messages, np.uint32).T
    amounts = np.full(len(messages), size * times)
    return CommGraph.from_edges(
        ranks, source, target, amounts, np.full_like(amounts, times)
    )


def simulate_seconds(text: str, messages: Messages, size: int = SIZE) -> float:
    """Return the time of concurrent messages between nodes in seconds."""
    machine = Machine(text)
    nodes = list(range(machine.node_count))
    (found,) = simulate(
        machine, nodes, [make_graph(len(nodes), messages, size)]
    ).seconds
    return found
