# SPDX-License-Identifier: BSD-3-Clause
"""Results as tables: geometric means over patterns, sizes and ragged allocations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contention import published
from contention.cases import ABOUT, BANDWIDTH, FIGURE_SIZES, Case
from contention.measure import (
    BOUND,
    BY_HOP_BYTES,
    DEFAULT,
    NEAR,
    OURS,
    RIVAL,
    TIMED,
    WAYS,
    Run,
)
from contention.patterns import PUBLISHED
from peers.versus import geometric_mean

COLUMNS = (DEFAULT, "gge", "mahd", "grasp", "emahd", RIVAL, NEAR, OURS)


class Results:
    """Runs by case and way."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = {(run.case, run.way): run for run in runs}
        self.cases = list(dict.fromkeys(case for case, _ in self.runs))

    def of(self, study: str, pattern: str = "", ranks: int = 0) -> Results:
        """Return a part: of a study, and if named of a pattern, and of a size."""
        return Results(
            run
            for run in self.runs.values()
            if run.case.study == study
            and pattern in ("", run.case.pattern)
            and ranks in (0, run.case.ranks)
        )

    def at(self, case: Case) -> Results:
        """Return a single case."""
        return Results(run for run in self.runs.values() if run.case == case)

    def values(self, way: str, what: str = "congestion") -> list[float]:
        """Return what a way reached, case by case."""
        return [float(getattr(self.runs[case, way], what)) for case in self.cases]

    def best_by_hop_bytes(self) -> list[float]:
        """Return the least congestion of any mapper for hop-bytes, case by case."""
        return list(map(min, zip(*map(self.values, BY_HOP_BYTES), strict=True)))

    def load(self, way: str) -> float:
        """Return the geometric mean of what the busiest link carries, in KiB."""
        return mean(value * BANDWIDTH / 1024 for value in self.values(way))

    def ratio(self, way: str, base: str, what: str = "congestion") -> float:
        """Return the geometric mean of the ratio of two mappers."""
        return mean(ratios(self.values(way, what), self.values(base, what)))


def ratios(values: Iterable[float], bases: Iterable[float]) -> list[float]:
    """Divide case by case."""
    return [value / base for value, base in zip(values, bases, strict=True)]


def mean(values: Iterable[float]) -> float:
    """Return the geometric mean; it is there, as tables of nothing are not made."""
    found = geometric_mean(values)
    assert found is not None
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Write Markdown, if there are rows; the first columns are words, then numbers."""
    if not rows:
        return ""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def in_short(results: Results) -> str:
    """Set the placements that aim at congestion beside the others, by pattern."""
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
        rival = ratios(ours, part.values(RIVAL))
        near = ratios(ours, part.best_by_hop_bytes())
        rows.append(
            [
                name or "**all**",
                str(len(part.cases)),
                f"{part.ratio(OURS, DEFAULT):.3f}",
                f"{mean(rival):.3f}",
                f"{max(rival):.3f}",
                f"{mean(near):.3f}",
                str(sum(value > 1 + 1e-9 for value in near)),
                f"{part.ratio(OURS, BOUND):.2f}",
                f"{mean(seconds):.2f}",
                f"{max(seconds):.2f}",
            ]
        )
    return table(head, rows)


def mesh(results: Results) -> str:
    """Write Table 7.1: the busiest link's load in KiB, beside the published gain."""
    part = results.of("published", "Mesh")
    head = ["ranks", *COLUMNS, BOUND, f"{RIVAL} / {DEFAULT}", "published"]
    rows = []
    for ranks in dict.fromkeys(case.ranks for case in part.cases):
        size = part.of("published", ranks=ranks)
        before, after = published.MESH[ranks]
        rows.append(
            [
                str(ranks),
                *(f"{size.load(way):.0f}" for way in (*COLUMNS, BOUND)),
                f"{size.ratio(RIVAL, DEFAULT):.2f}",
                f"{after / before:.2f}",
            ]
        )
    return table(head, rows)


def figures(results: Results) -> str:
    """Write what Figures 7.1 to 7.6 show: congestion over that of the default."""
    columns = (*COLUMNS[1:], BOUND)
    rows = []
    for pattern in PUBLISHED:
        for ranks in FIGURE_SIZES:
            part = results.of("published", pattern, ranks)
            if part.cases:
                cells = [f"{part.ratio(way, DEFAULT):.2f}" for way in columns]
                rows.append([pattern, str(ranks), *cells])
    return table(["pattern", "ranks", *columns], rows)


def ways(results: Results) -> str:
    """Write a line for each mapper: three measures over those of the default."""
    part = results.of("published")
    rows = []
    for way in WAYS["published"] if part.cases else ():
        cells = [
            f"{part.ratio(way.name, DEFAULT, what):.3f}"
            for what in ("congestion", "hop_bytes", "time")
        ]
        seconds = mean(part.values(way.name, "search_cpu"))
        rows.append([f"`{way.mapper}`", way.objective, *cells, f"{seconds:.2g}"])
    head = ["mapper", "objective", "congestion", "hop-bytes", "time", "CPU, s"]
    return table(head, rows, words=2)


def choice(results: Results) -> str:
    """Write what is lost by the other objective, machine by machine."""
    head = ["machine", "pattern", "congestion", "hop-bytes", "time"]
    head += ["time by hop-bytes, µs", "by congestion", "by time"]
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
    return f"{table(head, rows, words=2)}\n{machines}"


def report(results: Results) -> str:
    """Write the tables of the published study."""
    sections = (
        ("In short", in_short),
        ("Every mapper", ways),
        ("Table 7.1, Mesh: busiest link, KiB", mesh),
        ("Figures 7.1 to 7.6: busiest link over default", figures),
    )
    shown = [(title, write(results)) for title, write in sections]
    return "\n".join(f"### {title}\n\n{text}" for title, text in shown if text)
