# SPDX-License-Identifier: BSD-3-Clause
"""Tries a placement: runs a program in launcher order and placed, pair by pair."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.launch.apply.trial_run import make_trial_program, run_trial_program
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.launcher_commands import LauncherCommand
from topoloom.preload.record import record
from topoloom.preload.record.command_state import CommandState
from topoloom.preload.shim import find_compiler, find_launcher
from topoloom.store.run_store import make_key, make_run_id
from topoloom.tasks.launch_slots import check_rank_count
from topoloom.tasks.runs.gain_estimate import Change, estimate_paired_change
from topoloom.tasks.runs.remembered_run import (
    LAUNCHER,
    PLACED,
    Ended,
    RememberedJob,
    describe_placement,
    find_recording,
    load_stored_recording,
    run_remembered,
)
from topoloom.tasks.runs.stored_placement import Decision, decide_placement

if TYPE_CHECKING:
    from topoloom.documents.runs import TrialDocument
    from topoloom.graphs.mpi_time import MpiTime
    from topoloom.graphs.profile import Profile
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import RecordedJob

Record = dict[str, Any]
VARIANTS = (LAUNCHER, PLACED)


class Pair(NamedTuple):
    """A run in launcher order and a placed one, next to each other in time."""

    launcher: Record
    placed: Record


class TrialResult(NamedTuple):
    """The pairs of a trial, and the changes of wall time and of time in MPI.

    `status` is 0, or the exit status of the run that ended the trial.
    """

    status: int
    pairs: Sequence[Pair]
    wall: Change
    mpi: Change
    decision: Decision

    def list_findings(self) -> list[str]:
        """Say in lines how placement changes wall time and time in MPI."""
        findings = [f"wall time: {self.wall.sentence()}"]
        if self.mpi.pairs and self.mpi.change is not None:
            findings.append(f"time in MPI: {self.mpi.sentence()}")
        if self.status:
            findings.append(
                f"the last run ended with status {self.status}; repeat the command to "
                "continue"
            )
        return findings

    def document(self) -> TrialDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "exit_status": self.status,
            "pairs": [
                {
                    "launcher": pair.launcher["id"],
                    "placed": pair.placed["id"],
                    "launcher_seconds": pair.launcher["wall_seconds"],
                    "placed_seconds": pair.placed["wall_seconds"],
                }
                for pair in self.pairs
            ],
            "wall": self.wall.document(),
            "mpi": self.mpi.document(),
            "conclusion": self.list_findings()[0],
        }


@dataclass
class Trial:
    """A trial of a job; `pairs` is the number of pairs of runs.

    `announce` is called with the number of a pair, from 1, and with the pair.
    """

    remembered: RememberedJob
    pairs: int
    is_new: bool
    announce: Callable[[int, Pair], None]


def run_trial(trial: Trial) -> TrialResult | Ended:
    """Run the missing pairs of a trial, and compare the times of all.

    A program without a recording is recorded first; if that fails, the trial ends.
    An interrupted trial is continued. The order within a pair is random.

    Raises
    ------
    topoloom.Error
        If the store cannot be used, or the launcher refuses the placement.
    """
    remembered = trial.remembered
    log = remembered.log
    if not log.is_usable:
        raise Error(log.failure or "the run store cannot be used")
    found = _find_recording(remembered)
    if found is None:
        ended = run_remembered(remembered)
        found = _find_recording(remembered)
        if found is None:
            return ended
        log.restart()
    recording, recorded = found
    slots = remembered.select_slots(recorded)
    decision = decide_placement(log, recording, recorded, slots, remembered.placing)
    if decision.stored is None:
        raise Error(log.failure or "the run store cannot be used")
    _try_launcher(remembered, slots, decision)
    tag, done = _find_earlier_runs(trial, decision.stored)
    status = 0
    for pair, variant in _list_missing(done, trial.pairs, tag):
        log.record |= {"trial": tag, "pair": pair}
        status = _run_variant(remembered, variant, slots, decision, recording)
        if status != 0:
            break
        done[pair, variant] = dict(log.record)
        log.restart()
        if len([key for key in done if key[0] == pair]) == len(VARIANTS):
            trial.announce(pair + 1, Pair(*(done[pair, each] for each in VARIANTS)))
    return _compare(status, done, decision)


def _find_recording(remembered: RememberedJob) -> tuple[str, RecordedJob] | None:
    identity = remembered.identity
    assert identity is not None
    found = remembered.log.attempt(
        lambda store: find_recording(store, identity, remembered.like)
    )
    if found is None:
        return None
    name, path = found
    recorded = load_stored_recording(path, remembered.collectives)
    assert recorded.graph is not None
    check_rank_count(remembered.job.read, recorded.graph.rank_count, str(path))
    return name, recorded


def _try_launcher(
    remembered: RememberedJob, slots: LaunchSlots, decision: Decision
) -> None:
    """Start an empty program placed; raise an error if the launcher refuses that."""
    read = remembered.job.read
    assert isinstance(read, LauncherCommand)
    with read.make_directory() as directory:
        trial = read.with_program(make_trial_program([]))
        placed = decision.placed.file.placement.slots
        run_trial_program(slots.build_launch(trial, placed, directory))


def _find_earlier_runs(
    trial: Trial, placement: str
) -> tuple[str, dict[tuple[int, str], Record]]:
    """Find the runs of the last trial of this program and placement; also its tag."""
    remembered = trial.remembered
    assert remembered.identity is not None
    prefix = make_key("trial", [remembered.identity.key, placement])[:16]
    stored = remembered.log.attempt(lambda store: store.read_runs().records) or []
    runs = [each for each in stored if str(each.get("trial")).startswith(prefix)]
    if trial.is_new or not runs:
        return f"{prefix}-{make_run_id()}", {}
    tag = runs[-1]["trial"]
    return tag, {
        (each["pair"], each["kind"]): each
        for each in runs
        if each["trial"] == tag and each.get("exit_status") == 0
    }


def _list_missing(
    done: Mapping[tuple[int, str], Record], pairs: int, tag: str
) -> Iterator[tuple[int, str]]:
    """List the runs that a trial lacks, in an order that depends on its tag only."""
    for pair in range(pairs):
        order = random.Random(f"{tag}/{pair}").sample(VARIANTS, len(VARIANTS))
        yield from ((pair, variant) for variant in order if (pair, variant) not in done)


def _run_variant(
    remembered: RememberedJob,
    variant: str,
    slots: LaunchSlots,
    decision: Decision,
    recording: str,
) -> int:
    """Run the program in launcher order or placed, and measure its time in MPI."""
    job, log, state = remembered.job, remembered.log, CommandState()
    times: list[MpiTime | None] = []

    def keep_time(profile: Profile) -> None:
        times.append(profile.mpi_time)

    compiler = find_compiler(find_launcher(job.program), job.mpicc)
    facts = describe_placement(recording, decision) if variant == PLACED else {}
    with job.read.make_directory() as directory:
        launch = Launch(job.program)
        if variant == PLACED:
            placed = decision.placed.file.placement.slots
            launch = slots.build_launch(job.read, placed, directory)
        log.write(kind=variant, **facts)
        with job.time_run(variant):
            # Both variants are recorded, so that the recorder slows both equally.
            record(
                launch.command,
                mpicc=str(compiler),
                then=keep_time,
                state=state,
                variables=launch.environment,
            )
    status = state.exit_status or 0
    in_mpi = times[0]
    log.end(status, state.seconds, mpi_time=in_mpi and in_mpi._asdict())
    return status


def _compare(
    status: int, done: Mapping[tuple[int, str], Record], decision: Decision
) -> TrialResult:
    pairs = [
        Pair(done[pair, LAUNCHER], done[pair, PLACED])
        for pair, variant in sorted(done)
        if variant == PLACED and (pair, LAUNCHER) in done
    ]
    wall = [(p.launcher["wall_seconds"], p.placed["wall_seconds"]) for p in pairs]
    in_mpi = [
        (p.launcher["mpi_time"]["mean"], p.placed["mpi_time"]["mean"])
        for p in pairs
        if p.launcher.get("mpi_time") and p.placed.get("mpi_time")
    ]
    changes = estimate_paired_change(wall), estimate_paired_change(in_mpi)
    return TrialResult(status, pairs, *changes, decision)
