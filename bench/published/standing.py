# SPDX-License-Identifier: BSD-3-Clause
"""Which published values came out when they were last recorded."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from published.table import Key, Pair

FILE = Path(__file__).with_suffix(".csv")
#: From the best on.
STANDINGS = ("equal", "within", "off")
HEAD = (*Key._fields, "standing")


def read_standings() -> dict[Key, str]:
    """Return what stood when it was recorded."""
    with FILE.open(newline="") as lines:
        return {
            Key(*(line[name] for name in Key._fields)): line["standing"]
            for line in csv.DictReader(lines)
        }


def record_standings(pairs: Sequence[Pair]) -> None:
    """Write down how all values stand now."""
    with FILE.open("w", newline="") as lines:
        rows = csv.writer(lines, lineterminator="\n")
        rows.writerow(HEAD)
        rows.writerows(sorted((*pair.ours.key, pair.standing) for pair in pairs))


def fallen(pairs: Sequence[Pair], recorded: dict[Key, str]) -> Iterator[str]:
    """Name the values that stand worse than recorded."""
    for pair in pairs:
        before = recorded.get(pair.ours.key, "off")
        if STANDINGS.index(pair.standing) > STANDINGS.index(before):
            name = ", ".join(pair.ours.key)
            yield f"{name}: was {before}, is {pair.standing}"


def lost(pairs: Sequence[Pair], recorded: dict[Key, str]) -> Iterator[str]:
    """Name the values that were computed when recorded, and no longer are."""
    for key in sorted(recorded.keys() - {pair.ours.key for pair in pairs}):
        yield ", ".join(key) + ": no longer computed"
