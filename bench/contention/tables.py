# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results: geometric means over patterns, sizes and ragged allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from contention import published
from contention.cases import (
    ABOUT,
    BANDWIDTH,
    FIGURE_SIZES,
    IN_ORDER,
    SHUFFLED,
    Case,
)
from contention.measure import (
    BOUND,
    BY_HOP_BYTES,
    DEFAULT,
    EMAHD_ON_LINKS,
    NEAR,
    OURS,
    RIVAL,
    TIMED,
    WAYS,
    Run,
)
from contention.patterns import PUBLISHED
from peers.comparison import geometric_mean

COLUMNS = (DEFAULT, "gge", "mahd", "grasp", EMAHD_ON_LINKS, RIVAL, NEAR, OURS)


class Results:
    """Runs by case and mapper."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = {(run.case, run.way): run for run in runs}
        self.cases = list(dict.fromkeys(case for case, _ in self.runs))

    def of(
        self, study: str, pattern: str = "", ranks: int = 0, order: str = IN_ORDER
    ) -> Results:
        """Select the runs of a study, and optionally of a pattern and a size."""
        return Results(
            run
            for run in self.runs.values()
            if run.case.study == study
            and pattern in ("", run.case.pattern)
            and ranks in (0, run.case.ranks)
            and order == run.case.order
        )

    def at(self, case: Case) -> Results:
        """Select the runs of a single case."""
        return Results(run for run in self.runs.values() if run.case == case)

    def values(self, way: str, what: str = "congestion") -> list[float]:
        """Return the values of a mapper by case."""
        return [float(getattr(self.runs[case, way], what)) for case in self.cases]

    def best_by_hop_bytes(self) -> list[float]:
        """Return the minimum congestion of all mappers for hop-bytes, by case."""
        return list(map(min, zip(*map(self.values, BY_HOP_BYTES), strict=True)))

    def load(self, way: str) -> float:
        """Return the geometric mean of the load of the busiest link, in KiB."""
        return compute_geometric_mean(
            value * BANDWIDTH / 1024 for value in self.values(way)
        )

    def hops_per_byte(self, way: str) -> float:
        """Return the geometric mean of hops per byte."""
        bytes_sent = self.values(way, "byte_count")
        return compute_geometric_mean(
            compute_ratios(self.values(way, "hop_bytes"), bytes_sent)
        )

    def ratio(self, way: str, base: str, what: str = "congestion") -> float:
        """Return the geometric mean of the ratio of two mappers."""
        return compute_geometric_mean(
            compute_ratios(self.values(way, what), self.values(base, what))
        )


def compute_ratios(values: Iterable[float], bases: Iterable[float]) -> list[float]:
    """Return the ratios of two lists, case by case."""
    return [value / base for value, base in zip(values, bases, strict=True)]


def compute_geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of a nonempty list."""
    found = geometric_mean(values)
    assert found is not None
    return found


def format_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1
) -> str:
    """Format Markdown rows, if any; the first columns are words, then numbers."""
    if not rows:
        return ""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def format_summary(results: Results) -> str:
    """Compare placements for congestion with other placements, by pattern."""
    head = ["pattern", "cases", f"ours / {DEFAULT}", f"ours / {RIVAL}", "at most"]
    head += [
        "ours / best by hop-bytes",
        "above it",
        "ours / bound",
        "CPU, s",
        "at most",
    ]
    rows = []
    for name in (*PUBLISHED, ""):
        part = results.of("published", name)
        if not part.cases:
            continue
        ours, seconds = part.values(OURS), part.values(OURS, "search_cpu")
        rival = compute_ratios(ours, part.values(RIVAL))
        near = compute_ratios(ours, part.best_by_hop_bytes())
        rows.append(
            [
                name or "**all**",
                str(len(part.cases)),
                f"{part.ratio(OURS, DEFAULT):.3f}",
                f"{compute_geometric_mean(rival):.3f}",
                f"{max(rival):.3f}",
                f"{compute_geometric_mean(near):.3f}",
                str(sum(value > 1 + 1e-9 for value in near)),
                f"{part.ratio(OURS, BOUND):.2f}",
                f"{compute_geometric_mean(seconds):.2f}",
                f"{max(seconds):.2f}",
            ]
        )
    return format_table(head, rows)


def hops(results: Results, order: str) -> str:
    """Format Table 6.1: hops per byte, with published values in parentheses."""
    ways = (*published.NEAR_WAYS, NEAR)
    rows, ours, printed = [], [], []
    for ranks, theirs in published.HOPS_PER_BYTE.items():
        part = results.of("published", "Mesh", ranks, order)
        if not part.cases:
            continue
        ours.append([part.hops_per_byte(way) for way in ways])
        printed.append(theirs)
        rows.append([str(ranks), *format_with_published(ours[-1], theirs)])
    if rows:
        rows.append(
            [
                "**mean**",
                *format_with_published(
                    compute_column_means(ours), compute_column_means(printed)
                ),
            ]
        )
    return format_table(["ranks", *ways], rows)


