# SPDX-License-Identifier: BSD-3-Clause
"""Options of commands that place the ranks of a launcher's command."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.cli.options.machines import (
    AllocationText,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.programs import BindingOptions, Collectives, Hosts, Mpicc
from topoloom.cli.options.runs import ProgramName, Store
from topoloom.cli.options.searches import (
    Effort,
    FixedRanks,
    MapperName,
    ObjectiveName,
    SearchOptions,
    set_effort,
)

if TYPE_CHECKING:
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.preload.verify import AffinityReport
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job, PlacedJob
    from topoloom.tasks.runs.remembered_job import Observer, RememberedJob
    from topoloom.tasks.runs.stored_placement import Placing


class PlacedJobOptions(NamedTuple):
    """Options for the machine of a job, and for how its ranks are placed."""

    machine: MaybeMachineText = None
    allocation: AllocationText = None
    hosts: Hosts = None
    mapper: MapperName = "auto"
    effort: Effort = None
    objective: ObjectiveName = "auto"
    fix: FixedRanks = None
    collectives: Collectives = "expand"
    searching: SearchOptions = SearchOptions()
    binding: BindingOptions = BindingOptions()
    limits: RankLimitOptions = RankLimitOptions()
    name: ProgramName = None
    store: Store = None
    mpicc: Mpicc = None

    def check(self) -> None:
        """Raise `topoloom.Error` for options that are wrong for every command."""
        from topoloom._core import Error
        from topoloom.graphs.profile import check_collectives
        from topoloom.tasks.objective import check_objective
        from topoloom.tasks.problem import check_mapper_names

        check_objective(self.objective)
        check_collectives(self.collectives)
        check_mapper_names(self.mapper)
        set_effort(self.mapper, self.effort)
        self.searching.make_search()
        if self.machine is None:
            raise Error("no machine is given; add --machine")

    def find_slots(self, read: LauncherCommand | UnplacedCommand) -> LaunchSlots:
        """Find the slots that the ranks of a command may use."""
        from topoloom.tasks.launch_slots import (
            find_launch_slots,
            find_launcher_order_name,
        )
        from topoloom.tasks.objective import check_objective
        from topoloom.tasks.problem import AllocationSpec

        assert self.machine is not None
        order = self.limits.make_launch_order(find_launcher_order_name(read))
        where = AllocationSpec(self.allocation, order=order)
        cores = self.limits.cores_per_rank
        slots = find_launch_slots(
            read, self.machine, where, self.hosts, *self.binding, cores
        )
        check_objective(self.objective, slots.allocation.machine)
        return slots

    def make_placing(self, graph_file: str, output: Path | None) -> Placing:
        """Return how to place the job; `output` is where to write the placement."""
        from topoloom.cli.command_line import command_line
        from topoloom.tasks.runs.stored_placement import Placing

        return Placing(
            self.objective,
            set_effort(self.mapper, self.effort),
            self.searching.make_search(),
            self.fix,
            command_line.get(),
            graph_file,
            output,
        )

    def remember(
        self,
        job: Job,
        slots: LaunchSlots,
        placing: Placing,
        *,
        like: bool = False,
        renumber: bool = False,
        quiet: bool = False,
    ) -> tuple[RememberedJob, str]:
        """Open the store for a job.

        Also returns why the program cannot be recognized in later runs, or "". If
        `quiet`, nothing is printed.
        """
        from topoloom._core import Error
        from topoloom.tasks.runs.job_facts import identify_job, make_record
        from topoloom.tasks.runs.remembered_job import RememberedJob
        from topoloom.tasks.runs.run_log import RunLog

        assert self.machine is not None
        identity, unknown = None, ""
        try:
            identity = identify_job(job.read, slots, self.name)
        except (Error, OSError) as error:
            unknown = str(error)
        record = make_record(job.read, slots, job.program, self.machine, identity)
        observer = make_observer(quiet)
        log = RunLog(self.store, record, observer.remark)
        remembered = RememberedJob(
            job,
            slots,
            identity,
            like,
            self.collectives,
            renumber,
            placing,
            log,
            observer,
        )
        return remembered, unknown


def make_observer(quiet: bool) -> Observer:
    """Return what prints remarks, placements and locations of ranks on stderr.

    Printing never fails: standard error may be closed.
    """
    from topoloom.cli.console import note
    from topoloom.cli.output.run import make_location_printer, note_placement
    from topoloom.tasks.runs.remembered_job import Observer

    def remark(text: str) -> None:
        if not quiet:
            with contextlib.suppress(OSError):
                note(f"topoloom: {text}")

    def announce(placed: PlacedJob, launch: Launch) -> None:
        if not quiet:
            with contextlib.suppress(OSError):
                note_placement(placed, launch)

    print_locations = make_location_printer(quiet=quiet)

    def report(found: AffinityReport) -> None:
        with contextlib.suppress(OSError):
            print_locations(found)

    return Observer(remark, announce, report)
