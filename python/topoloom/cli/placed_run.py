# SPDX-License-Identifier: BSD-3-Clause
"""Starts a program as placed, and tells what came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.launch.apply.repeated_input import RepeatedInput

if TYPE_CHECKING:
    from topoloom._core import CommGraph
    from topoloom.cli.objective import Objective
    from topoloom.cli.seats import Seats
    from topoloom.cli.witnessed import Account
    from topoloom.graphs.profile import Profile
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.as_it_is import AsItIs
    from topoloom.launch.launchers.registry import ReadCommand
    from topoloom.placements.placement_file import PlacementFile


class Job:
    """A command that runs twice: once to be recorded, once as placed."""

    def __init__(
        self,
        program: list[str],
        read: ReadCommand | AsItIs,
        mpicc: str | None,
        as_json: bool,
    ) -> None:
        self.program = program
        self.read = read
        self.mpicc = mpicc
        self.as_json = as_json
        self.spent: dict[str, float] = {}
        self._standard_input = RepeatedInput()

    @contextlib.contextmanager
    def run(self, what: str) -> Iterator[None]:
        """Note how long a run takes, which has the standard input from its start."""
        from time import perf_counter

        start = perf_counter()
        with self._standard_input.rewound():
            yield
        self.spent[what] = perf_counter() - start


class Placed(NamedTuple):
    """The placement, the launcher's own order (`block`), and what is compared."""

    result: PlacementFile
    block: dict[str, float]
    aim: Objective


def record_job(job: Job) -> Profile | int:
    """Record the program; where it fails, answer its exit status."""
    from topoloom.cli.console import note
    from topoloom.cli.outcome import Failure
    from topoloom.preload.record import NothingRecorded, record

    try:
        with job.run("recorded"):
            profile = record(job.program, mpicc=job.mpicc)
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None
    if profile.exit_status != 0:
        note(
            f"topoloom: the recorded run ended with status {profile.exit_status}, "
            "so there is no second one"
        )
        return profile.exit_status
    return profile


def start(job: Job, seats: Seats, placed: Placed) -> tuple[Launch, Account]:
    """Let the launcher try the placement; if it can, run the program."""
    from topoloom.cli.witnessed import find_witness, run_witnessed
    from topoloom.launch.apply.trial import check_hosts, check_launch, looking_for
    from topoloom.launch.launchers.as_it_is import AsItIs

    read, slots = job.read, placed.result.placement.slots
    world = isinstance(read, AsItIs)
    planned = seats.placed(slots)
    with (
        read.directory() as directory,
        find_witness(planned, job.program, job.mpicc, world) as witness,
    ):
        libraries = [] if isinstance(witness, str) else witness.libraries
        if isinstance(read, AsItIs):
            check_hosts(job.program, libraries)
        else:
            trial = read.starting(looking_for(libraries))
            witness = check_launch(seats.launch(trial, slots, directory)) or witness
        launch = seats.launch(read, slots, directory)
        if not job.as_json:
            _announce(placed, launch)
        with job.run("placed"):
            account = run_witnessed(launch, witness, job.as_json)
    return launch, account


def _announce(placed: Placed, launch: Launch) -> None:
    from topoloom.cli.console import note
    from topoloom.cli.measured import gain_text, objective_text
    from topoloom.support.units import counted, format_bytes

    result, block, aim = placed

    def words(name: str, text: Callable[[float], str]) -> str:
        before, after = block[name], result.values[name]
        gained = gain_text(name, before, after)
        return f"{text(before)} -> {text(after)} ({gained})"

    machine = result.machine
    value = words(
        aim.measure, lambda value: objective_text(value, aim.objective, machine)
    )
    note(
        f"topoloom: {counted(len(result.placement.slots), 'rank')} placed with "
        f"{result.mapper}: {aim.title} {value}; bytes between nodes "
        f"{words('inter_node_bytes', format_bytes)}, most in or out of "
        f"one {words('inter_node_max', format_bytes)}"
        + (f"; {launch.loss}" if launch.loss else "")
    )
    if aim.reason:
        note(f"topoloom: objective {aim.title}: {aim.reason}")
    for remark in machine.remarks:
        note(f"topoloom: machine {remark}")


class Shown(NamedTuple):
    """What came of the page; `why_not` tells why there is none."""

    page: Path
    why_not: str | None

    def words(self) -> str:
        """Say it in a line."""
        return f"no report: {self.why_not}" if self.why_not else f"see {self.page}"

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        file = None if self.why_not else str(self.page)
        return {"file": file, "why_not": self.why_not}


def tell(
    job: Job, placed: Placed, launch: Launch, account: Account, shown: Shown | None
) -> None:
    """Say how long the runs took and what came of the page, or all as JSON."""
    import json

    from topoloom.cli.console import note

    spent = job.spent
    if job.as_json:
        document: dict[str, Any] = {
            "command": launch.command,
            "mapper": placed.result.mapper,
            "objective": placed.aim.objective,
            "reason": placed.aim.reason,
            "block": placed.block,
            "values": dict(placed.result.values),
            "note": launch.loss,
            "verified": account.document(),
            "report": shown and shown.document(),
            "seconds": {name: round(value, 3) for name, value in spent.items()},
        }
        note(json.dumps(document))
        return
    times = f"placed run {spent['placed']:.2f} s"
    if "recorded" in spent:
        times = f"recorded run {spent['recorded']:.2f} s, {times}"
    note(f"topoloom: {times}")
    if shown is not None:
        note(f"topoloom: {shown.words()}")


def write_page(
    page: Path, placed: Placed, graph: CommGraph, name: str, file: str, account: Account
) -> Shown:
    """Write the report; the program has run, so trouble is only told."""
    from topoloom._core import Error
    from topoloom.cli.reported import Made, report_of
    from topoloom.report.page import save_report

    try:
        made = [Made(placed.result, file)]
        report = report_of(graph, name, made, placed.aim.phases, account.words())
        save_report(page, report)
    except (Error, OSError) as error:
        return Shown(page, str(error))
    return Shown(page, None)