def links(results: Results, order: str) -> str:
    """Format Table 7.1: the busiest link's load relative to the default."""
    ways = published.LINK_WAYS
    rows, ours, printed = [], [], []
    for ranks, loads in published.BUSIEST_LINK.items():
        part = results.of("published", "Mesh", ranks, order)
        if not part.cases:
            continue
        columns = (*ways[1:], OURS, BOUND)
        ours.append([part.ratio(way, DEFAULT) for way in columns])
        printed.append([load / loads[0] for load in loads[1:]])
        cells = format_with_published(ours[-1], printed[-1])
        rows.append([str(ranks), f"{part.load(DEFAULT):.0f}", *cells])
    if rows:
        rows.append(
            [
                "**mean**",
                "",
                *format_with_published(
                    compute_column_means(ours), compute_column_means(printed)
                ),
            ]
        )
    return format_table(["ranks", f"{DEFAULT}, KiB", *ways[1:], OURS, BOUND], rows)


def format_with_published(ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    """Format our values, with published ones in parentheses."""
    with_theirs = [f"{a:.2f} ({b:.2f})" for a, b in zip(ours, theirs, strict=False)]
    return [*with_theirs, *(f"{value:.2f}" for value in ours[len(theirs) :])]


def compute_column_means(rows: Iterable[Sequence[float]]) -> list[float]:
    """Return the geometric mean of every column."""
    return [compute_geometric_mean(column) for column in zip(*rows, strict=True)]


def format_figures(results: Results) -> str:
    """Format Figures 7.1 to 7.6: congestion relative to the default."""
    columns = (*COLUMNS[1:], BOUND)
    rows = []
    for pattern in PUBLISHED:
        for ranks in FIGURE_SIZES:
            part = results.of("published", pattern, ranks)
            if part.cases:
                cells = [f"{part.ratio(way, DEFAULT):.2f}" for way in columns]
                rows.append([pattern, str(ranks), *cells])
    return format_table(["pattern", "ranks", *columns], rows)


def format_mappers(results: Results) -> str:
    """Format a line per mapper: three measures relative to the default."""
    part = results.of("published")
    rows = []
    for way in WAYS["published"] if part.cases else ():
        cells = [
            f"{part.ratio(way.name, DEFAULT, what):.3f}"
            for what in ("congestion", "hop_bytes", "time")
        ]
        seconds = compute_geometric_mean(part.values(way.name, "search_cpu"))
        rows.append([f"`{way.mapper}`", way.objective, *cells, f"{seconds:.2g}"])
    head = ["mapper", "objective", "congestion", "hop-bytes", "time", "CPU, s"]
    return format_table(head, rows, words=2)


def choice(results: Results) -> str:
    """Format, for each machine, the loss from optimizing the other objective."""
    head = ["machine", "pattern", "congestion", "hop-bytes", "time"]
    head += ["time by hop-bytes, us", "by congestion", "by time"]
    head += ["CPU by hop-bytes, s", "by congestion"]
    rows = []
    for case in results.of("choice").cases:
        one = results.at(case)
        rows.append(
            [
                case.machine,
                case.pattern,
                f"{one.ratio(NEAR, OURS):.2f}",
                f"{one.ratio(OURS, NEAR, 'hop_bytes'):.2f}",
                f"{one.ratio(NEAR, OURS, 'time'):.2f}",
                *(f"{one.values(w, 'time')[0] * 1e6:.1f}" for w in (NEAR, OURS, TIMED)),
                *(f"{one.values(w, 'search_cpu')[0]:.1f}" for w in (NEAR, OURS)),
            ]
        )
    machines = "".join(f"- {name}: {what}\n" for name, what in ABOUT.items())
    return f"{format_table(head, rows, words=2)}\n{machines}"


def report(results: Results) -> str:
    """Format the tables of the published study."""
    sections: tuple[tuple[str, Callable[[Results], str]], ...] = (
        ("In short", format_summary),
        ("Every mapper", format_mappers),
        *(
            (
                f"Table {number}, Mesh, ranks {order}: {what}",
                partial(write, order=order),
            )
            for number, what, write in (
                ("6.1", "hops per byte", hops),
                ("7.1", "busiest link over default", links),
            )
            for order in (SHUFFLED, IN_ORDER)
        ),
        ("Figures 7.1 to 7.6: busiest link over default", format_figures),
    )
    shown = [(title, write(results)) for title, write in sections]
    return "\n".join(f"## {title}\n\n{text}" for title, text in shown if text)
