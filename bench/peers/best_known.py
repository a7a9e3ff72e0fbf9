# SPDX-License-Identifier: BSD-3-Clause
"""The best known values: bench/best_known.csv. Values only improve."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from peers.instances import ROOT

FILE = ROOT / "bench" / "best_known.csv"


@dataclass(frozen=True)
class BestKnownValue:
    """A best known value.

    Attributes
    ----------
    instance
        Name of the instance, ``set/name``.
    hash
        Hash of the instance: a value is valid only for this graph and machine.
    objective
        The metric of `value`; ``hop-bytes`` are over ordered pairs.
    how
        The tool that found it.
    """

    instance: str
    hash: str
    objective: str
    value: int
    how: str


def _parse_row(row: dict[str, str]) -> BestKnownValue:
    texts = (row["instance"], row["hash"], row["objective"])
    return BestKnownValue(*texts, int(row["value"]), row["how"])


class BestKnownValues:
    """Best known values by instance and objective.

    Raises
    ------
    ValueError
        If a key is repeated, or a column is missing.
    """

    def __init__(self, file: Path = FILE) -> None:
        self.file = file
        self._known: dict[tuple[str, str, str], BestKnownValue] = {}
        if not file.exists():
            return
        with file.open(newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream), 2):
                try:
                    known = _parse_row(row)
                except (KeyError, TypeError, ValueError) as error:
                    raise ValueError(f"{file}:{number}: {error}") from None
                if self._key(known) in self._known:
                    raise ValueError(
                        f"{file}:{number}: {known.instance} is there twice"
                    )
                self._known[self._key(known)] = known

    @staticmethod
    def _key(known: BestKnownValue) -> tuple[str, str, str]:
        return known.instance, known.hash, known.objective

    def find_value(
        self, instance: str, hash_: str, objective: str = "hop-bytes"
    ) -> int | None:
        """Return the best known value; None if the key is unknown."""
        known = self._known.get((instance, hash_, objective))
        return None if known is None else known.value

    def offer(self, known: BestKnownValue) -> bool:
        """Record the value of a feasible placement if it is the best so far."""
        best = self.find_value(known.instance, known.hash, known.objective)
        if best is not None and best <= known.value:
            return False
        self._known[self._key(known)] = known
        return True

    def save(self) -> None:
        """Rewrite the sorted file; keep values that other runs wrote meanwhile."""
        if self.file.exists():
            for known in BestKnownValues(self.file)._known.values():
                self.offer(known)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in fields(BestKnownValue)])
        rows = sorted(self._known.values(), key=self._key)
        writer.writerows(astuple(known) for known in rows)
        temporary = self.file.with_suffix(".csv.new")
        temporary.write_text(text.getvalue())
        os.replace(temporary, self.file)  # noqa: PTH105
