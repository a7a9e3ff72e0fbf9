# SPDX-License-Identifier: BSD-3-Clause
"""Latency and bandwidths along the lines of a process grid."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, GridLinks, Machine
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.units import format_bandwidth, format_seconds

#: Default latency in s and bandwidth in B/s, if user and machine define none.
LATENCY, BANDWIDTH = 1e-6, 10e9
#: Copy bandwidth of one core in B/s.
COPY_BANDWIDTH = 12e9
#: Possible origins of a speed.
MACHINE, ASSUMED = "the machine's", "assumed"


class LineSpeeds(NamedTuple):
    """Latency in s and bandwidths in B/s; None: the machine's value, or a default."""

    latency: float | None = None
    bandwidth: float | None = None
    inner_bandwidth: float | None = None
    channels: int = 1

    def resolve(self, allocation: Allocation, ranks: int) -> tuple[GridLinks, str]:
        """Replace each None by a value for the allocation; also describe all values.

        Inter-node values are computed for a message from the first node to the second
        node: the lowest bandwidth of NIC and links, and the sum of latencies.
        Intra-node bandwidth is the copy bandwidth of a core. It is limited to a rank's
        share of the memory bandwidth when all ranks send.
        """
        self._check()
        machine = allocation.machine
        latency, bandwidth = (LATENCY, ASSUMED), (BANDWIDTH, ASSUMED)
        if machine.has_bandwidths and len(allocation.nodes) > 1:
            links = [link for link, _ in machine.route(*map(int, allocation.nodes[:2]))]
            latency = _find_latency(machine, sum(map(machine.latency, links)))
            widest = min([machine.port_bandwidth, *map(machine.bandwidth, links)])
            if widest < math.inf:
                bandwidth = widest, MACHINE
        inner = _find_inner_bandwidth(machine, allocation.slots[:ranks])
        chosen = [
            known if given is None else (given, "")
            for given, known in (
                (self.latency, latency),
                (self.bandwidth, bandwidth),
                (self.inner_bandwidth, inner),
            )
        ]
        speeds = GridLinks(
            latency_s=chosen[0][0],
            outer_s_per_byte=1 / chosen[1][0],
            inner_s_per_byte=1 / chosen[2][0],
            channels=self.channels,
        )
        writes = (format_seconds, format_bandwidth, format_bandwidth)
        shown = [
            write(value) + (f" ({by})" if by else "")
            for write, (value, by) in zip(writes, chosen, strict=True)
        ]
        text = f"latency {shown[0]}, {shown[1]} between nodes, {shown[2]} inside"
        return speeds, text

    def _check(self) -> None:
        if self.latency is not None and not 0 <= self.latency < math.inf:
            raise ParameterError(
                "latency", f"must be 0 s or more, not {self.latency:g}"
            )
        for name in ("bandwidth", "inner_bandwidth"):
            bandwidth = getattr(self, name)
            if bandwidth is not None and not 0 < bandwidth < math.inf:
                raise ParameterError(name, f"must be above 0 B/s, not {bandwidth:g}")
        check_int64("channels", self.channels, 1)


def _find_latency(machine: Machine, of_links: float) -> tuple[float, str]:
    """Return the inter-node latency and its origin."""
    parts = {"startup": machine.startup, "node_latency": machine.node_latency}
    whole = sum(parts.values()) + of_links
    assumed = sum(parts[name] for name in machine.assumed_speeds if name in parts)
    if whole == 0:
        return LATENCY, ASSUMED
    if 0 < assumed < whole:
        return whole, f"{MACHINE}; {format_seconds(assumed)} of it assumed"
    return whole, ASSUMED if assumed else MACHINE


def _find_inner_bandwidth(
    machine: Machine, slots: NDArray[np.uint32]
) -> tuple[float, str]:
    """Return the intra-node bandwidth when all ranks send, and its origin."""
    ranks = int(np.bincount(slots // machine.slots_per_node).max())
    share = machine.memory_bandwidth / ranks
    if share >= COPY_BANDWIDTH:
        return COPY_BANDWIDTH, ASSUMED
    assumed = "memory_bandwidth" in machine.assumed_speeds
    return share, ASSUMED if assumed else MACHINE
