# SPDX-License-Identifier: BSD-3-Clause
"""Scatters in four orders: measured by Karlsson 2012, and modeled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from topoloom import schedules

MB = 1 << 20
READINGS = ("printed", "independent", "node", "growing")
ORDERS = {
    "Standard": "standard",
    "Random": "random",
    "FEF": "fastest-edge-first",
    "CAO": "channel-aware",
}
STEPS = "Table 4.12 (BlueDrop step times)"
#: Number of random orders to average.
DRAWN = 50


@dataclass(frozen=True)
class Node:
    """Two groups of processes, and speeds inside and between them.

    Channels are from Table 4.8. Speeds inside are from Table 3.4 for RA and Kraken (as
    for Jaguar, which is similar), speeds between from Table 4.8. BlueDrop's speeds are
    from section 3.7.4.
    """

    name: str
    table: str
    second: tuple[int, ...]  # processes outside the first group
    processes: int
    inside_mbs: float
    between_mbs: float
    channels: int

    def costs(self) -> NDArray[np.float64]:
        """Return the milliseconds of 10 MB between each pair of processes."""
        group = np.isin(np.arange(self.processes), self.second)
        same = np.equal.outer(group, group)
        return np.asarray(
            10 * MB / 1e3 / np.where(same, self.inside_mbs, self.between_mbs)
        )


RA = Node(
    "RA",
    "Table 4.9 (RA scatter, 10 MB per core, n=20)",
    (1, 4, 6, 7),
    8,
    1271.0,
    1228.0,
    1,
)
KRAKEN = Node(
    "Kraken",
    "Table 4.10 (Kraken scatter, 10 MB per core, n=20)",
    (6, 7, 8, 9, 10, 11),
    12,
    2218.8,
    2113.0,
    1,
)
#: The source does not state the sockets of Kraken's processes; both guesses give
#: similar results.
ALTERNATING = Node(
    "Kraken, even and odd", KRAKEN.table, (1, 3, 5, 7, 9, 11), 12, 2218.8, 2113.0, 1
)
BLUEDROP = Node(
    "BlueDrop",
    "Table 4.11 (BlueDrop scatter, 10 MB per core, n=20)",
    (1, 5, 7, 11, 13, 16, 18, 19, 22, 23, 24, 25, 27, 28, 29, 31),
    32,
    3260.0,
    1646.0,
    2,
)
NODES = (RA, KRAKEN, BLUEDROP)


@cache
def steps(node: Node, order: str, reading: str = "growing") -> tuple[float, ...]:
    """Return milliseconds per step of a scatter of 10 MB per process."""
    costs = node.costs()
    found = [
        schedules.binomial_scatter_steps(
            costs,
            schedules.binomial_order(
                costs, ORDERS[order], channels=node.channels, seed=seed
            ),
            channels=node.channels,
            reading=reading,
        )
        for seed in range(1, DRAWN + 1 if order == "Random" else 2)
    ]
    return tuple(np.mean(found, axis=0).tolist())


def time(node: Node, order: str, reading: str = "growing") -> float:
    """Return milliseconds of a scatter."""
    return sum(steps(node, order, reading))
