# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of a published value and our value."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Key(NamedTuple):
    """Identifies one value of a paper."""

    source: str
    table: str
    row: str
    column: str


@dataclass(frozen=True)
class Ours:
    """A value that our models computed, with the key of the published value.

    It is never computed from the published value itself, nor from another value of
    which the published one is a sum, a ratio or a spelling.
    """

    source: str
    table: str
    row: str
    column: str
    value: float | str
    note: str = ""  # reason for a difference
    #: Tolerated relative difference of a roughly known value.
    within: float = 0.0
    #: The number in the published text, if the text has further words.
    stated: str = ""

    @property
    def key(self) -> Key:
        """The key of the published value."""
        return Key(self.source, self.table, self.row, self.column)


@dataclass(frozen=True)
class Pair:
    """A published value and our value."""

    ours: Ours
    text: str

    @property
    def published(self) -> str:
        """The compared text, or the number in the text."""
        return self.ours.stated or self.text

    @property
    def standing(self) -> str:
        """``equal`` to the printed digits, ``within`` the tolerance, or ``off``."""
        if isinstance(self.ours.value, str):
            return "equal" if self.ours.value == self.published else "off"
        try:
            printed = float(self.published.replace(",", ""))
        except ValueError:
            return "off"
        digits = len(self.published.partition(".")[2])
        if math.isclose(self.ours.value, printed, abs_tol=0.5001 * 10.0**-digits):
            return "equal"
        apart = abs(self.ours.value - printed)
        return "within" if apart <= self.ours.within * abs(printed) else "off"

    @property
    def unexplained(self) -> bool:
        """Whether the value differs without explanation."""
        return self.standing != "equal" and not self.ours.note


def read_published(file: Path) -> dict[Key, str]:
    """Read the published values by key."""
    with file.open(newline="") as lines:
        return {
            Key(*(line[name] for name in Key._fields)): line["value"]
            for line in csv.DictReader(lines)
        }


def pair_up(found: Iterable[Ours], published: dict[Key, str]) -> list[Pair]:
    """Pair our values with published ones, table by table.

    Raises
    ------
    ValueError
        Nobody published a value of that name, it was computed twice, or the stated
        number is not in the published text.
    """
    pairs: dict[Key, Pair] = {}
    for ours in found:
        key = ours.key
        if key not in published:
            raise ValueError(f"nothing was published as {key}")
        if key in pairs:
            raise ValueError(f"computed twice: {key}")
        if ours.stated not in ("", *re.findall(r"[0-9.]*[0-9]", published[key])):
            raise ValueError(f"{published[key]!r} does not state {ours.stated}: {key}")
        pairs[key] = Pair(ours, published[key])
    tables = list(dict.fromkeys((key.source, key.table) for key in published))
    order = {name: place for place, name in enumerate(tables)}
    return sorted(
        pairs.values(), key=lambda pair: order[pair.ours.source, pair.ours.table]
    )
