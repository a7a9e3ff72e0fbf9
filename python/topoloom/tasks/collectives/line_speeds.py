# SPDX-License-Identifier: BSD-3-Clause
"""How fast the lines of a process grid are: as users say, or as the machine does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from topoloom._core import Allocation, Error, GridLinks
from topoloom.support.checks import at_least
from topoloom.support.units import format_bandwidth, format_seconds

#: Where neither users nor the machine say it.
LATENCY, BANDWIDTH, INNER_BANDWIDTH = 1e-6, 10e9, 50e9


class LineSpeeds(NamedTuple):
    """Seconds and bytes per second; None takes the machine's, or a default."""

    latency: float | None = None
    bandwidth: float | None = None
    inner_bandwidth: float | None = None
    channels: int = 1

    def on(self, allocation: Allocation) -> tuple[GridLinks, str]:
        """Complete them for an allocation; also say what they are and who says it.

        Between nodes they are those of a message from its first node to its second:
        the narrowest of the network card and the links, and all latencies.
        """
        self._check()
        machine = allocation.machine
        between: tuple[float, float] | None = None
        if machine.has_bandwidths and len(allocation.nodes) > 1:
            links = [link for link, _ in machine.route(*map(int, allocation.nodes[:2]))]
            between = (
                machine.startup
                + machine.node_latency
                + sum(map(machine.latency, links)),
                min([machine.port_bandwidth, *map(machine.bandwidth, links)]),
            )
        latency, said_latency = _choose(
            self.latency, between and between[0], LATENCY, format_seconds
        )
        outer, said_outer = _choose(
            self.bandwidth, between and between[1], BANDWIDTH, format_bandwidth
        )
        inner, said_inner = _choose(
            self.inner_bandwidth,
            machine.memory_bandwidth,
            INNER_BANDWIDTH,
            format_bandwidth,
        )
        speeds = GridLinks(
            latency_s=latency,
            outer_s_per_byte=1 / outer,
            inner_s_per_byte=1 / inner,
            channels=self.channels,
        )
        return speeds, (
            f"latency {said_latency}, {said_outer} between nodes, {said_inner} inside"
        )

    def _check(self) -> None:
        if self.latency is not None and not 0 <= self.latency < math.inf:
            raise Error(f"the latency is {self.latency:g} s; it must be 0 or more")
        for bandwidth in (self.bandwidth, self.inner_bandwidth):
            if bandwidth is not None and not 0 < bandwidth < math.inf:
                raise Error(f"the bandwidth is {bandwidth:g} B/s; it must be above 0")
        at_least("the number of channels", self.channels, 1)


def _choose(
    given: float | None,
    known: float | None,
    default: float,
    write: Callable[[float], str],
) -> tuple[float, str]:
    if given is not None:
        return given, write(given)
    if known is not None and 0 < known < math.inf:
        return known, f"{write(known)} (the machine's)"
    return default, f"{write(default)} (assumed)"
