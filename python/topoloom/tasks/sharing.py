# SPDX-License-Identifier: BSD-3-Clause
"""How ranks may share slots."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from topoloom._core import Allocation, CommGraph, Error
from topoloom.support.files import read_text


class Sharing(NamedTuple):
    """What a slot may hold, as `topoloom.place` takes it."""

    imbalance: float | None = None
    capacities: list[float] | None = None

    @property
    def allowed(self) -> bool:
        """Whether ranks may share slots at all."""
        return self.imbalance is not None or self.capacities is not None

    def shared(self, graph: CommGraph, allocation: Allocation) -> bool:
        """Whether they do: for an imbalance, only if they outnumber the slots."""
        if self.capacities is not None:
            return True
        return self.allowed and graph.rank_count > allocation.slot_count


NO_SHARING = Sharing()


def read_capacities(path: Path) -> list[float]:
    """Read a file with the load that each slot may hold, one number per line."""
    numbers = []
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        if not text.strip():
            continue
        try:
            number = float(text)
        except ValueError:
            raise Error(
                f"{path}:{line}: '{text.strip()}' is not a number; "
                "expected one capacity per line"
            ) from None
        if not 0 <= number < float("inf"):
            raise Error(f"{path}:{line}: a capacity must be 0 or more, not {number:g}")
        numbers.append(number)
    if not numbers:
        raise Error(f"{path} holds no capacities; expected one for each slot")
    return numbers
