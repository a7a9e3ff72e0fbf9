# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results: one per set, with geometric means over its instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from peers.best_known import BestKnownValues
from peers.comparison import (
    ANY,
    PEERS,
    best_run_of_each_instance,
    format_comparison,
    format_short_comparison,
    geometric_mean,
    list_misses,
)
from peers.instances import SETS
from peers.measure import Run
from peers.tools import TOOLS

BEGIN, END = "<!-- bench-peers: begin -->", "<!-- bench-peers: end -->"

HEAD = (
    "| tool | effort | feasible | J / best known | repaired | search, CPU s "
    "| process, CPU s | memory, MB |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)


def ratio_to_best_known(
    run: Run, best_known: BestKnownValues, value: int | None
) -> float | None:
    """Return a value of a run relative to the best known value."""
    best = best_known.find_value(f"{run.group}/{run.instance}", run.hash)
    if value is None or best is None:
        return None
    return 1.0 if best == value else value / max(best, 1)


def format_progress_line(run: Run, best_known: BestKnownValues) -> str:
    """Format a progress line about a run."""
    head = f"{run.group:9} {run.instance:36} {run.tool:10} {run.effort:24}"
    if run.outcome not in ("ok", "infeasible"):
        return f"{head} {run.outcome}: {run.why}"
    over = f"  {run.overfilled} overfilled" if run.overfilled else ""
    repaired = f", repaired {run.repaired}" if run.repaired is not None else ""
    best = _format_number(ratio_to_best_known(run, best_known, run.hop_bytes), 3)
    return (
        f"{head} J {run.hop_bytes:>12} {best:>6} x  "
        f"search {_format_seconds(run.search_cpu)}"
        f"  process {_format_seconds(run.process_cpu)}{over}{repaired}"
    )


def format_report(
    runs: Sequence[Run], best_known: BestKnownValues, missing: Sequence[str]
) -> str:
    """Format all tables as Markdown."""
    parts: list[str] = []
    runs = sorted(runs, key=_get_sort_key)
    if brief := format_short_comparison(runs):
        parts += ["### In short\n", brief]
    for group in dict.fromkeys(run.group for run in runs):
        members = [run for run in runs if run.group == group]
        tables = (
            format_means(members, best_known),
            format_comparison(members),
            list_misses(members),
            format_best_values(members, best_known),
        )
        parts += [f"### {group}\n", *filter(None, tables)]
    absent = [tool for tool in TOOLS if not tool.adapter]
    parts.append("Not available:\n")
    parts.append("".join(f"- {tool.name}: {tool.about}\n" for tool in absent))
    for run in runs:
        if run.outcome == "unable" and "not installed" in run.why:
            note = f"- {run.tool}: {run.why}\n"
            if note not in parts[-1]:
                parts[-1] += note
    if missing:
        parts.append("Missing instances:\n")
        parts.append("".join(f"- {what}\n" for what in missing))
    return "\n".join(parts)


def format_means(runs: Sequence[Run], best_known: BestKnownValues) -> str:
    """Format a line per tool and effort: geometric means over the instances.

    The ratio covers feasible answers only, so a tool that fails hard instances may look
    better than it is; the count of feasible answers is therefore shown. The line
    ``any`` uses the best feasible answer of all efforts, with its time. The repaired
    ratio covers all answers, infeasible ones after the repair.
    """
    rows = []
    for tool, effort in _list_lines(runs):
        members = [run for run in runs if run.tool == tool]
        tried = len({run.instance for run in members})
        if effort == ANY:
            members = best_run_of_each_instance(members)
        else:
            members = [run for run in members if run.effort == effort]
        done = [run for run in members if run.outcome in ("ok", "infeasible")]
        if not done:
            why = next((run.why for run in members), "")
            rows.append(f"| {tool} | {effort} | none: {why} | | | | | |")
            continue
        fine = [run for run in done if run.outcome == "ok"]
        repaired = [
            ratio_to_best_known(
                run, best_known, run.hop_bytes if run.outcome == "ok" else run.repaired
            )
            for run in done
        ]
        cells = [
            f"{len(fine)} of {tried}",
            _format_number(
                _compute_mean(
                    ratio_to_best_known(run, best_known, run.hop_bytes) for run in fine
                ),
                3,
            ),
            _format_number(_compute_mean(repaired), 3) if len(done) > len(fine) else "",
            _format_seconds(_compute_mean(run.search_cpu for run in done)),
            _format_seconds(_compute_mean(run.process_cpu for run in done)),
            _format_number(_compute_mean((run.memory or 0) / 1e6 for run in done), 0),
        ]
        rows.append(f"| {tool} | {effort} | {' | '.join(cells)} |")
    return HEAD + "\n".join(rows) + "\n"


def _get_sort_key(run: Run) -> tuple[int, int, int]:
    """Return the sort key: order of sets, tools and efforts in their tables."""
    names = [tool.name for tool in TOOLS]
    efforts = [*TOOLS[names.index(run.tool)].efforts, run.effort]
    sets = [*SETS, run.group]
    return sets.index(run.group), names.index(run.tool), efforts.index(run.effort)


def _list_lines(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return (tool, effort) of the lines; ``any`` is added to several efforts."""
    found = []
    for tool in dict.fromkeys(run.tool for run in runs):
        efforts = list(dict.fromkeys(run.effort for run in runs if run.tool == tool))
        found += [(tool, effort) for effort in efforts]
        if len(efforts) > 1 and tool in PEERS:
            found.append((tool, ANY))
    return found


def format_best_values(runs: Sequence[Run], best_known: BestKnownValues) -> str:
    """Format a line per instance: best J of each tool.

    Infeasible answers show the number of overfilled slots.
    """
    names = list(dict.fromkeys(run.tool for run in runs))
    rows = ["| instance | best known | " + " | ".join(names) + " |"]
    rows.append("| --- | ---: |" + " ---: |" * len(names))
    for instance in dict.fromkeys(run.instance for run in runs):
        members = [run for run in runs if run.instance == instance]
        best = best_known.find_value(f"{members[0].group}/{instance}", members[0].hash)
        cells = [_format_best([r for r in members if r.tool == name]) for name in names]
        known = "" if best is None else f"{best:,}"
        rows.append(f"| {instance} | {known} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _format_best(runs: Sequence[Run]) -> str:
    done = [run for run in runs if run.hop_bytes is not None]
    if not done:
        return runs[0].outcome if runs else ""
    run = min(done, key=lambda one: (one.outcome != "ok", one.hop_bytes))
    over = f" ({run.overfilled} overfilled)" if run.overfilled else ""
    return f"{run.hop_bytes:,}{over}"


def write_between_marks(
    file: Path, text: str, begin: str = BEGIN, end: str = END
) -> None:
    """Put the tables between a page's marks; replace a page that has no marks."""
    page = file.read_text() if file.exists() else ""
    if begin in page and end in page:
        before, after = page.split(begin)[0], page.split(end)[1]
        file.write_text(f"{before}{begin}\n\n{text}\n{end}{after}")
    else:
        file.write_text(text)


def _compute_mean(numbers: Iterable[float | None]) -> float | None:
    return geometric_mean(number for number in numbers if number is not None)


def _format_number(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}f}"


def _format_seconds(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"
