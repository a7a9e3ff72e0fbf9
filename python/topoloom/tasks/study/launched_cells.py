# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of a study on a machine with the user's launcher.

An additional run records each program once. Measured runs are not recorded; all of them
preload the agent that verifies where the ranks are, so its cost is the same in all.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import LauncherCommand
from topoloom.support.child_processes import redirect_stdout_to
from topoloom.tasks.replaced_collectives import provide_collectives_setting
from topoloom.tasks.runs.remembered_job import LAUNCHER, PLACED, RememberedJob
from topoloom.tasks.runs.remembered_run import describe_placement, run_remembered
from topoloom.tasks.runs.stored_placement import Decision, decide_placement
from topoloom.tasks.runs.trial import find_stored_recording, try_launcher
from topoloom.tasks.study.cell_run import (
    CellFailedError,
    CellRun,
    ReadTime,
    choose_time,
    get_prediction,
)
from topoloom.tasks.verified_run import (
    preload_agent,
    run_verified,
    start_verify_agent,
)

if TYPE_CHECKING:
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.study.design import Cell
    from topoloom.tasks.study.factors import Settings

#: Makes the job of a cell from the settings of the cell.
MakeJob = Callable[["Settings"], RememberedJob]


class _PreparedCell(NamedTuple):
    remembered: RememberedJob
    settings: Settings
    slots: LaunchSlots
    decision: Decision
    recording: str


class LaunchedCells:
    """Runs cells with a launcher, one at a time."""

    is_deterministic = False

    def __init__(self, make_job: MakeJob, read_time: ReadTime | None) -> None:
        self._make_job = make_job
        self._read_time = read_time
        self._prepared: dict[str, _PreparedCell] = {}
        self._facts: list[object] = []

    def identify(self) -> list[object]:
        """Return what determines the runs of all prepared cells."""
        return ["launched", self._facts]

    def prepare(self, cell: Cell) -> float | None:
        """Record and place the program of a cell; return the predicted seconds."""
        settings = cell.merge_settings()
        remembered = self._make_job(settings)
        identity = remembered.identity
        assert identity is not None
        if not remembered.log.is_usable:
            raise Error(remembered.log.failure or "the run store cannot be used")
        with _set_environment(settings.environment):
            found = find_stored_recording(remembered)
            if found is None:
                with (
                    Path(os.devnull).open("wb") as file,
                    redirect_stdout_to(file.fileno()),
                ):
                    ended = run_remembered(remembered)
                found = find_stored_recording(remembered)
                if found is None:
                    why = ended.why or "nothing was recorded"
                    raise CellFailedError(
                        f"the recorded run: exit status {ended.status}: {why}"
                    )
                remembered.log.restart()
            recording, recorded = found
            slots = remembered.select_slots(recorded)
            placing = remembered.placing._replace(mapper=settings.mapper or "block")
            decision = decide_placement(
                remembered.log, recording, recorded, slots, placing
            )
            if settings.mapper is not None:
                try_launcher(remembered, slots, decision)
        self._prepared[cell.name] = _PreparedCell(
            remembered, settings, slots, decision, recording
        )
        collectives = settings.collectives
        self._facts.append(
            [
                *(identity.key, decision.stored, dict(settings.environment)),
                None if collectives is None else dict(collectives),
            ]
        )
        return get_prediction(decision.placed.file, settings)

    def run_all(
        self, cells: Sequence[Cell], repetition: int, tag: str
    ) -> Iterator[tuple[Cell, CellRun]]:
        """Run prepared cells one at a time, and store the runs."""
        for cell in cells:
            yield cell, self._run(cell, repetition, tag)

    def _run(self, cell: Cell, repetition: int, tag: str) -> CellRun:
        made = self._prepared[cell.name]
        remembered, log = made.remembered, made.remembered.log
        is_placed = made.settings.mapper is not None
        facts = describe_placement(made.recording, made.decision) if is_placed else {}
        log.record |= {"study": tag, "cell": cell.name, "repetition": repetition}
        log.write(kind=PLACED if is_placed else LAUNCHER, **facts)
        job = remembered.job
        with tempfile.TemporaryFile() as output:
            with (
                _set_environment(made.settings.environment),
                redirect_stdout_to(output.fileno()),
            ):
                status, wall = _launch(made, is_placed)
            output.seek(0)
            text = output.read().decode(errors="replace")
        run = choose_time(self._read_time, text, wall)
        if status != 0 or job.is_interrupted:
            run = CellRun(status or 130, None, f"exit status {status}")
        log.end(status, wall, study_seconds=run.seconds, interrupted=job.is_interrupted)
        log.restart()
        return run


def _launch(made: _PreparedCell, is_placed: bool) -> tuple[int, float]:
    """Start the program; return its exit status and wall time."""
    remembered = made.remembered
    job, file = remembered.job, made.decision.placed.file
    read = job.read
    assert isinstance(read, LauncherCommand)
    setting = provide_collectives_setting(made.settings.collectives, file, False)
    planned = made.slots.make_host_placement(file.placement.slots)
    with (
        read.make_directory() as directory,
        setting as collectives,
        start_verify_agent(
            planned, job.program, job.mpicc, False, collectives
        ) as agent,
    ):
        launch = Launch(job.program)
        if is_placed:
            launch = made.slots.build_launch(read, file.placement.slots, directory)
        watched, agent = preload_agent(launch, agent)
        start = perf_counter()
        done = run_verified(watched, agent, lambda _: None, job.note_signal)
        return done.status, perf_counter() - start


@contextlib.contextmanager
def _set_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process, which the launcher inherits."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
