# SPDX-License-Identifier: BSD-3-Clause
"""Times of one collective, and the table of all results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import geometric_mean, quantiles
from typing import Any

#: Target: persistent time relative to one-shot time.
MOST = 0.8


@dataclass(frozen=True)
class Cell:
    """Seconds of one collective: first deciles over rounds.

    Disturbances only lengthen rounds, and on busy machines most rounds are disturbed.
    """

    mpi: str
    ranks: int
    operation: str
    bytes: int
    one_shot: float
    persistent: float
    blocking: float
    library: float

    @property
    def of_one_shot(self) -> float:
        """Ratio of persistent to one-shot time."""
        return self.persistent / self.one_shot

    @property
    def of_library(self) -> float:
        """Ratio of persistent time to the better of MPI's two times."""
        return self.persistent / min(self.blocking, self.library)


def make_cell(mpi: str, ranks: int, read: dict[str, Any]) -> Cell:
    """Parse the program's output for one collective."""
    kinds = zip(*read["rounds"], strict=True)
    times = (quantiles(kind, n=10, method="inclusive")[0] for kind in kinds)
    return Cell(mpi, ranks, read["operation"], read["bytes"], *times)


def format_table(cells: Sequence[Cell]) -> str:
    """Format Markdown: a line per operation, with geometric means over sizes."""
    lines = [
        "| MPI | ranks | operation | persistent, us | / one-shot "
        "| / the library's better | worst, of bytes |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    ordered = sorted(cells, key=lambda one: (*_get_key(one), one.bytes))
    for (mpi, ranks, operation), some in groupby(ordered, _get_key):
        group = list(some)
        worst = max(group, key=lambda one: one.of_library)
        words = (
            mpi,
            ranks,
            operation,
            " ".join(f"{1e6 * one.persistent:.3g}" for one in group),
            f"{geometric_mean(one.of_one_shot for one in group):.2f}",
            f"{geometric_mean(one.of_library for one in group):.2f}",
            f"{worst.of_library:.2f}, {worst.bytes}",
        )
        lines.append(f"| {' | '.join(map(str, words))} |")
    return "\n".join([*lines, "", format_summary(ordered)])


def format_summary(cells: Iterable[Cell]) -> str:
    """Count, by MPI and number of ranks, the results that reach their targets."""
    lines = [
        "| MPI | ranks | / one-shot | cells up to 0.8 | / the library's better "
        "| cells up to 1.05 |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (mpi, ranks), some in groupby(cells, lambda one: (one.mpi, one.ranks)):
        group = list(some)
        words = (
            mpi,
            ranks,
            f"{geometric_mean(one.of_one_shot for one in group):.2f}",
            f"{sum(one.of_one_shot <= MOST for one in group)} of {len(group)}",
            f"{geometric_mean(one.of_library for one in group):.2f}",
            f"{sum(one.of_library <= 1.05 for one in group)} of {len(group)}",
        )
        lines.append(f"| {' | '.join(map(str, words))} |")
    return "\n".join(lines)


def _get_key(one: Cell) -> tuple[str, int, str]:
    return one.mpi, one.ranks, one.operation
