# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program placed at once, as the user demands: by a graph, or recorded first."""

from __future__ import annotations

from collections.abc import Callable

from topoloom.launch.apply.trial_run import make_trial_program, run_trial_program
from topoloom.launch.launchers.launcher_commands import LauncherCommand
from topoloom.preload.record.command_state import CommandState
from topoloom.preload.record.merge_recordings import NothingRecorded
from topoloom.tasks.launch_slots import check_applicable
from topoloom.tasks.placed_run import (
    RecordedJob,
    load_recording,
    record_job,
)
from topoloom.tasks.runs.remembered_job import RECORDED, Ended, RememberedJob
from topoloom.tasks.runs.remembered_run import run_sampled, write_placement
from topoloom.tasks.runs.stored_placement import decide_placement


def run_explicitly(
    remembered: RememberedJob,
    graph_file: str | None,
    check_ranks: Callable[[int], None],
) -> Ended:
    """Load the graph, or record the program; then run the program placed.

    `check_ranks` is called with the number of ranks before the placed run.

    Raises
    ------
    topoloom.preload.record.NothingRecorded
        If no MPI program ran.
    topoloom.Error
        If the job cannot be placed; it has not been started then, or only recorded.
    """
    job, log = remembered.job, remembered.log
    if graph_file is not None:
        recorded = load_recording(job, graph_file)
    else:
        recorded = _record(remembered)
    if recorded.graph is None:
        why = (
            f"the recorded run ended with status {recorded.exit_status}, so there is "
            "no second one"
        )
        remembered.observer.remark(why)
        return Ended(RECORDED, recorded.exit_status, why, recorded)
    slots = remembered.select_slots(recorded)
    recording = log.record.get("recording")
    decision = decide_placement(log, recording, recorded, slots, remembered.placing)
    write_placement(remembered.placing, decision)
    check_ranks(recorded.graph.rank_count)
    if graph_file is None:
        log.restart()
    return run_sampled(remembered, recording, recorded, slots, decision)


def _record(remembered: RememberedJob) -> RecordedJob:
    """Record the program, after an empty program was started like the placed one."""
    job, log = remembered.job, remembered.log
    check_applicable(job.read, remembered.slots)
    _try_launcher(remembered)
    log.write(kind=RECORDED)
    state = CommandState()
    try:
        recorded = record_job(
            job,
            remembered.collectives,
            lambda profile: log.keep_recording(profile, remembered.identity),
            state,
        )
    except NothingRecorded as error:
        log.end(error.exit_status, state.seconds, note=str(error))
        raise
    interrupted = state.is_interrupted
    log.end(recorded.exit_status, state.seconds, interrupted=interrupted)
    return recorded


def _try_launcher(remembered: RememberedJob) -> None:
    """Start an empty program on the slots of the job, before the program is recorded.

    Raises `topoloom.Error` if the launcher refuses placements, or a host is missing.
    """
    read, slots = remembered.job.read, remembered.slots
    ranks = read.rank_count()
    if ranks is None or not isinstance(read, LauncherCommand):
        return
    used = slots.select_used(ranks)
    trial = read.with_program(make_trial_program([]))
    with read.make_directory() as directory:
        launch = used.build_launch(trial, used.allocation.slots[:ranks], directory)
        run_trial_program(launch)
