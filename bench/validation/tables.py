# SPDX-License-Identifier: BSD-3-Clause
"""Tables with a line per machine and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from validation.cases import ABOUT, SHORT
from validation.measure import JUDGED, PREDICTED, Run, correlation

#: Target of correlations with congestion and time in bandwidth-bound cases.
AIM = 0.9
_MEASURES = (*JUDGED, *PREDICTED)


def cases(runs: Sequence[Run]) -> list[list[Run]]:
    """Group runs by machine and pattern."""
    return [list(group) for _, group in groupby(runs, lambda r: (r.machine, r.pattern))]


def report(runs: Sequence[Run]) -> str:
    """Format the rank correlation of every measure with the simulated time."""
    head = ["machine", "pattern", "placements"]
    head += [name.replace("_", " ") for name in _MEASURES]
    head += ["worst / best time", "predicted / simulated", "time, Ethernet"]
    rows = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    rows += [_format_row(case) for case in cases(runs)]
    rows += [
        _format_summary(f"**{what}**", kept)
        for what, kept in (
            ("least, bandwidth-bound", [r for r in runs if r.pattern != SHORT]),
            ("least, short messages", [r for r in runs if r.pattern == SHORT]),
        )
        if kept
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    machines = "".join(f"- {name}: {what}\n" for name, what in ABOUT.items())
    return f"{table}\n{machines}"


def list_missed_targets(runs: Sequence[Run]) -> list[str]:
    """List the bandwidth-bound cases with correlations below the target."""
    return [
        f"{case[0].machine}, {case[0].pattern}: {name} {found:.3f}"
        for case in cases(runs)
        for name in ("congestion", "time")
        if case[0].pattern != SHORT
        and (found := correlation(case, name)) is not None
        and found < AIM
    ]


def _format_row(case: list[Run]) -> list[str]:
    times = [run.simulated for run in case]
    ratios = [run.values["time"] / run.simulated for run in case]
    return [
        case[0].machine,
        case[0].pattern,
        str(len(case)),
        *(_format_number(correlation(case, name)) for name in _MEASURES),
        f"{max(times) / min(times):.1f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        _format_number(correlation(case, "time", "ethernet")),
    ]


def _format_summary(what: str, runs: Sequence[Run]) -> list[str]:
    def find_least_correlation(name: str, simulated: str = "simulated") -> str:
        found = [correlation(case, name, simulated) for case in cases(runs)]
        return _format_number(min((x for x in found if x is not None), default=None))

    ratios = [run.values["time"] / run.simulated for run in runs]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    numbers = [find_least_correlation(name) for name in _MEASURES]
    return [
        what,
        "",
        str(len(runs)),
        *numbers,
        "",
        spread,
        find_least_correlation("time", "ethernet"),
    ]


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
