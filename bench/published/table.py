# SPDX-License-Identifier: BSD-3-Clause
"""Published values and ours, side by side."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Key(NamedTuple):
    """Names one value of a paper."""

    source: str
    table: str
    row: str
    column: str


@dataclass(frozen=True)
class Ours:
    """One value that we computed, named as in the list of published ones."""

    source: str
    table: str
    row: str
    column: str
    value: float | str
    note: str = ""  # why it differs

    @property
    def key(self) -> Key:
        """What it is a value of."""
        return Key(self.source, self.table, self.row, self.column)


@dataclass(frozen=True)
class Pair:
    """A published value and ours."""

    ours: Ours
    published: str
    kind: str  # exact: must come out; trend: depends on what is not known

    @property
    def equal(self) -> bool:
        """Whether ours is the published one, to the digits that were printed."""
        if isinstance(self.ours.value, str):
            return self.ours.value == self.published
        try:
            printed = float(self.published)
        except ValueError:
            return False
        digits = len(self.published.partition(".")[2])
        return math.isclose(self.ours.value, printed, abs_tol=0.5001 * 10.0**-digits)

    @property
    def wrong(self) -> bool:
        """Whether it had to be equal, is not, and nothing says why."""
        return self.kind == "exact" and not self.equal and not self.ours.note


def read_published(file: Path) -> dict[Key, tuple[str, str]]:
    """Return the published values and their kinds."""
    with file.open(newline="") as lines:
        return {
            Key(*(line[name] for name in Key._fields)): (line["value"], line["kind"])
            for line in csv.DictReader(lines)
        }


def pair_up(found: Iterable[Ours], published: dict[Key, tuple[str, str]]) -> list[Pair]:
    """Set ours beside what was published; a name that nobody published is an error."""
    pairs = []
    for ours in found:
        if ours.key not in published:
            raise KeyError(f"nothing was published as {ours.key}")
        value, kind = published[ours.key]
        pairs.append(Pair(ours, value, kind))
    return pairs
