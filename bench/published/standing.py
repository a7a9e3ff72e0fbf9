# SPDX-License-Identifier: BSD-3-Clause
"""Recorded standings of published values."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from published.table import Key, Pair

FILE = Path(__file__).with_suffix(".csv")
#: Standings from best to worst.
STANDINGS = ("equal", "within", "off")
HEAD = (*Key._fields, "standing")


def read_standings() -> dict[Key, str]:
    """Read the recorded standings."""
    with FILE.open(newline="") as lines:
        return {
            Key(*(line[name] for name in Key._fields)): line["standing"]
            for line in csv.DictReader(lines)
        }


def record_standings(pairs: Sequence[Pair]) -> None:
    """Write the current standings."""
    with FILE.open("w", newline="") as lines:
        rows = csv.writer(lines, lineterminator="\n")
        rows.writerow(HEAD)
        rows.writerows(sorted((*pair.ours.key, pair.standing) for pair in pairs))


def list_worsened_values(
    pairs: Sequence[Pair], recorded: dict[Key, str]
) -> Iterator[str]:
    """List the values whose standing is worse than recorded."""
    for pair in pairs:
        before = recorded.get(pair.ours.key, "off")
        if STANDINGS.index(pair.standing) > STANDINGS.index(before):
            name = ", ".join(pair.ours.key)
            yield f"{name}: was {before}, is {pair.standing}"


def list_missing_values(
    pairs: Sequence[Pair], recorded: dict[Key, str]
) -> Iterator[str]:
    """List recorded values that are no longer computed."""
    for key in sorted(recorded.keys() - {pair.ours.key for pair in pairs}):
        yield ", ".join(key) + ": no longer computed"
