# SPDX-License-Identifier: BSD-3-Clause
"""Measured costs of messages as settings of SMPI.

For SMPI a message takes os + or + f L + g m / B: overheads of both ranks, and factors
by size of the latency and bandwidth of links.
"""

from __future__ import annotations

from topoloom._core import Machine, NetworkModel
from topoloom.importers.simgrid.platform import NO_LIMIT, InsideHost
from topoloom.importers.simgrid.units import quantity

#: Bytes that SMPI adds to a message before it looks up its factors.
_ENVELOPE = 16
#: Bytes from which on SMPI blocks senders and drops overheads. Measured times include
#: both, so it is never reached.
_DETACHED = str(1 << 30)
#: Bytes of a flow's window per round trip: more than any flow fills.
_WINDOW = "1e15"


def settings(model: NetworkModel) -> str:
    """Write the element ``<config>``."""
    costs = model.costs
    send = f"0:{quantity(costs.send_cpu)}:{quantity(costs.send_cpu_per_byte)}"
    receive = f"0:{quantity(costs.receive_cpu)}:{quantity(costs.receive_cpu_per_byte)}"
    made = {
        "smpi/lat-factor": _by_size(model, 0),
        "smpi/bw-factor": _by_size(model, 1),
        "smpi/os": send,
        "smpi/ois": send,
        "smpi/or": receive,
        "smpi/send-is-detached-thresh": _DETACHED,
        "network/TCP-gamma": _WINDOW,
    }
    lines = [f'    <prop id="{name}" value="{value}"/>' for name, value in made.items()]
    return "\n".join(["  <config>", *lines, "  </config>", ""])


def beside_links(machine: Machine, model: NetworkModel) -> float:
    """Return the seconds of a message between nodes besides links and overheads."""
    whole = machine.startup + machine.node_latency
    return max(0.0, whole - model.costs.send_cpu - model.costs.receive_cpu)


def inside_host(model: NetworkModel) -> InsideHost | None:
    """Return the link inside a node, given the same factors and overheads."""
    if model.inside is None:
        return None
    lines = model.inside.alone or model.inside.lines
    both = model.costs.send_cpu + model.costs.receive_cpu
    _, width, _ = model.link_factors[-1]
    slope = lines[-1][1]
    bandwidth = 1 / (slope * width) if slope else NO_LIMIT
    return InsideHost(bandwidth, max(0.0, lines[0][0] - both))


def _by_size(model: NetworkModel, which: int) -> str:
    """Write the latency or bandwidth factors by the bytes above which they hold."""
    above, words = 0, []
    for latency, bandwidth, most in model.link_factors:
        words.append(f"{above}:{quantity((latency, bandwidth)[which])}")
        above = (most or 0) + _ENVELOPE
    return ";".join(words)
