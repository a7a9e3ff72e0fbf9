# SPDX-License-Identifier: BSD-3-Clause
"""Reads devices, ports and cables of an InfiniBand fabric from `ibnetdiscover`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.units import counted

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
_SYSTEM = re.compile(r"sysimgguid=(0x[0-9a-fA-F]{1,16})")
#: Lines that describe no cable: block headers, output of options -g and -s, warnings.
_ASIDE = re.compile(
    r"#|(?:vend|dev)id=|(?:switch|ca|rt)guid=|(?:Non-)?Chassis|DR path|ibwarn:"
)


_NO_DEVICE = "line 1: no Switch, Ca or Rt line; pass the output of ibnetdiscover"


class Port(NamedTuple):
    """A port, which is one end of a cable; `gbit` is the lower rate of both ends."""

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
    system: str = ""  # system image GUID, equal for all devices of one board
    ports: dict[int, Port] = field(default_factory=dict)


class Fabric(NamedTuple):
    """Devices by name, and remarks about the file, one sentence each."""

    devices: dict[str, Device]
    remarks: list[str]


def read_fabric(lines: list[str]) -> Fabric:
    """Read devices by name; check that both ends of each cable agree.

    Lines of other output in front of the first device are skipped.
    """
    devices, skipped = _read_devices(lines)
    remarks = []
    if skipped:
        what = counted(skipped, "line")
        remarks.append(f"{what} in front of the output of ibnetdiscover skipped")
    unpaired = [one for one in devices.values() if one.description.count('"') % 2]
    if unpaired:
        remarks.append(
            f"{counted(len(unpaired), 'name')} with an unpaired quotation mark, first "
            f"that of {unpaired[0].name}: the file may be damaged"
        )
    uneven = sum(_check_cables(devices, device) for device in devices.values())
    if uneven:
        remarks.append(
            f"the ends of {counted(uneven, 'cable')} disagree in width or speed: the "
            "lower rate is taken"
        )
    return Fabric(devices, remarks)


def _read_devices(lines: list[str]) -> tuple[dict[str, Device], int]:
    """Read devices by name; count the unknown lines in front of them."""
    fabric: dict[str, Device] = {}
    device: Device | None = None
    system = ""
    skipped: list[Error] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            _add_port(device, number, line)
        elif match := _SYSTEM.match(line):
            system = match[1].lower()
        elif match := _DEVICE.match(line):
            description = (match[2] or "").strip()
            device, system = Device(match[1], number, description, system), ""
            first = fabric.setdefault(device.name, device)
            if first is not device:
                raise Error(
                    f"line {number}: {device.name} is listed twice, first on line "
                    f"{first.line}; pass the output of one run"
                )
        elif line.strip() and _ASIDE.match(line) is None:
            skipped.append(
                Error(
                    f"line {number}: '{line.strip()[:40]}' is not of ibnetdiscover's "
                    "output; run it without -l, -H, -S, -R and -p"
                )
            )
            if device is not None:
                raise skipped[-1]
    if not fabric:
        raise next(iter(skipped), Error(_NO_DEVICE))
    return fabric, len(skipped)


def _add_port(device: Device | None, number: int, line: str) -> None:
    if device is None:
        raise Error(
            f"line {number}: a port before the first Switch, Ca or Rt line; "
            "pass the whole output"
        )
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


def _check_cables(fabric: dict[str, Device], device: Device) -> int:
    """Check the ends of each cable; give both the lower rate, and count such cables."""
    uneven = 0
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
            uneven += 1
            lower = min(back.gbit, port.gbit)
            device.ports[number] = port._replace(gbit=lower)
            peer.ports[port.peer_port] = back._replace(gbit=lower)
    return uneven
