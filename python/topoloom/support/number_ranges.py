# SPDX-License-Identifier: BSD-3-Clause
"""Parses and formats number lists: ``0-3,8``, as CPU lists of Linux, and ``1:2:3``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from topoloom._core import Error

_RANGE = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", re.ASCII)


def expand_ranges(text: str, end: int) -> tuple[int, ...]:
    """Parse increasing numbers below `end`; the inverse of `compress_ranges`."""
    numbers: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not (numbers[-1] if numbers else -1) < first <= last < end:
            raise Error(
                f"'{text[:60]}' is not a list of increasing numbers below {end}, "
                f"such as {compress_ranges([*range(min(end, 4))])}"
            )
        numbers += range(first, last + 1)
    return tuple(numbers)


def compress_ranges(numbers: Sequence[int]) -> str:
    """Format increasing numbers, with ranges for consecutive numbers."""
    parts = []
    pairs = enumerate(numbers)
    for _, run in itertools.groupby(pairs, key=lambda pair: pair[1] - pair[0]):
        first, *others = [number for _, number in run]
        parts.append(f"{first}-{others[-1]}" if others else str(first))
    return ",".join(parts)


def split_numbers(text: str, separator: str = ":") -> list[int]:
    """Parse numbers such as ``1:2:3``."""
    return [int(part) for part in text.split(separator)]


def join_numbers(numbers: Iterable[int], separator: str = ":") -> str:
    """Format numbers as ``1:2:3``."""
    return separator.join(map(str, numbers))
