# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program once: recorded if it is new, placed if the store has its recording.

Whatever fails before the program has started, it is started as it was typed. Whatever
fails later, its exit status is returned. It is never started twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.mpi_time import load_mpi_time
from topoloom.graphs.phases import load_phases
from topoloom.graphs.profile import load_profile
from topoloom.launch.apply.run_program import run_program
from topoloom.launch.launcher import Launch
from topoloom.placements.placement_file import save_placement
from topoloom.preload.record.command_state import CommandState
from topoloom.tasks.launch_slots import check_applicable, check_rank_count
from topoloom.tasks.placed_run import RecordedJob, record_job, run_placed
from topoloom.tasks.runs.accepted_launch import find_accepted_launch
from topoloom.tasks.runs.job_advice import describe_prediction
from topoloom.tasks.runs.remembered_job import (
    LAUNCHER,
    PLACED,
    RECORDED,
    Ended,
    RememberedJob,
)
from topoloom.tasks.runs.sampled_run import compare_with_recording, sample_run
from topoloom.tasks.runs.stored_placement import Decision, Placing, decide_placement

if TYPE_CHECKING:
    from pathlib import Path

    from topoloom.store.program_identity import ProgramIdentity
    from topoloom.store.run_store import RunStore
    from topoloom.tasks.launch_slots import LaunchSlots


def run_remembered(remembered: RememberedJob) -> Ended:
    """Run a program placed if the store has a recording of it, else recorded."""
    if not remembered.log.is_usable:
        return run_as_typed(remembered, "")
    try:
        found = remembered.log.attempt(lambda store: _load_recording(store, remembered))
        if found is None:
            return _run_recorded(remembered)
        return _run_placed(remembered, *found)
    except _NotStarted as error:
        return run_as_typed(remembered, str(error))


class _NotStarted(Exception):
    """The program has not been started; the message says why."""


def run_as_typed(remembered: RememberedJob, why: str) -> Ended:
    """Run the command unchanged, and say why; "" if that was said."""
    log, job = remembered.log, remembered.job
    if why:
        remembered.observer.remark(f"{' '.join(why.split())}; started as typed")
    log.write(kind=LAUNCHER, note=why or None)
    with job.time_run(LAUNCHER):
        status = run_program(Launch(job.program), before_end=job.note_signal)
    log.end(status, job.durations[LAUNCHER], interrupted=job.is_interrupted)
    return Ended(LAUNCHER, status, why or log.failure or "")


def find_recording(
    store: RunStore, identity: ProgramIdentity, directory: str, like: bool
) -> tuple[str, Path] | None:
    """Find the newest recording of a program: its name, and the file.

    Recordings made in the directory come first: other directories can have other input
    files of the same names.
    """
    keys = [identity.key_in(directory), identity.key]
    if like:
        keys.append(identity.like_key)
    for key in keys:
        entry = store.read_entry(key)
        path = None if entry is None else store.find_file(entry.get("recording"))
        if entry is not None and path is not None:
            return entry["recording"], path
    return None


def _load_recording(
    store: RunStore, remembered: RememberedJob
) -> tuple[str, RecordedJob] | None:
    """Load the recording of a program; None if it has none that can be used."""
    assert remembered.identity is not None
    directory = remembered.log.record["directory"]
    found = find_recording(store, remembered.identity, directory, remembered.like)
    if found is None:
        return None
    name, path = found
    try:
        recorded = load_stored_recording(path, remembered.collectives)
        assert recorded.graph is not None
        check_rank_count(remembered.job.read, recorded.graph.rank_count, str(path))
    except Exception as error:  # Files of others can be damaged in any way.
        remembered.observer.remark(f"recorded again: {error}")
        return None
    return name, recorded


def load_stored_recording(path: Path, collectives: str) -> RecordedJob:
    """Load a stored recording, with collectives as messages or without them.

    Raises `topoloom.Error` if the file is damaged.
    """
    time = load_mpi_time(path)
    if collectives == "expand":
        return RecordedJob(0, load_graph(path), load_phases(path), time)
    return RecordedJob.from_profile(load_profile(path), collectives)


def _run_placed(
    remembered: RememberedJob, recording: str, recorded: RecordedJob
) -> Ended:
    """Place the program by a recording, run it, and compare both."""
    job, log = remembered.job, remembered.log
    try:
        slots = remembered.select_slots(recorded)
        decision = decide_placement(log, recording, recorded, slots, remembered.placing)
        if not decision.is_used:
            raise _NotStarted(decision.advice)
        write_placement(remembered.placing, decision)
        ended = run_sampled(remembered, recording, recorded, slots, decision)
    except _NotStarted:
        raise
    except Exception as error:
        if job.is_started:
            raise
        raise _NotStarted(str(error)) from None
    return ended


