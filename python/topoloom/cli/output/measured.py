# SPDX-License-Identifier: BSD-3-Clause
"""Prints and writes the results of `topoloom collective measure`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.cli.console import print_facts, print_json, print_table

if TYPE_CHECKING:
    from topoloom.tasks.collectives.measure import MeasuredCollective, MeasuredSchedule

_OWN = "MPI's own"


class MeasuredFiles(NamedTuple):
    """Paths of the output files; None for files that were not requested."""

    samples: Path | None
    decisions: Path | None
    figure: Path | None
    timeline: Path | None


def write_measured(
    collective: MeasuredCollective, files: MeasuredFiles, as_json: bool
) -> None:
    """Write all files, then print one table per message size, or JSON."""
    from topoloom.figure.timeline import draw_timeline
    from topoloom.support.files import write_text

    document = collective.document()
    if files.samples is not None:
        write_text(
            files.samples, "".join(f"{line}\n" for line in collective.format_samples())
        )
    if files.decisions is not None:
        table = collective.decisions()
        write_text(files.decisions, json.dumps(table, indent=1) + "\n")
        document["decisions"] = table["decisions"]
    if files.figure is not None:
        _draw(files.figure, collective)
    if files.timeline is not None and collective.trace is not None:
        draw_timeline(files.timeline, collective.trace)
    if as_json:
        print_json(document)
        return
    for measured in collective.sizes:
        _print_result(collective, measured)
    drawn = files if collective.trace is not None else files._replace(timeline=None)
    facts = _list_facts(collective)
    if files.decisions is not None:
        facts += _list_slower_decisions(collective)
    print_facts(facts, written=list(drawn))


def _list_facts(collective: MeasuredCollective) -> list[tuple[str, str]]:
    facts = [("calls", f"{collective.repeats} of each, in turns, from a common start")]
    if collective.platform is not None:
        facts.append(("messages cost", collective.platform.model_name))
    return facts


def _list_slower_decisions(collective: MeasuredCollective) -> list[tuple[str, str]]:
    """Name the sizes where a decision table makes calls slower than MPI's own."""
    from topoloom.support.units import format_bytes

    slower = [
        format_bytes(measured[0].bytes) if measured[0].bytes else "any size"
        for measured in collective.sizes
        if _name_schedule(measured[0]) == _OWN
    ]
    if not slower:
        return []
    told = f"{', '.join(slower)}: MPI's own is faster than all schedules in the table"
    return [("slower", told)]


def _make_title(collective: MeasuredCollective, size: int) -> str:
    from topoloom.support.units import counted, format_bytes

    of = f" of {format_bytes(size)}" if size else ""
    ranks = counted(collective.call.ranks, "rank")
    return f"{collective.call.operation}{of} among {ranks}"


def _name_schedule(one: MeasuredSchedule) -> str:
    from topoloom.preload.collective_timing import MPI_OWN

    return _OWN if one.schedule == MPI_OWN else one.schedule


def _print_result(
    collective: MeasuredCollective, measured: list[MeasuredSchedule]
) -> None:
    from topoloom.support.units import format_seconds

    own = next(one.median for one in measured if _name_schedule(one) == _OWN)
    columns = ["schedule", "median", "95 % interval", "MPI's own / it"]
    if collective.platform is not None:
        columns.append("predicted")
    rows = []
    for one in measured:
        bounds = " to ".join(map(format_seconds, one.interval))
        row = [_name_schedule(one), format_seconds(one.median), bounds]
        row.append(f"{own / one.median:.2f}" if one.median > 0 else "")
        if collective.platform is not None:
            seconds = one.predicted
            row.append("" if seconds is None else format_seconds(seconds))
        rows.append(row)
    print_table(
        columns,
        rows,
        title=_make_title(collective, measured[0].bytes),
        best=0,
        keep=["schedule", "median", "MPI's own / it"],
    )


def _draw(path: Path, collective: MeasuredCollective) -> None:
    from topoloom.figure.measured_times import TimeBar, draw_measured
    from topoloom.support.units import counted

    sizes = [
        (
            measured[0].bytes,
            [
                TimeBar(
                    _name_schedule(one),
                    one.median,
                    one.interval,
                    one.predicted,
                    _name_schedule(one) == _OWN,
                )
                for one in measured
            ],
        )
        for measured in collective.sizes
    ]
    ranks = counted(collective.call.ranks, "rank")
    draw_measured(path, f"{collective.call.operation} among {ranks}, measured", sizes)
