# SPDX-License-Identifier: BSD-3-Clause
"""Prints the output of `topoloom run` and `topoloom verify` on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from topoloom.cli.console import note, note_json

if TYPE_CHECKING:
    from pathlib import Path

    from topoloom.documents.placements import ObjectiveMeasures
    from topoloom.documents.programs import RunDocument, RunSeconds
    from topoloom.launch.launcher import Launch
    from topoloom.preload.verify import AffinityReport
    from topoloom.tasks.advice.rules import Advice
    from topoloom.tasks.placed_run import Job, PlacedJob, RecordedJob, ReportPage
    from topoloom.tasks.verified_run import VerifiedRun


def note_leftovers(folder: Path) -> None:
    """Name the recordings in a folder whose process was killed."""
    from topoloom.preload.record.notes_folder import find_leftovers

    for left in find_leftovers(folder):
        note(
            f"topoloom: {left} is left from a killed recording; this writes its "
            f"graph: topoloom record -o FILE.npz --recover {left}"
        )


def make_location_printer(quiet: bool) -> Callable[[AffinityReport], None]:
    """Return a function that prints the locations of ranks, unless `quiet`."""

    def note_report(report: AffinityReport) -> None:
        if not quiet:
            note(f"topoloom: {report.describe()}")

    return note_report


def note_unverified(run_report: VerifiedRun) -> None:
    """Print the reason if the locations of ranks were not verified."""
    if run_report.why:
        note(f"topoloom: not verified: {run_report.why}")


def note_placement(placed: PlacedJob, launch: Launch) -> None:
    """Print the gain of the placement before the program starts."""
    from topoloom.placements.measures import (
        format_gain,
        format_measure,
        format_objective,
        measure_title,
    )
    from topoloom.support.units import counted

    file, block, objective, _ = placed
    machine = file.machine

    def format_change(name: str, text: Callable[[float], str]) -> str:
        before, after = block[name], file.values[name]
        return f"{text(before)} -> {text(after)} ({format_gain(name, before, after)})"

    value = format_change(
        objective.measure,
        lambda value: format_objective(value, objective.objective, machine),
    )

    def format_bytes(name: str) -> str:
        written = format_change(
            name, lambda value: format_measure(name, value, machine)
        )
        return f"{measure_title(name, machine)} {written}"

    note(
        f"topoloom: {counted(len(file.placement.slots), 'rank')} placed with "
        f"{file.mapper}: {objective.title} {value}; "
        f"{format_bytes('inter_node_bytes')}, {format_bytes('inter_node_max')}"
        + (f"; {launch.loss}" if launch.loss else "")
    )
    if objective.reason:
        note(f"topoloom: objective {objective.title}: {objective.reason}")
    for remark in machine.remarks:
        note(f"topoloom: machine {remark}")


def note_outcome(
    job: Job,
    placed: PlacedJob,
    launch: Launch,
    run_report: VerifiedRun,
    page: ReportPage | None,
    advice: Advice,
    as_json: bool,
) -> None:
    """Print how long the two runs took, the path of the report page, and the advice."""
    if as_json:
        _note_json(job, placed, launch, run_report, page, advice)
        return
    note_unverified(run_report)
    durations = job.durations
    times = f"placed run {durations['placed']:.2f} s"
    if "recorded" in durations:
        times = f"recorded run {durations['recorded']:.2f} s, {times}"
    note(f"topoloom: {times}")
    if page is not None:
        note(f"topoloom: {page.summary()}")
    note(f"topoloom: {advice.sentence}")


def advise_on_job(
    recorded: RecordedJob, placed: PlacedJob, output: Path | None
) -> Advice:
    """Advise what to do with the placement of a job, which `output` holds."""
    from topoloom.tasks.advice.evidence import (
        Judged,
        advise_on,
        suggest_export,
        suggest_search,
    )

    assert recorded.graph is not None
    file, time = placed.file, recorded.mpi_time
    return advise_on(
        Judged(
            recorded.graph,
            file.allocation,
            placed.objective,
            placed.block_values,
            file.values,
            file.placement.shared,
            file.capacities,
            least=placed.least,
            mpi_share=time and time.share_at_most,
            use=suggest_export(output),
            fixed=bool(file.fixed),
            remedy=suggest_search([file.mapper], False, "leave out --mapper"),
        )
    )


def _note_json(
    job: Job,
    placed: PlacedJob,
    launch: Launch,
    run_report: VerifiedRun,
    page: ReportPage | None,
    advice: Advice,
) -> None:
    """Print the results as one line of JSON."""
    seconds = job.durations.items()
    document: RunDocument = {
        "command": launch.command,
        "mapper": placed.file.mapper,
        "objective": placed.objective.objective,
        "reason": placed.objective.reason,
        "block": cast("ObjectiveMeasures", placed.block_values),
        "values": cast("ObjectiveMeasures", placed.file.values),
        "note": launch.loss,
        "verified": run_report.document(),
        "report": None if page is None else page.document(),
        "seconds": cast(
            "RunSeconds", {name: round(value, 3) for name, value in seconds}
        ),
        "advice": advice.document(),
    }
    note_json(document)
