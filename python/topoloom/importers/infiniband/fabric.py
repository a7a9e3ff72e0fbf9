# SPDX-License-Identifier: BSD-3-Clause
"""Reads devices, ports and cables of an InfiniBand fabric from `ibnetdiscover`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from topoloom._core import Error

#: Data rate of a lane in Gbit/s, without the overhead of the line code: 8b/10b up to
#: QDR, then 64b/66b. From HDR on, nominal rates already exclude the line code.
LANE_GBIT = {
    "SDR": 2.5 * 8 / 10,
    "DDR": 5 * 8 / 10,
    "QDR": 10 * 8 / 10,
    "FDR10": 10.3125 * 64 / 66,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.78125 * 64 / 66,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}

_DEVICE = re.compile(
    r'(?:Switch|Ca|Rt)\s+[0-9]+\s+"([SHR]-[0-9a-f]{16})"\s*(?:#\s*"(.*)".*)?'
)
_PORT = re.compile(
    r"\[([0-9]{1,4})\](?:\[ext [0-9]+\])?(?:\([0-9a-f]+\))?\s*"
    r'"([SHR]-[0-9a-f]{16})"\[([0-9]{1,4})\](?:\[ext [0-9]+\])?'
    r"(?:\([0-9a-f]+\))?\s*(?:#(.*))?"
)
_RATE = re.compile(r"\blid [0-9]+ ([0-9]{1,2})x([A-Z]+[0-9]*)")
_OWN_LID = re.compile(r"\s*lid ([0-9]{1,6}) lmc [0-9]+")
#: Lines that describe no cable: block headers, output of options -g and -s, warnings.
_ASIDE = re.compile(
    r"#|(?:vend|dev)id=|(?:sysimg|switch|ca|rt)guid=|(?:Non-)?Chassis|DR path|ibwarn:"
)


class Port(NamedTuple):
    """A port, which is one end of a cable."""

    line: int
    peer: str
    peer_port: int
    gbit: float
    lid: int  # LID of the port; 0 for switches


@dataclass
class Device:
    """A switch (``S-``), adapter (``H-``) or router (``R-``)."""

    name: str
    line: int
    description: str
    ports: dict[int, Port] = field(default_factory=dict)


def read_fabric(lines: list[str]) -> dict[str, Device]:
    """Map names to devices; check that both ends of each cable agree."""
    fabric: dict[str, Device] = {}
    device: Device | None = None
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            if device is None:
                raise Error(
                    f"line {number}: a port before the first Switch, Ca or Rt line; "
                    "pass the whole output"
                )
            _add_port(device, number, line)
            continue
        match = _DEVICE.match(line)
        if match is not None:
            device = Device(match[1], number, (match[2] or "").strip())
            first = fabric.setdefault(device.name, device)
            if first is not device:
                raise Error(
                    f"line {number}: {device.name} is listed twice, first on line "
                    f"{first.line}; pass the output of one run"
                )
        elif line.strip() and _ASIDE.match(line) is None:
            raise Error(
                f"line {number}: '{line.strip()[:40]}' is not of ibnetdiscover's "
                "output; run it without -l, -H, -S, -R and -p"
            )
    if not fabric:
        raise Error(
            "line 1: no Switch, Ca or Rt line; pass the output of ibnetdiscover"
        )
    for device in fabric.values():
        _check_cables(fabric, device)
    return fabric


def _add_port(device: Device, number: int, line: str) -> None:
    match = _PORT.match(line)
    if match is None:
        raise Error(
            f"line {number}: cannot read the port '{line[:60]}'; expected "
            '[port] "S-guid"[port] # "name" lid N 4xHDR'
        )
    comment = match[4] or ""
    # Descriptions are free text; fields begin after the last quote.
    rate = _RATE.search(comment.rpartition('"')[2])
    if rate is None or rate[2] not in LANE_GBIT or rate[1] == "0":
        raise Error(
            f"line {number}: no width and speed, such as 4xHDR, ends the line; there "
            f"are: {', '.join(LANE_GBIT)}"
        )
    lid = _OWN_LID.match(comment)
    port = Port(
        number,
        match[2],
        int(match[3]),
        int(rate[1]) * LANE_GBIT[rate[2]],
        int(lid[1]) if lid else 0,
    )
    first = device.ports.setdefault(int(match[1]), port)
    if first is not port:
        raise Error(
            f"line {number}: port {match[1]} of {device.name} is listed twice, first "
            f"on line {first.line}"
        )


def _check_cables(fabric: dict[str, Device], device: Device) -> None:
    for number, port in device.ports.items():
        peer = fabric.get(port.peer)
        if peer is None:
            raise Error(
                f"line {port.line}: the cable leads to {port.peer}, which has no "
                "block; pass the whole output"
            )
        back = peer.ports.get(port.peer_port)
        if back is None:
            raise Error(
                f"line {port.line}: the cable from {device.name}[{number}] to "
                f"{port.peer}[{port.peer_port}] is listed at this end only; "
                "pass the whole output"
            )
        if (back.peer, back.peer_port) != (device.name, number):
            raise Error(
                f"line {port.line}: {port.peer}[{port.peer_port}] is joined to "
                f"{device.name}[{number}] here, but to {back.peer}[{back.peer_port}] "
                f"on line {back.line}; run ibnetdiscover again"
            )
        if back.gbit != port.gbit:
            raise Error(
                f"line {port.line}: the cable has another width or speed than at its "
                f"other end, on line {back.line}; run ibnetdiscover again"
            )
