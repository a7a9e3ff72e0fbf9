# SPDX-License-Identifier: BSD-3-Clause
"""Prints the output of `topoloom run` and `topoloom verify` on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from topoloom.cli.console import note, note_json

if TYPE_CHECKING:
    from pathlib import Path

    from topoloom.documents.placements import ObjectiveMeasures
    from topoloom.documents.programs import (
        RunDocument,
        RunSeconds,
        UnplacedRunDocument,
        UnplacedRunSeconds,
    )
    from topoloom.launch.launcher import Launch
    from topoloom.preload.verify import AffinityReport
    from topoloom.tasks.advice.rules import Advice
    from topoloom.tasks.placed_run import PlacedJob, ReportPage
    from topoloom.tasks.runs.remembered_job import Ended, RememberedJob
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


def note_ended_run(
    remembered: RememberedJob, ended: Ended, page: Path | None, quiet: bool
) -> None:
    """Print how long the run took, the report page and the advice, or one JSON line."""
    from topoloom.tasks.runs.job_advice import advise_on_job

    recorded, decision = ended.recorded, ended.decision
    advice, written = None, None
    if recorded is not None and decision is not None:
        output = remembered.placing.output
        advice = advise_on_job(recorded, decision.placed, output)
    if page is not None:
        sentence = advice.sentence if advice is not None else ""
        written = _write_page(remembered, ended, page, sentence)
    if quiet:
        _note_json(remembered, ended, written, advice)
        return
    if ended.verified is not None:
        note_unverified(ended.verified)
    durations = remembered.job.durations
    if durations and ended.kind != "launcher":
        times = ", ".join(f"{what} run {t:.2f} s" for what, t in durations.items())
        note(f"topoloom: {times}")
    if written is not None:
        note(f"topoloom: {written.summary()}")
    if advice is not None and ended.kind == "placed":
        note(f"topoloom: {advice.sentence}")


def _write_page(
    remembered: RememberedJob, ended: Ended, page: Path, advice: str
) -> ReportPage:
    """Write the report page of the placement, or say why there is none."""
    from topoloom.tasks.placed_run import ReportPage, write_run_report
    from topoloom.tasks.verified_run import VerifiedRun

    recorded, decision, placing = ended.recorded, ended.decision, remembered.placing
    if recorded is None or recorded.graph is None or decision is None:
        return ReportPage(page, ended.why or "there is no placement")
    unplaced = VerifiedRun(ended.status, [], "this run was recorded in launcher order")
    return write_run_report(
        page,
        decision.placed,
        recorded.graph,
        placing.graph_file or "the program",
        str(placing.output or ""),
        ended.verified or unplaced,
        advice,
    )


def _note_json(
    remembered: RememberedJob,
    ended: Ended,
    page: ReportPage | None,
    advice: Advice | None,
) -> None:
    """Print the results as one line of JSON."""
    seconds = {n: round(t, 3) for n, t in remembered.job.durations.items()}
    report = None if page is None else page.document()
    decision, launch, verified = ended.decision, ended.launch, ended.verified
    run = remembered.log.run_id
    if decision is None or launch is None or verified is None or advice is None:
        predicted = None if decision is None else decision.placed
        unplaced: UnplacedRunDocument = {
            "command": remembered.job.program,
            "exit_status": ended.status,
            "recorded": ended.kind == "recorded",
            "reason": ended.why,
            "next_run_placed": decision is not None and decision.is_used,
            "block": predicted and cast("ObjectiveMeasures", predicted.block_values),
            "values": predicted and cast("ObjectiveMeasures", predicted.file.values),
            "report": report,
            "seconds": cast("UnplacedRunSeconds", seconds),
            "advice": advice and advice.document(),
            "run": run,
        }
        note_json(unplaced)
        return
    placed = decision.placed
    document: RunDocument = {
        "command": launch.command,
        "mapper": placed.file.mapper,
        "objective": placed.objective.objective,
        "reason": placed.objective.reason,
        "block": cast("ObjectiveMeasures", placed.block_values),
        "values": cast("ObjectiveMeasures", placed.file.values),
        "note": launch.loss,
        "verified": verified.document(),
        "report": report,
        "seconds": cast("RunSeconds", seconds),
        "advice": advice.document(),
        "run": run,
    }
    note_json(document)
