# SPDX-License-Identifier: BSD-3-Clause
"""Computes the bandwidth of nodes in a step whose messages share links."""

from __future__ import annotations

import math
from collections.abc import Sequence

from topoloom._core import Error, Machine, NetworkModel, Step


class StepRates:
    """Computes a node's bytes per second, in plus out, from message and link costs.

    The time of a message is the latency of its route plus the largest of three terms:
    the gap, the packet time if each packet waits for an acknowledgment, and the time on
    a shared link. The gap is that of data in NIC memory if the model sends from there.
    """

    def __init__(
        self, machine: Machine, nodes: Sequence[int], size: int, model: NetworkModel
    ) -> None:
        if not machine.has_bandwidths:
            raise Error(
                f"the links of {machine.name} have no bandwidth; add one, as in "
                "fattree:4:4:4,bandwidth=340MB/s"
            )
        if size < 1:
            raise Error("messages of 0 bytes have no bandwidth; set a message size")
        self._machine, self._nodes, self._size = machine, nodes, size
        self._model = model
        self._gap = model.nic_time(size) if model.sends_from_nic else model.time(size)
        self._links: dict[int, tuple[float, float]] = {}

    def rate(self, step: Step, most: float) -> float:
        """Compute a node's bytes/s in a step with up to `most` messages per link."""
        routes = {
            self._find_route_speed(self._nodes[start], self._nodes[end])
            for start, end in step.messages
        }
        if not routes:
            return 0.0
        return (
            2
            * self._size
            / max(self._compute_seconds(*route, most) for route in routes)
        )

    def _compute_seconds(self, latency: float, bandwidth: float, most: float) -> float:
        size, model = self._size, self._model
        shared = model.time(0) + max(1.0, most) * size / bandwidth
        packets = model.in_packets(size, latency, bandwidth)
        return model.latency(size) + latency + max(self._gap, shared, packets)

    def _find_route_speed(self, start: int, end: int) -> tuple[float, float]:
        """Return the latency and the lowest bandwidth of a route."""
        latency, bandwidth = 0.0, math.inf
        for link, share in self._machine.route(start, end):
            if link not in self._links:
                machine = self._machine
                self._links[link] = machine.latency(link), machine.bandwidth(link)
            latency += share * self._links[link][0]
            bandwidth = min(bandwidth, self._links[link][1])
        return round(latency, 15), bandwidth
