# SPDX-License-Identifier: BSD-3-Clause
"""Tables of simulated collectives, as Markdown; times are microseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean, median

from scipy.stats import spearmanr

from collectives.simulated import (
    AUTO,
    OPERATIONS,
    SELECTORS,
    SIZES,
    Cell,
    Overlap,
)

#: Classes of message sizes in the table.
CLASSES = {"8 to 64 B": (8, 64), "512 B and 4 KiB": (512, 4096), "32 KiB": (32768,)}


#: Number of leading cells that identify a row.
CALL_KEY, OVERLAP_KEY = 4, 4


@dataclass
class Group:
    """Times of one call by each selector.

    Attributes
    ----------
    chosen
        Seconds by each selector.
    ours
        Seconds by our choice.
    schedules
        Simulated and predicted seconds of our schedules.
    """

    chosen: dict[str, float] = field(default_factory=dict)
    ours: float = 0.0
    schedules: list[tuple[float, float]] = field(default_factory=list)

    @property
    def gain(self) -> float:
        """Speedup of our choice over the best selector."""
        return min(self.chosen.values()) / self.ours

    @property
    def lost(self) -> float:
        """Time of our choice relative to our best schedule."""
        return self.ours / min(seconds for seconds, _ in self.schedules)

    @property
    def correlation(self) -> float:
        """Rank correlation of predicted and simulated times."""
        times, predicted = zip(*self.schedules, strict=True)
        return float(spearmanr(times, predicted).statistic)


Key = tuple[str, str, int, str, int]


def group(cells: Iterable[Cell]) -> dict[Key, Group]:
    """Group results by call, if all selectors and our choice have results."""
    groups: dict[Key, Group] = defaultdict(Group)
    for cell in cells:
        key = (cell.platform, cell.placement, cell.ranks, cell.operation, cell.bytes)
        if cell.by in SELECTORS:
            groups[key].chosen[cell.by] = cell.seconds
        elif cell.by == AUTO:
            groups[key].ours = cell.seconds
        else:
            groups[key].schedules.append((cell.seconds, cell.predicted))
    whole = set(SELECTORS)
    return {
        key: one
        for key, one in groups.items()
        if one.ours > 0 and one.chosen.keys() == whole
    }


def calls_table(groups: dict[Key, Group]) -> str:
    """Format our time and speedup for each call."""
    rows: dict[tuple[str, int, str, str], dict[int, str]] = defaultdict(dict)
    for (platform, placement, ranks, operation, size), one in groups.items():
        words = f"{1e6 * one.ours:,.1f} ({one.gain:.2f})"
        rows[operation, ranks, platform, placement][size] = words
    order = [
        (key, [of.get(size, "") for size in SIZES])
        for key, of in sorted(rows.items(), key=lambda row: _get_row_order(row[0]))
    ]
    head = (
        "operation",
        "ranks",
        "machine",
        "order",
        *(f"{size:,} B" for size in SIZES),
    )
    return _format_table(
        head, ((*map(str, key), *cells) for key, cells in order), left=4
    )


Row = list[str]
RowOrder = Callable[[Row], tuple[int, int, str, str]]


def get_call_order(row: Row) -> tuple[int, int, str, str]:
    """Return the sort key of a row of `calls_table`."""
    return _get_row_order((row[0], int(row[1]), row[2], row[3]))


def has_rows(table: str, other: str, key: int) -> bool:
    """Return whether a table has all rows of another one, judged by leading cells."""
    return _parse_rows(other, key).keys() <= _parse_rows(table, key).keys()


def merge_tables(table: str, old: str, key: int, order: RowOrder | None = None) -> str:
    """Merge rows and columns of an old table that the new table lacks."""
    before, now = _parse_rows(old, key), _parse_rows(table, key)
    for name, row in now.items():
        earlier = before.get(name, row)
        now[name] = [new or cell for new, cell in zip(row, earlier, strict=True)]
    rows = list((before | now).values())
    if order is not None:
        rows.sort(key=order)
    head, rule = table.splitlines()[:2]
    return "\n".join([head, rule, *(_format_row(row) for row in rows)])


def _parse_rows(table: str, key: int) -> dict[tuple[str, ...], Row]:
    lines = table.splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {tuple(row[:key]): row for row in rows}


def _format_row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _get_row_order(key: tuple[str, int, str, str]) -> tuple[int, int, str, str]:
    return OPERATIONS.index(key[0]), *key[1:]


def gains_table(groups: dict[Key, Group]) -> str:
    """Format geometric means of gains over each selector, by operation and size."""
    rows = []
    for operation in OPERATIONS:
        for name, sizes in CLASSES.items():
            some = [
                one
                for key, one in groups.items()
                if key[3] == operation and key[4] in sizes
            ]
            if not some:
                continue
            gains = [
                geometric_mean(one.chosen[by] / one.ours for one in some)
                for by in SELECTORS
            ]
            worst = min(one.gain for one in some)
            figures = (f"{figure:.2f}" for figure in (*gains, worst))
            rows.append((operation, name, len(some), *figures))
    head = ("operation", "sizes", "calls", *SELECTORS, "worst beside the best of them")
    return _format_table(head, rows, left=2)


def predictions_table(groups: dict[Key, Group]) -> str:
    """Format the accuracy of predictions."""
    rows = []
    for platform, placement in dict.fromkeys(key[:2] for key in groups):
        some = [one for key, one in groups.items() if key[:2] == (platform, placement)]
        errors = [
            abs(predicted / seconds - 1)
            for one in some
            for seconds, predicted in one.schedules
        ]
        ranked = [one.correlation for one in some if len(one.schedules) >= 4]
        rows.append(
            (
                platform,
                placement,
                len(errors),
                f"{100 * median(errors):.1f} %",
                _format_share(errors, 0.1),
                f"{median(ranked):.2f}" if ranked else "",
                _format_share([one.lost for one in some], 1.05),
                f"{max(one.lost for one in some):.2f}",
            )
        )
    head = (
        *("machine", "order", "schedules", "median error", "within 10 %"),
        *("rank correlation", "ours within 5 % of the best schedule", "worst"),
    )
    return _format_table(head, rows, left=2)


def _format_share(values: Sequence[float], most: float) -> str:
    return f"{100 * sum(value <= most for value in values) / len(values):.0f} %"


def overlap_table(overlaps: Iterable[Overlap]) -> str:
    """Format the overlap with computation."""
    rows = (
        (
            *(one.platform, one.ranks, f"{one.bytes:,}", one.schedule),
            *(f"{1e6 * one.blocking:,.0f}", f"{1e6 * one.left:,.0f}"),
            f"{100 * one.hidden:.1f} %",
        )
        for one in overlaps
    )
    head = (
        *("machine", "ranks", "bytes", "schedule"),
        *("blocking", "left of it", "hidden"),
    )
    return _format_table(head, rows, left=1)


def _format_table(
    head: Sequence[object], rows: Iterable[Sequence[object]], left: int
) -> str:
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(map(_format_row, [head, rule, *rows]))
