# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether ranks share slots, and reads slot capacities."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Allocation, CommGraph, Error, Sharing
from topoloom.support.files import read_text

NO_SHARING = Sharing()


def can_share_slots(sharing: Sharing) -> bool:
    """Return whether ranks may share slots."""
    return sharing.imbalance is not None or len(sharing.capacities) > 0


def has_shared_slots(
    sharing: Sharing, graph: CommGraph, allocation: Allocation
) -> bool:
    """Return whether ranks share slots: an imbalance counts if slots are too few."""
    if len(sharing.capacities) > 0:
        return True
    return can_share_slots(sharing) and graph.rank_count > allocation.slot_count


def read_capacities(path: Path) -> list[float]:
    """Read the capacity (the maximum load) of each slot, one number per line."""
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
        raise Error(f"{path} contains no capacities; expected one for each slot")
    return numbers
