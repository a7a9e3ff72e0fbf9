# SPDX-License-Identifier: BSD-3-Clause
"""Describes the adapters in outputs of `ibstat` and `ibv_devinfo`.

Both list the adapters of one host, without the cables, so that no machine can be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADAPTER = re.compile(r"(?m)^(?:CA '([^'\n]{1,64})'|hca_id:[ \t]*(\S{1,64}))[ \t]*$")
_PORT = re.compile(r"(?m)^[ \t]+(?:Port ([0-9]+):|port:[ \t]*([0-9]+))[ \t]*$")
_GUID = re.compile(r"(?m)^[ \t]+(?:Node GUID|node_guid):[ \t]*([0-9a-fx:]+)")
_STATE = re.compile(r"(?m)^[ \t]+(?:State:[ \t]*|state:[ \t]*PORT_)([A-Za-z]+)")
_RATE = re.compile(r"(?m)^[ \t]+Rate:[ \t]*([0-9]+)")
_WIDTH = re.compile(r"(?m)^[ \t]+active_width:[ \t]*([0-9]+)X")
_SPEED = re.compile(r"(?m)^[ \t]+active_speed:[ \t]*([0-9.]+) Gbps")
_MAX_LISTED = 8


@dataclass(frozen=True)
class _Port:
    adapter: str
    guid: str
    port: str
    state: str
    #: Gbit/s; 0 if unknown.
    rate: float

    def describe(self) -> str:
        rate = f" at {self.rate:g} Gbit/s" if self.rate else ""
        return f"{self.adapter} port {self.port} ({self.guid}) {self.state}{rate}"


def describe_adapters(text: str) -> str:
    """Describe the ports in an output of these tools; "" for other texts.

    The description says what can be used instead.
    """
    ports = _list_ports(text)
    if not ports:
        return ""
    tool = "ibstat" if re.search(r"(?m)^CA '", text) else "ibv_devinfo"
    listed = [port.describe() for port in ports[:_MAX_LISTED]]
    if len(ports) > _MAX_LISTED:
        listed.append(f"{len(ports) - _MAX_LISTED} more")
    rates = sum(port.rate for port in ports if port.state == "active")
    network = f", with --network {rates:g}Gbit/s" if rates else ""
    return (
        f"the output of {tool} lists the adapters of one host, but no cables: "
        f"{'; '.join(listed)}; pass the output of ibnetdiscover, or a file of the "
        f"scheduler{network}"
    )


def _list_ports(text: str) -> list[_Port]:
    ports = []
    for name, block in _split(_ADAPTER, text):
        guid = _GUID.search(block)
        for number, lines in _split(_PORT, block):
            state, rate = _STATE.search(lines), _RATE.search(lines)
            width, speed = _WIDTH.search(lines), _SPEED.search(lines)
            gbit = float(rate[1]) if rate else 0.0
            if width and speed and re.fullmatch(r"[0-9]+(\.[0-9]+)?", speed[1]):
                gbit = int(width[1]) * float(speed[1])
            ports.append(
                _Port(
                    name,
                    guid[1] if guid else "no GUID",
                    number,
                    state[1].lower() if state else "in an unknown state",
                    gbit,
                )
            )
    return ports


def _split(head: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """Split a text at lines that match; return the name in each, and what follows."""
    found = list(head.finditer(text))
    starts = [match.start() for match in found]
    return [
        (match[1] or match[2], text[match.end() : end])
        for match, end in zip(found, [*starts[1:], len(text)], strict=False)
    ]
