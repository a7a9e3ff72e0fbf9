# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's units: ``125MBps`` is bytes/s, ``1Gbps`` is bits/s, ``Ki`` is 1024."""

from __future__ import annotations

import math
import re

from topoloom.support.xml_tree import Element

_NUMBER_AND_UNIT = re.compile(
    r"\s*([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([A-Za-z]*)\s*"
)
_PREFIX = {
    "": 1.0,
    **{prefix: 1000.0**i for i, prefix in enumerate("kMGTPEZY", 1)},
    **{f"{prefix}i": 1024.0**i for i, prefix in enumerate("KMGTPEZY", 1)},
}
_SECONDS = {
    **{"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0},
    **{"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12},
}


def read_bandwidth(element: Element, name: str) -> float:
    """Read a bandwidth attribute, which must be above 0, as bytes/s."""
    number, unit = _split_quantity(
        element, name, element.require(name), "125MBps or 1Gbps"
    )
    factor = 0.125 if unit.endswith("bps") else 1.0
    prefix = unit[:-3] if unit.endswith(("bps", "Bps")) else unit
    if prefix not in _PREFIX or (unit and prefix == unit):
        element.fail(f"{name}: unit '{unit[:20]}' is none of Bps, bps, MBps, KiBps")
    rate = number * factor * _PREFIX[prefix]
    if not 0 < rate < math.inf:
        element.fail(f"{name}: a bandwidth must be above 0")
    return rate


def read_latency(element: Element, name: str, default: str | None = None) -> float:
    """Read a latency attribute as seconds."""
    text = element.attributes.get(name, default) or element.require(name)
    number, unit = _split_quantity(element, name, text, "50us")
    if unit not in _SECONDS:
        element.fail(f"{name}: unit '{unit[:20]}' is none of s, ms, us, ns")
    return number * _SECONDS[unit]


def format_quantity(value: float) -> str:
    """Format integers exactly, other numbers with 12 digits: 50us is 5e-05."""
    whole = value == int(value) and value < 1e15
    return str(int(value)) if whole else f"{value:.12g}"


def _split_quantity(
    element: Element, name: str, text: str, example: str
) -> tuple[float, str]:
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None or not math.isfinite(float(match[1])):
        element.fail(
            f'{name}="{text[:40]}" is not a number with a unit, such as {example}'
        )
    return float(match[1]), match[2]
