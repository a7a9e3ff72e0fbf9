# SPDX-License-Identifier: BSD-3-Clause
"""Tries two variants of a run, such as launcher order and a placement, in pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.launch.apply.trial_run import make_trial_program, run_trial_program
from topoloom.launch.launchers.launcher_commands import LauncherCommand
from topoloom.store.run_store import make_key, make_run_id
from topoloom.tasks.launch_slots import check_rank_count
from topoloom.tasks.runs.gain_estimate import (
    Change,
    estimate_paired_change,
    is_complete,
)
from topoloom.tasks.runs.remembered_job import (
    LAUNCHER,
    PLACED,
    Ended,
    RememberedJob,
)
from topoloom.tasks.runs.remembered_run import (
    describe_placement,
    find_recording,
    load_stored_recording,
    run_remembered,
)
from topoloom.tasks.runs.stored_placement import Decision, decide_placement
from topoloom.tasks.runs.trial_variants import Factor, Variant, run_variant

if TYPE_CHECKING:
    from topoloom.documents.runs import TrialDocument
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import RecordedJob

Record = dict[str, Any]


class Pair(NamedTuple):
    """A run of each variant, next to each other in time."""

    first: Record
    second: Record


class TrialResult(NamedTuple):
    """The pairs of a trial, and the changes of wall time and of time in MPI.

    `status` is 0, or the exit status of the run that ended the trial.
    """

    status: int
    factor: Factor
    pairs: Sequence[Pair]
    wall: Change
    mpi: Change

    def list_findings(self) -> list[str]:
        """Say in lines how the factor changes wall time and time in MPI."""
        cause = self.factor.title
        findings = [f"wall time: {self.wall.sentence(cause)}"]
        if self.mpi.pairs and self.mpi.change is not None:
            findings.append(f"time in MPI: {self.mpi.sentence(cause)}")
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
            "factor": self.factor.name,
            "variants": [variant.name for variant in self.factor.variants],
            "pairs": [
                {
                    "runs": [run["id"] for run in pair],
                    "seconds": [run["wall_seconds"] for run in pair],
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
    factor: Factor
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
    found = find_stored_recording(remembered)
    if found is None:
        ended = run_remembered(remembered)
        found = find_stored_recording(remembered)
        if found is None:
            return ended
        log.restart()
    recording, recorded = found
    slots = remembered.select_slots(recorded)
    decisions = {
        variant.name: _decide(remembered, variant, found, slots)
        for variant in trial.factor.variants
    }
    for decision in decisions.values():
        if decision is not None:
            try_launcher(remembered, slots, decision)
    tag, done = _find_earlier_runs(trial, decisions)
    status = 0
    for pair, variant in _list_missing(done, trial, tag):
        log.record |= {"trial": tag, "pair": pair, "variant": variant.name}
        status = _run(trial, variant, slots, decisions[variant.name], recording)
        if not is_complete(log.record):
            break
        done[pair, variant.name] = dict(log.record)
        log.restart()
        first, second = (done.get((pair, each.name)) for each in trial.factor.variants)
        if first and second:
            trial.announce(pair + 1, Pair(first, second))
    return _compare(status, done, trial.factor)


def _decide(
    remembered: RememberedJob,
    variant: Variant,
    found: tuple[str, RecordedJob],
    slots: LaunchSlots,
) -> Decision | None:
    """Return the placement of a variant; None for the launcher's order."""
    if variant.mapper is None:
        return None
    recording, recorded = found
    placing = remembered.placing._replace(mapper=variant.mapper)
    decision = decide_placement(remembered.log, recording, recorded, slots, placing)
    if decision.stored is None:
        raise Error(remembered.log.failure or "the run store cannot be used")
    return decision


def find_stored_recording(remembered: RememberedJob) -> tuple[str, RecordedJob] | None:
    """Find and load the recording of a program; None if the store has none."""
    identity = remembered.identity
    assert identity is not None
    log = remembered.log
    found = log.attempt(
        lambda store: find_recording(
            store, identity, log.record["directory"], remembered.like
        )
    )
    if found is None:
        return None
    name, path = found
    recorded = load_stored_recording(path, remembered.collectives)
    assert recorded.graph is not None
    check_rank_count(remembered.job.read, recorded.graph.rank_count, str(path))
    return name, recorded


def try_launcher(
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
    trial: Trial, decisions: Mapping[str, Decision | None]
) -> tuple[str, dict[tuple[int, str], Record]]:
    """Find the runs of the last such trial of this program; also its tag."""
    remembered = trial.remembered
    assert remembered.identity is not None
    placements = [each and each.stored for each in decisions.values()]
    variants = [[each.name, each.collectives] for each in trial.factor.variants]
    prefix = make_key("trial", [remembered.identity.key, placements, variants])[:16]
    stored = remembered.log.attempt(lambda store: store.read_runs().records) or []
    runs = [each for each in stored if str(each.get("trial")).startswith(prefix)]
    if trial.is_new or not runs:
        return f"{prefix}-{make_run_id()}", {}
    tag = runs[-1]["trial"]
    return tag, {
        (each["pair"], each["variant"]): each
        for each in runs
        if each["trial"] == tag and is_complete(each)
    }


def _list_missing(
    done: Mapping[tuple[int, str], Record], trial: Trial, tag: str
) -> Iterator[tuple[int, Variant]]:
    """List the runs that a trial lacks, in an order that depends on its tag only."""
    variants = trial.factor.variants
    for pair in range(trial.pairs):
        order = random.Random(f"{tag}/{pair}").sample(variants, len(variants))
        yield from (
            (pair, variant) for variant in order if (pair, variant.name) not in done
        )


def _run(
    trial: Trial,
    variant: Variant,
    slots: LaunchSlots,
    decision: Decision | None,
    recording: str,
) -> int:
    """Run a variant, and store the run."""
    remembered = trial.remembered
    facts = {} if decision is None else describe_placement(recording, decision)
    remembered.log.write(kind=LAUNCHER if decision is None else PLACED, **facts)
    ended = run_variant(remembered, trial.factor, variant, slots, decision)
    remembered.log.end(
        ended.status,
        ended.seconds,
        mpi_time=ended.in_mpi and ended.in_mpi._asdict(),
        interrupted=ended.is_interrupted,
    )
    return ended.status


def _compare(
    status: int, done: Mapping[tuple[int, str], Record], factor: Factor
) -> TrialResult:
    first, second = (variant.name for variant in factor.variants)
    pairs = [
        Pair(done[pair, first], done[pair, second])
        for pair, variant in sorted(done)
        if variant == second and (pair, first) in done
    ]
    wall = [(each.first["wall_seconds"], each.second["wall_seconds"]) for each in pairs]
    in_mpi = [
        (each.first["mpi_time"]["mean"], each.second["mpi_time"]["mean"])
        for each in pairs
        if each.first.get("mpi_time") and each.second.get("mpi_time")
    ]
    changes = estimate_paired_change(wall), estimate_paired_change(in_mpi)
    return TrialResult(status, factor, pairs, *changes)
