# SPDX-License-Identifier: BSD-3-Clause
"""Parses and formats quantities: ``64 KiB``, ``10s``, ``9.4 GB/s``, ``1.3 us``.

k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti are powers of 1024.
"""

from __future__ import annotations

import math
import re

_NUMBER_AND_UNIT = re.compile(
    r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([A-Za-z/µ\u03bc]*)\s*"
)
_PREFIXES: dict[str, int] = {
    "": 1,
    **{p: 1000**i for i, p in enumerate("kMGTP", 1)},
    "K": 1000,
    **{f"{p}i": 1024**i for i, p in enumerate("KMGTP", 1)},
    "ki": 1024,
}
_TIME = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME_SPELLINGS = {"µs": "us", "\N{GREEK SMALL LETTER MU}s": "us"}
_DURATION = {**_TIME, "m": 60.0, "min": 60.0, "h": 3600.0}
_INT64_MAX = 2**63 - 1
_MAX_SECONDS = 1e9


def _split_unit(text: str, what: str, example: str) -> tuple[float, str]:
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None or not math.isfinite(float(match[1])):
        raise _make_unit_error(text, what, example)
    return float(match[1]), _TIME_SPELLINGS.get(match[2], match[2])


def _make_unit_error(text: str, what: str, example: str) -> Exception:
    from topoloom._core import Error

    return Error(
        f"cannot read {what} '{text}': write a number and a unit, such as {example}"
    )


def parse_bytes(text: str) -> int:
    """Parse a number of bytes, such as ``1024``, ``64 KiB`` or ``1.5 MB``."""
    example = "'1024', '64 KiB' or '1.5 MB'"
    _, unit = _split_unit(text, "an amount of bytes", example)
    prefix = unit[:-1] if unit.endswith("B") else unit
    if prefix not in _PREFIXES:
        raise _make_unit_error(text, "an amount of bytes", example)
    # 16.6 * 1e9 is 16600000000.000002
    from fractions import Fraction

    amount = Fraction(text.strip().removesuffix(unit).strip()) * _PREFIXES[prefix]
    if amount > _INT64_MAX or amount.denominator != 1:
        raise _make_unit_error(text, "a whole number of bytes below 2^63", example)
    return int(amount)


def parse_duration(text: str) -> float:
    """Parse ``10s``, ``250 ms``, ``2 min`` or ``3`` (seconds) as seconds."""
    example = "'10s', '250ms' or '2min'"
    number, unit = _split_unit(text, "a duration", example)
    if unit not in _DURATION:
        raise _make_unit_error(text, "a duration", example)
    return number * _DURATION[unit]


def parse_bandwidth(text: str) -> float:
    """Parse ``9.4 GB/s`` or ``100 Gbit/s`` as bytes per second."""
    example = "'9.4 GB/s' or '100 Gbit/s'"
    number, unit = _split_unit(text, "a bandwidth", example)
    for suffix, factor in (
        ("B/s", 1.0),
        ("Bps", 1.0),
        ("bit/s", 0.125),
        ("b/s", 0.125),
        ("bps", 0.125),
        ("", 1.0),
    ):
        if unit.endswith(suffix) and unit.removesuffix(suffix) in _PREFIXES:
            rate = number * _PREFIXES[unit.removesuffix(suffix)] * factor
            if rate > 0 and (suffix or not unit):
                return rate
            break
    raise _make_unit_error(text, "a bandwidth above 0", example)


def parse_latency(text: str) -> float:
    """Parse ``1.3 us``, ``1.3 µs`` or ``90 ns`` as seconds."""
    example = "'1.3 us' or '90 ns'"
    number, unit = _split_unit(text, "a latency", example)
    if unit not in _TIME:
        raise _make_unit_error(text, "a latency", example)
    if number * _TIME[unit] > _MAX_SECONDS:
        raise _make_unit_error(
            text, f"a latency of {_MAX_SECONDS:g} s or less", example
        )
    return number * _TIME[unit]


def format_bytes(amount: float) -> str:
    """Format a number of bytes: ``64.0 KiB``, ``7 B``."""
    if amount < 1024:
        digits = ".0f" if amount == int(amount) else ".3g" if amount < 10 else ".1f"
        return f"{amount:{digits}} B"
    power = 0
    while amount >= 1023.95 and power < 6:
        amount /= 1024
        power += 1
    return f"{amount:.1f} {' KMGTPE'[power]}iB"


def format_size(amount: int) -> str:
    """Format the size of a message exactly: ``4 KiB``, ``76 B``, ``1,500 B``."""
    for power, unit in enumerate(("KiB", "MiB", "GiB"), 1):
        size = 1024**power
        if amount >= size and amount % size == 0 and amount // size < 1024:
            return f"{amount // size} {unit}"
    return f"{amount:,} B"


def format_exact_bytes(amount: int) -> str:
    """Format bytes exactly, for `parse_bytes`: ``512 GB``, ``3 KiB``, ``1025 B``."""
    if amount == 0:
        return "0 B"
    units = [
        (_PREFIXES[unit], f"{unit}B") for unit in _PREFIXES if unit not in ("K", "ki")
    ]
    size, unit = max(pair for pair in units if amount % pair[0] == 0)
    return f"{amount // size} {unit}"


def format_count(number: float) -> str:
    """Format a number with thousands separators and few decimals."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.3f}" if 0.1 <= abs(number) < 1e6 else f"{number:.4g}"


def counted(number: int, what: str) -> str:
    """Format a number with a noun, singular or plural: ``1 rank``, ``1,024 ranks``."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def format_bandwidth(rate: float) -> str:
    """Format bytes per second: ``9.4 GB/s``, ``180.2 TB/s``."""
    power = 0
    while rate >= 999.95 and power < 6:
        rate /= 1000
        power += 1
    return f"{rate:.4g} {' kMGTPE'[power].strip()}B/s"


def format_seconds(seconds: float) -> str:
    """Format seconds: ``1.3 us``, ``24.05 ms``, ``2400000 s``."""
    for unit in ("s", "ms", "us"):
        if seconds == 0 or seconds >= _TIME[unit]:
            return f"{float(f'{seconds / _TIME[unit]:.4g}'):.12g} {unit}"
    return f"{seconds / _TIME['ns']:.4g} ns"
