# SPDX-License-Identifier: BSD-3-Clause
"""Tables: targets and results by machine, and the larger jobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from defaults.cases import JOBS, TORI
from defaults.measure import BLOCK, HOP_BYTES, OURS, SCOTCH, Run
from defaults.rows import Row
from topoloom.support.units import format_count, format_seconds

CLOSE = 0.1  # accepted relative error of a predicted time


class Target(NamedTuple):
    """A line of the table of targets."""

    what: str
    aim: str
    reached: float | None
    is_reached: bool


def list_targets(runs: Sequence[Run]) -> list[Target]:
    """Return the targets with their results."""
    ragged = [run for run in runs if run.machine in TORI and run.job == JOBS[-1]]
    close = [abs(ratio - 1) <= CLOSE for ratio in predictions(runs)]
    share = sum(close) / len(close) if close else None
    return [
        _make_minimum_target(
            "gain on the launcher, geometric mean", _compute_mean_gain(runs, BLOCK), 1.2
        ),
        _make_minimum_target(
            "the same, ragged tori", _compute_mean_gain(ragged, BLOCK), 1.5
        ),
        _make_maximum_target(
            "ours / launcher, worst", _find_worst_ratio(runs, BLOCK), 1.01
        ),
        _make_minimum_target(
            "gain on Scotch, geometric mean", _compute_mean_gain(runs, SCOTCH), 1.1
        ),
        _make_maximum_target(
            "ours / Scotch, worst", _find_worst_ratio(runs, SCOTCH), 1.02
        ),
        _make_maximum_target(
            "ours / fewest hop-bytes, worst", _find_worst_ratio(runs, HOP_BYTES), 1.02
        ),
        _make_minimum_target(
            f"predictions within {CLOSE:.0%} of the simulation", share, 0.9
        ),
        _make_minimum_target(
            "rank correlation of a case, worst", _find_worst_correlation(runs), 0.95
        ),
        _make_unlimited_target(
            f"cases with 0.95 or more, where times differ by {CLOSE:.0%}",
            _compute_share(runs),
        ),
    ]


def predictions(runs: Iterable[Run]) -> list[float]:
    """Return the ratio of predicted to simulated time for each placement."""
    return [
        run.predicted[way] / run.simulated[way] for run in runs for way in run.simulated
    ]


def list_misses(runs: Sequence[Run]) -> list[str]:
    """List the cases that miss their target."""
    found = []
    for other, most in ((BLOCK, 1.01), (SCOTCH, 1.02), (HOP_BYTES, 1.02)):
        for run in runs:
            ratio = run.ratio(other)
            if ratio is not None and ratio > most:
                found.append(
                    f"{run.case}: {ratio:.3f} x {other}; {_format_times(run, other)}"
                )
    for run in runs:
        correlation = run.correlation()
        if correlation is not None and correlation < 0.95:
            found.append(f"{run.case}: correlation {correlation:.2f}")
    return found


def report(runs: Sequence[Run], rows: Sequence[Row]) -> str:
    """Format all tables."""
    parts = [
        _format_targets(runs),
        _format_by("machine", runs),
        _format_by("program", runs),
        _format_by("job", runs),
    ]
    if rows:
        parts.append(_format_rows(rows))
    return "\n".join(parts)


def _format_times(run: Run, other: str) -> str:
    return ", ".join(
        f"{way} {format_seconds(run.simulated[way])} "
        f"(predicted {format_seconds(run.predicted[way])})"
        for way in (OURS, other)
    )


def _format_targets(runs: Sequence[Run]) -> str:
    lines = [["aim", "", "reached", ""]]
    lines += [
        [
            what,
            aim,
            _format_number(reached),
            ("yes" if is_reached else "**no**") if aim else "",
        ]
        for what, aim, reached, is_reached in list_targets(runs)
    ]
    return _format_table(lines)


def _format_by(what: str, runs: Sequence[Run]) -> str:
    def key(run: Run) -> str:
        return str(getattr(run, what))

    head = [what, "cases", "gain on launcher", "ours / launcher, worst"]
    head += ["gain on Scotch", "ours / Scotch, worst", "gain on hop-bytes"]
    head += ["predicted / simulated", "correlation, worst", "search, s, at most"]
    lines = [head]
    for name, group in groupby(sorted(runs, key=key), key):
        part = list(group)
        ratios = predictions(part)
        lines.append(
            [
                name,
                str(len(part)),
                _format_number(_compute_mean_gain(part, BLOCK)),
                _format_number(_find_worst_ratio(part, BLOCK)),
                _format_number(_compute_mean_gain(part, SCOTCH)),
                _format_number(_find_worst_ratio(part, SCOTCH)),
                _format_number(_compute_mean_gain(part, HOP_BYTES)),
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                _format_number(_find_worst_correlation(part)),
                f"{max(run.seconds for run in part):.1f}",
            ]
        )
    return _format_table(lines)


def _format_rows(rows: Sequence[Row]) -> str:
    def pair(values: tuple[float, float] | None, form: Callable[..., str]) -> str:
        return "" if values is None else " → ".join(form(value) for value in values)

    lines = [["job", "inter-node bytes", "busiest node"]]
    lines[0] += ["predicted", "simulated", "search"]
    lines += [
        [
            row.job,
            pair(row.between, format_count),
            pair(row.leaving, format_count),
            pair(row.predicted, format_seconds),
            pair(row.simulated, format_seconds),
            format_seconds(row.seconds),
        ]
        for row in rows
    ]
    return _format_table(lines)


def _format_table(lines: list[list[str]]) -> str:
    head, *rest = lines
    ruled = [head, ["---"] + ["---:"] * (len(head) - 1), *rest]
    return "".join(f"| {' | '.join(line)} |\n" for line in ruled)


def _compute_ratios(runs: Iterable[Run], other: str) -> list[float]:
    return [ratio for run in runs if (ratio := run.ratio(other)) is not None]


def _compute_mean_gain(runs: Iterable[Run], other: str) -> float | None:
    ratios = _compute_ratios(runs, other)
    if not ratios:
        return None
    return math.exp(-sum(map(math.log, ratios)) / len(ratios))


def _find_worst_ratio(runs: Iterable[Run], other: str) -> float | None:
    return max(_compute_ratios(runs, other), default=None)


def _find_worst_correlation(runs: Iterable[Run]) -> float | None:
    found = [run.correlation() for run in runs]
    return min((each for each in found if each is not None), default=None)


def _compute_share(runs: Iterable[Run]) -> float | None:
    """Return the share of high correlations among cases whose times differ."""
    found = [
        run.correlation()
        for run in runs
        if max(run.simulated.values()) > (1 + CLOSE) * min(run.simulated.values())
    ]
    known = [each >= 0.95 for each in found if each is not None]
    return sum(known) / len(known) if known else None


def _make_minimum_target(what: str, reached: float | None, aim: float) -> Target:
    return Target(what, f"≥ {aim:g}", reached, reached is None or reached >= aim)


def _make_maximum_target(what: str, reached: float | None, aim: float) -> Target:
    return Target(what, f"≤ {aim:g}", reached, reached is None or reached <= aim)


def _make_unlimited_target(what: str, reached: float | None) -> Target:
    return Target(what, "", reached, True)


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
