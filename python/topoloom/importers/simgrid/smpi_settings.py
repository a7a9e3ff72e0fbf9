# SPDX-License-Identifier: BSD-3-Clause
"""Formats measured message costs as settings of SMPI.

In SMPI a message of m bytes costs os + or + f L + g m / B: os and or are the overheads
of sender and receiver; f and g are size-dependent factors for the latency L and
bandwidth B of links.
"""

from __future__ import annotations

from topoloom._core import Machine, NetworkModel
from topoloom.importers.simgrid.platform import IntraHostLink
from topoloom.importers.simgrid.platform_parts import NO_LIMIT
from topoloom.importers.simgrid.units import format_quantity

#: Bytes that SMPI adds to a message size before the lookup of factors.
_ENVELOPE = 16
#: Message size in bytes from which SMPI blocks senders and omits overheads. No message
#: reaches it, because measured times already include both effects.
_DETACHED = str(1 << 30)
#: TCP window in bytes, so large that it never limits a flow.
_WINDOW = "1e15"


def format_settings(model: NetworkModel) -> str:
    """Format the element ``<config>`` with the settings of SMPI."""
    costs = model.costs
    sends = costs.send_cpu, costs.send_cpu_per_byte
    receives = costs.receive_cpu, costs.receive_cpu_per_byte
    send = ":".join(["0", *map(format_quantity, sends)])
    receive = ":".join(["0", *map(format_quantity, receives)])
    made = {
        "smpi/lat-factor": _format_factors(model, 0),
        "smpi/bw-factor": _format_factors(model, 1),
        "smpi/os": send,
        "smpi/ois": send,
        "smpi/or": receive,
        "smpi/send-is-detached-thresh": _DETACHED,
        "network/TCP-gamma": _WINDOW,
    }
    lines = [f'    <prop id="{name}" value="{value}"/>' for name, value in made.items()]
    return "\n".join(["  <config>", *lines, "  </config>", ""])


def compute_extra_latency(machine: Machine, model: NetworkModel) -> float:
    """Return the seconds of an inter-node message besides links and overheads."""
    whole = machine.startup + machine.node_latency
    return max(0.0, whole - model.costs.send_cpu - model.costs.receive_cpu)


def make_intra_host_link(model: NetworkModel) -> IntraHostLink | None:
    """Return the intra-node link, assuming the same factors and overheads."""
    if model.inside is None:
        return None
    lines = model.inside.alone or model.inside.lines
    both = model.costs.send_cpu + model.costs.receive_cpu
    _, width, _ = model.link_factors[-1]
    slope = lines[-1][1]
    bandwidth = 1 / (slope * width) if slope else NO_LIMIT
    return IntraHostLink(bandwidth, max(0.0, lines[0][0] - both))


def _format_factors(model: NetworkModel, which: int) -> str:
    """Format latency or bandwidth factors, each with its minimum message size."""
    above, words = 0, []
    for latency, bandwidth, most in model.link_factors:
        words.append(f"{above}:{format_quantity((latency, bandwidth)[which])}")
        above = (most or 0) + _ENVELOPE
    return ";".join(words)