def run_sampled(
    remembered: RememberedJob,
    recording: str | None,
    recorded: RecordedJob,
    slots: LaunchSlots,
    decision: Decision,
) -> Ended:
    """Run a program placed; if its communication drifted, place the next run by it."""
    job, log, observer = remembered.job, remembered.log, remembered.observer
    accepted = find_accepted_launch(log, job, slots, decision.stored)

    def announce(launch: Launch) -> None:
        observer.announce(decision.placed, launch)
        log.write(kind=PLACED, **describe_placement(recording, decision))

    with sample_run(remembered) as sampler:
        launch, verified = run_placed(
            job, slots, decision.placed, announce, observer.report, sampler, accepted
        )
        status, seconds = verified.status, job.durations[PLACED]
        drift = None
        if sampler is not None:
            drift = compare_with_recording(remembered, sampler, recorded, verified)
    if drift is not None:
        log.write_exit(status, seconds)
        observer.remark(drift.describe())
        _predict(remembered, drift.recording, drift.recorded)
    log.end(
        status,
        seconds,
        verified=verified.is_verified,
        note=launch.loss,
        interrupted=job.is_interrupted,
    )
    return Ended(PLACED, status, "", recorded, decision, launch, verified)


def _run_recorded(remembered: RememberedJob) -> Ended:
    """Run the program in launcher order, and keep its recording for later runs."""
    job, log, state = remembered.job, remembered.log, CommandState()
    identity = remembered.identity
    assert identity is not None
    recordings: list[str | None] = []
    try:
        check_applicable(job.read, remembered.slots)
        log.write(kind=RECORDED)
        recorded = record_job(
            job,
            remembered.collectives,
            lambda profile: recordings.append(log.keep_recording(profile, identity)),
            state,
        )
    except Exception as error:
        if not state.is_started:
            raise _NotStarted(str(error)) from None
        if state.exit_status is None:
            raise
        remembered.observer.remark(str(error))
        status, why = state.exit_status, str(error)
        log.end(status, state.seconds, note=why, interrupted=state.is_interrupted)
        return Ended(RECORDED, status, why)
    status, seconds = recorded.exit_status, state.seconds
    log.write_exit(status, seconds)
    facts: dict[str, object] = {}
    decision, why = None, log.failure or ""
    if recorded.graph is None and recordings[0] is not None:
        has_entry = log.attempt(
            lambda store: find_recording(
                store, identity, log.record["directory"], like=False
            )
        )
        then = "placed by it" if has_entry else "recorded again"
        why = (
            f"the recorded run ended with status {status}; the next one will be {then}"
        )
        remembered.observer.remark(why)
    elif recordings[0] is not None:
        decision = _predict(remembered, recordings[0], recorded)
        if decision is not None:
            write_placement(remembered.placing, decision)
            facts = describe_placement(None, decision)
    log.end(status, seconds, interrupted=state.is_interrupted, **facts)
    return Ended(RECORDED, status, why, recorded, decision)


def _predict(
    remembered: RememberedJob, recording: str, recorded: RecordedJob
) -> Decision | None:
    """Place the next run, and say what that gains; errors are remarks."""
    remark = remembered.observer.remark
    try:
        slots = remembered.select_slots(recorded)
        decision = decide_placement(
            remembered.log, recording, recorded, slots, remembered.placing
        )
    except Exception as error:
        remark(f"the next run cannot be placed: {error}")
        return None
    except KeyboardInterrupt:
        remark("interrupted; the next run will be placed when it starts")
        return None
    if decision.is_used:
        change = describe_prediction(decision.placed)
        remark(f"next run will be placed: predicted {change}")
    else:
        remark(f"next run will not be placed: {decision.advice}")
    return decision


def write_placement(placing: Placing, decision: Decision) -> None:
    """Write the placement into the file that the user named, if any."""
    if placing.output is not None:
        save_placement(placing.output, decision.placed.file)


def describe_placement(recording: str | None, decision: Decision) -> dict[str, object]:
    """Return the facts of a placement for the record of a run."""
    placed, file = decision.placed, decision.placed.file
    measures = ("predicted_seconds", "hop_bytes", placed.objective.measure)
    return {
        "placed_by": recording,
        "placement": decision.stored,
        "mapper": file.mapper,
        "objective": file.objective,
        "ranks": len(file.placement.slots),
        "predicted": {
            name: [float(placed.block_values[name]), float(file.values[name])]
            for name in dict.fromkeys(measures)
            if name in placed.block_values and name in file.values
        },
    }
