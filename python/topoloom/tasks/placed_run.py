# SPDX-License-Identifier: BSD-3-Clause
"""Records a program, places its ranks, and runs it with the placement."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topoloom.launch.apply.repeated_input import RepeatedInput

if TYPE_CHECKING:
    from topoloom._core import CommGraph
    from topoloom.documents.programs import RunReport
    from topoloom.graphs.mpi_time import MpiTime
    from topoloom.graphs.profile import Profile
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.placements.placement_file import PlacementFile
    from topoloom.preload.record.command_state import CommandState
    from topoloom.preload.record.communication_sampler import CommunicationSampler
    from topoloom.preload.verify import AffinityReport
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.objective import Objective
    from topoloom.tasks.problem import Problem
    from topoloom.tasks.search import Search
    from topoloom.tasks.verified_run import VerifiedRun


#: Ways in which `topoloom run` applies an order of the ranks.
LAUNCHER, WORLD, TOPOLOGIES = APPLY = ("launcher", "world", "topologies")


class Job:
    """A command that runs once, or twice: to be recorded, then with its ranks placed.

    With `repeats`, both runs read the same standard input, which is copied. Otherwise,
    the program reads it directly. `collectives` contains options of
    libtopoloom-collective for the placed run. With None, the MPI library's collectives
    are used.
    """

    def __init__(
        self,
        program: list[str],
        read: LauncherCommand | UnplacedCommand,
        mpicc: str | None = None,
        collectives: dict[str, str] | None = None,
        repeats: bool = True,
    ) -> None:
        self.program = program
        self.read = read
        self.mpicc = mpicc
        self.collectives = collectives
        self.durations: dict[str, float] = {}
        self.is_started = False
        self.is_interrupted = False
        self._repeated_input = RepeatedInput() if repeats else None

    @contextlib.contextmanager
    def time_run(self, what: str) -> Iterator[None]:
        """Context manager: rewind standard input, and measure the duration of a run."""
        from time import perf_counter

        repeated = self._repeated_input
        self.is_started = True
        start = perf_counter()
        with repeated.rewind() if repeated else contextlib.nullcontext():
            yield
        self.durations[what] = perf_counter() - start

    def note_signal(self, _is_time_up: bool) -> None:
        """Note that a signal ends the program, whose exit status can still be 0."""
        self.is_interrupted = True


class AcceptedLaunches(Protocol):
    """Remembers whether the launcher has accepted the placement with libraries."""

    def is_known(self, libraries: Sequence[Path]) -> bool:
        """Return whether the launcher has accepted them."""

    def remember(self, libraries: Sequence[Path], is_accepted: bool) -> None:
        """Remember whether it has accepted them."""


class PlacedJob(NamedTuple):
    """The placement of a job, the measures of block order, and the objective.

    `least` is a lower bound on the objective, if the mapper proved one.
    """

    file: PlacementFile
    block_values: dict[str, float]
    objective: Objective
    least: float | None


class ReportPage(NamedTuple):
    """The path of the report, and the error if writing failed."""

    path: Path
    reason: str | None

    def summary(self) -> str:
        """Return the path or the error in one line."""
        return f"no report: {self.reason}" if self.reason else f"see {self.path}"

    def document(self) -> RunReport:
        """Return the fields of the ``--json`` output."""
        file = None if self.reason else str(self.path)
        return {"file": file, "reason": self.reason}


class RecordedJob(NamedTuple):
    """The exit status of the recorded run; graph and phases if the status is 0.

    `mpi_time` is None if it was not measured.
    """

    exit_status: int
    graph: CommGraph | None = None
    phases: Sequence[CommGraph] = ()
    mpi_time: MpiTime | None = None

    @classmethod
    def from_profile(cls, profile: Profile, collectives: str) -> RecordedJob:
        """Make the graph and the phases of a run that ended with status 0."""
        from topoloom.graphs.phases import make_recorded_phases

        graph = profile.graph(collectives)
        phases = tuple(make_recorded_phases(profile, collectives).values())
        return cls(0, graph, phases, profile.mpi_time)


def load_recording(job: Job, graph_file: str) -> RecordedJob:
    """Load the recording of an earlier run of the program.

    Raises
    ------
    topoloom.Error
        If the command starts another number of ranks.
    """
    from topoloom.graphs.graph_file import load_graph
    from topoloom.graphs.mpi_time import load_mpi_time
    from topoloom.graphs.phases import load_phases
    from topoloom.tasks.launch_slots import check_rank_count

    graph = load_graph(graph_file)
    check_rank_count(job.read, graph.rank_count, graph_file)
    return RecordedJob(0, graph, load_phases(graph_file), load_mpi_time(graph_file))


def record_job(
    job: Job,
    collectives: str,
    keep: Callable[[Profile], object] = lambda _: None,
    state: CommandState | None = None,
) -> RecordedJob:
    """Run the program, and record its communication.

    `keep` is called with the profile first; `state` is as in `record`.

    Raises
    ------
    topoloom.preload.record.NothingRecorded
        If no MPI program ran.
    topoloom.Error
        If the graph cannot be made; the message contains the path of the recordings.
    """
    from topoloom.preload.record import record

    found: list[RecordedJob] = []

    def read_profile(profile: Profile) -> None:
        keep(profile)
        if profile.exit_status == 0:
            found.append(RecordedJob.from_profile(profile, collectives))
        else:
            found.append(RecordedJob(profile.exit_status))

    with job.time_run("recorded"):
        record(job.program, mpicc=job.mpicc, then=read_profile, state=state)
    return found[0]


def check_fixed_ranks(fix: str | None, slots: LaunchSlots, ranks: int) -> None:
    """Raise `ParameterError` before the recorded run if `fix` is invalid."""
    from topoloom._core import CommGraph
    from topoloom.tasks.fixed_ranks import read_fixed_ranks

    problem = _make_problem(CommGraph.from_edges(ranks, [], [], []), slots)
    read_fixed_ranks(fix, problem)


def _make_problem(graph: CommGraph, slots: LaunchSlots) -> Problem:
    from topoloom.tasks.problem import Problem

    at, described = slots.allocation, slots.described
    return Problem(
        graph,
        at.machine,
        at,
        slots.allocated.hosts,
        described.node,
        switches=described.switches,
    )


def place_job(
    recorded: RecordedJob,
    slots: LaunchSlots,
    objective: str,
    mapper: str,
    search: Search,
    fix: str | None,
    graph_file: str,
    command: tuple[str, ...],
) -> PlacedJob:
    """Place the recorded ranks; also measure block order.

    `fix` names the slots of fixed ranks, as for `read_fixed_ranks`.
    """
    from topoloom.tasks.fixed_ranks import read_fixed_ranks
    from topoloom.tasks.map import map_ranks, measure_block_order
    from topoloom.tasks.objective import Objective

    assert recorded.graph is not None

    problem = _make_problem(recorded.graph, slots)
    mapped = map_ranks(
        problem,
        Objective(objective, recorded.phases),
        mapper,
        search=search,
        fixed=read_fixed_ranks(fix, problem),
        cores_per_rank=slots.cores_per_rank,
        graph_file=graph_file,
        command=command,
    )
    block, _ = measure_block_order(problem, mapped)
    return PlacedJob(mapped.file, block, mapped.objective, mapped.least)


def run_placed(
    job: Job,
    launch_slots: LaunchSlots,
    placed: PlacedJob,
    announce: Callable[[Launch], None],
    report: Callable[[AffinityReport], None],
    sampler: CommunicationSampler | None = None,
    accepted: AcceptedLaunches | None = None,
) -> tuple[Launch, VerifiedRun]:
    """Test whether the launcher can apply the placement, then run the program.

    `announce` is called before the program starts. `report` is called when the ranks of
    an MPI program have reported their locations. `sampler` counts their messages. A
    launch that is known to be accepted is not tested again, unless its program fails.
    """
    from topoloom._core import Error
    from topoloom.launch.apply.trial_run import (
        check_files_on_hosts,
        make_trial_program,
        run_trial_program,
    )
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.tasks.replaced_collectives import provide_collectives_setting
    from topoloom.tasks.verified_run import (
        preload_agent,
        run_verified,
        start_verify_agent,
    )

    read, slots = job.read, placed.file.placement.slots
    world = isinstance(read, UnplacedCommand)
    settings = provide_collectives_setting(
        job.collectives, placed.file, renumbered=world
    )
    planned = launch_slots.make_host_placement(slots)
    with (
        read.make_directory() as directory,
        settings as collectives,
        start_verify_agent(
            planned, job.program, job.mpicc, world, collectives, sampler
        ) as agent,
    ):
        libraries = [] if isinstance(agent, str) else agent.libraries
        if isinstance(read, UnplacedCommand):
            check_files_on_hosts(job.program, libraries)
        elif accepted is None or not accepted.is_known(libraries):
            trial = read.with_program(make_trial_program(libraries))
            lacking = run_trial_program(
                launch_slots.build_launch(trial, slots, directory)
            )
            if lacking and job.collectives is not None:
                raise Error(lacking)
            agent = lacking or agent
            if accepted is not None and not lacking:
                accepted.remember(libraries, True)
        launch = launch_slots.build_launch(read, slots, directory)
        watched, agent = preload_agent(launch, agent)
        announce(launch)

        def prepare_end(is_time_up: bool) -> None:
            job.note_signal(is_time_up)
            if sampler is not None:
                sampler.request_counts(is_time_up)

        with job.time_run("placed"):
            run_report = run_verified(watched, agent, report, prepare_end)
        if accepted is not None and run_report.status != 0:
            accepted.remember(libraries, False)
    return launch, run_report


def write_run_report(
    page: Path,
    placed: PlacedJob,
    graph: CommGraph,
    name: str,
    file: str,
    run_report: VerifiedRun,
    advice: str,
) -> ReportPage:
    """Write the report; return errors instead of raising, since the program has run."""
    from topoloom._core import Error
    from topoloom.report.page import save_report
    from topoloom.tasks.report import ReportedPlacement, build_report

    try:
        reported = [ReportedPlacement(placed.file, file)]
        report = build_report(
            graph,
            name,
            reported,
            placed.objective.phases,
            run_report.summary(),
            placed.file.command,
        )
        save_report(page, replace(report, advice=advice))
    except (Error, OSError) as error:
        return ReportPage(page, str(error))
    return ReportPage(page, None)
