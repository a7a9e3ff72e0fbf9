# SPDX-License-Identifier: BSD-3-Clause
"""Reads the speed of this node's NICs from Linux's ``/sys/class``."""

from __future__ import annotations

import re
from pathlib import Path

from topoloom.importers.network_speeds import NetworkSpeeds
from topoloom.importers.system.devices import CLASSES
from topoloom.importers.system.sysfs import read_word
from topoloom.support.plain_text import is_number

#: file contents: "200 Gb/sec (4X HDR)"
_RATE = re.compile(r"([0-9.]+) Gb/sec")


def read_nic_speed(classes: Path = CLASSES) -> NetworkSpeeds | None:
    """Sum the rates of InfiniBand ports or Slingshot NICs, or use the fastest NIC's.

    Returns None if no NIC reports its speed.
    """
    ports = [
        float(rate[1])
        for port in classes.glob("infiniband/*/ports/*")
        if "ACTIVE" in read_word(port / "state")
        and (rate := _RATE.match(read_word(port / "rate")))
    ]
    if ports:
        return _make_network("InfiniBand", ports)
    slingshot = _read_speeds(classes, "hsn*")
    if slingshot:
        return _make_network("Slingshot", slingshot)
    ethernet = _read_speeds(classes, "*")
    return _make_network("Ethernet", [max(ethernet)]) if ethernet else None


def _read_speeds(classes: Path, names: str) -> list[float]:
    """Read the Gbit/s of NICs that are up; other NICs report -1 or nothing."""
    found = []
    for card in classes.glob(f"net/{names}"):
        speed = read_word(card / "speed")
        if (card / "device").exists() and is_number(speed):
            found.append(int(speed) / 1000)
    return found


def _make_network(title: str, gbit: list[float]) -> NetworkSpeeds:
    cards = "a card" if len(gbit) == 1 else f"{len(gbit)} cards"
    total = sum(gbit)
    return NetworkSpeeds(
        f"{title} as on this node, {cards}, {total:,.4g} Gbit/s", total / 8 * 1e9
    )
