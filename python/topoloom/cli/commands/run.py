# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run`: record, place and launch an MPI program."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from topoloom.cli.options.files import AsJson, GraphOption, output_option, page_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.placed_jobs import PlacedJobOptions
from topoloom.cli.options.programs import Program, ReplacedCollectives
from topoloom.cli.options.runs import RememberingOptions
from topoloom.cli.options.searches import set_effort
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.documents.programs import ReorderDocument
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job

#: Options that apply if the program's MPI topologies are reordered.
_OF_TOPOLOGIES = {
    "machine",
    "allocation",
    "hosts",
    "apply",
    "mapper",
    "effort",
    "objective",
    "seed",
    "time",
    "mpicc",
    "as_json",
}


@flatten_option_groups
def command(
    context: click.Context,
    program: Program,
    *,
    job: PlacedJobOptions,
    apply: Annotated[
        str,
        Option(
            "--apply",
            metavar="launcher|world|topologies",
            help="How to apply the placement.",
        ),
    ] = "launcher",
    graph: GraphOption = None,
    remembering: RememberingOptions,
    replace_collectives: ReplacedCollectives = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement."),
    ] = None,
    page: Annotated[
        Path | None,
        page_option("Write the page of 'topoloom report'", "--report"),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Launch an MPI program with its ranks placed on a machine.

    The first run of a program is recorded, in launcher order; later runs are placed. If
    that fails, the program is started as typed. With --graph or --now, a placement that
    cannot be applied ends the command with status 2.

    Standard input, output and the exit status are the program's; reports go to stderr.
    --machine is required, except with --policy or --apply topologies; 'detect' is that
    of the job. Host names come from --hosts, the allocation, the machine or else the
    command. With TOPOLOOM=off, the command is started as typed.

    \b
    launcher    passes the placement to the launcher
    world       starts the command unchanged, for launchers without placements
    topologies  starts the command unchanged; MPI_Cart_create and others with
                reorder=1 reorder ranks; --machine is detected if missing

    \b
    Examples:
      topoloom run -m detect -- srun -n 512 ./app
      topoloom run -m torus:4x4x4 -a 'n[00-63]' --fix 0=n00 -- mpirun -n 64 ./app
      topoloom run --apply topologies -- mpirun -n 768 ./app
    """
    from topoloom._core import Error
    from topoloom.cli.options.given import check_options_apply
    from topoloom.support.ending_signals import raise_on_signals
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.tasks.objective import check_objective
    from topoloom.tasks.placed_run import APPLY, TOPOLOGIES, WORLD
    from topoloom.tasks.runs.site_policy import is_switched_off

    if apply not in APPLY:
        raise Error(describe_unknown_name("choice of --apply", apply, APPLY))
    if is_switched_off():
        return _run_as_typed(program)
    if apply == TOPOLOGIES:
        check_objective(job.objective)
        check_options_apply(context, _OF_TOPOLOGIES, f"--apply {apply}")
        with raise_on_signals():
            return _run_reordered(program, job, as_json)
    governed = _apply_policy(job, remembering)
    if governed is None:
        return _run_as_typed(program)
    governed.check()
    request = _PlacedRunRequest(
        program,
        governed,
        apply == WORLD,
        graph,
        remembering,
        replace_collectives,
        output,
        page,
        as_json,
        governed is not job,
    )
    with raise_on_signals():
        return _run_placed(request)


def _apply_policy(
    job: PlacedJobOptions, remembering: RememberingOptions
) -> PlacedJobOptions | None:
    """Take what is missing from the policy; None if it rules out to place the job.

    A policy that cannot be read never stops a job.
    """
    from topoloom._core import Error
    from topoloom.cli.console import note
    from topoloom.tasks.runs.site_policy import VARIABLE, find_partition, load_policy

    path = remembering.policy or os.environ.get(VARIABLE)
    if job.machine is not None or not path:
        return job
    try:
        policy = load_policy(Path(path))
    except Error as error:
        with contextlib.suppress(OSError):  # Standard error may be closed.
            note(f"topoloom: {error}; started as typed")
        return None
    machine = policy.machines.get(find_partition() or "")
    if machine is None:
        return None
    return job._replace(machine=machine, store=job.store or policy.store)


class _PlacedRunRequest(NamedTuple):
    """The options of a run whose placement is computed before it starts."""

    program: list[str]
    job: PlacedJobOptions
    renumber: bool
    graph: str | None
    remembering: RememberingOptions
    replaced_collectives: str | None
    output: Path | None
    page: Path | None
    as_json: bool
    #: Whether the machine is that of the policy, whose mistakes never stop a job.
    has_machine_of_policy: bool

    @property
    def is_explicit(self) -> bool:
        """Whether the user demands a placement: errors then end the command."""
        return self.graph is not None or self.remembering.now


def _run_placed(request: _PlacedRunRequest) -> int:
    """Check the options, run the program recorded or placed, and report."""
    from topoloom._core import Error
    from topoloom.cli.exit_status import describe_error
    from topoloom.launch.command_line import MissingProgramError
    from topoloom.preload.collectives import parse_settings
    from topoloom.tasks.placed_run import Job

    _check_remembering(request)
    check_page = _make_page_check(request.page)
    setting = request.replaced_collectives
    replaced = None if setting is None else parse_settings(setting)
    try:
        read = _read_command(request)
    except MissingProgramError:
        raise
    except Error as error:
        if request.is_explicit or shutil.which(request.program[0]) is None:
            raise
        return _run_unread(request.program, str(error))
    try:
        slots = request.job.find_slots(read)
    except (Error, OSError) as error:
        if request.is_explicit or not request.has_machine_of_policy:
            raise
        return _run_unread(request.program, describe_error(error))
    _check_known_ranks(request, slots, read.rank_count(), check_page)
    repeats = request.is_explicit
    job = Job(request.program, read, request.job.mpicc, replaced, repeats=repeats)
    return _run_job(request, job, slots, check_page)


def _check_known_ranks(
    request: _PlacedRunRequest,
    slots: LaunchSlots,
    ranks: int | None,
    check_page: Callable[[int, int], None],
) -> None:
    """Raise an error before the run for what the number of ranks rules out."""
    from topoloom.tasks.placed_run import check_fixed_ranks

    check_page(ranks or 0, len(slots.allocation.nodes))
    if ranks is not None and request.job.fix is not None:
        used = slots.select_used(ranks, as_started=request.renumber)
        check_fixed_ranks(request.job.fix, used, ranks)


def _run_job(
    request: _PlacedRunRequest,
    job: Job,
    slots: LaunchSlots,
    check_page: Callable[[int, int], None],
) -> int:
    """Run the program recorded or placed, and report."""
    from topoloom.cli.exit_status import Failure
    from topoloom.cli.output.run import note_ended_run, note_leftovers
    from topoloom.preload.record import NothingRecorded
    from topoloom.tasks.runs.explicit_run import run_explicitly
    from topoloom.tasks.runs.remembered_run import run_as_typed, run_remembered

    if request.graph is None:
        note_leftovers(Path())
    nodes = len(slots.allocation.nodes)
    remembered, unknown = request.job.remember(
        job,
        slots,
        request.job.make_placing(request.graph or "", request.output),
        like=request.remembering.like,
        renumber=request.renumber,
        quiet=request.as_json,
    )
    if request.is_explicit:
        try:
            ended = run_explicitly(
                remembered, request.graph, lambda ranks: check_page(ranks, nodes)
            )
        except NothingRecorded as error:
            raise Failure(str(error), error.exit_status or 1) from None
    elif unknown:
        ended = run_as_typed(remembered, unknown)
    else:
        ended = run_remembered(remembered)
    try:
        note_ended_run(remembered, ended, request.page, quiet=request.as_json)
    except Exception as error:  # The exit status is the program's.
        remembered.observer.remark(f"no report: {error}")
    return ended.status


def _run_unread(program: list[str], why: str) -> int:
    """Run a command of an unknown launcher, or with unknown options, as typed."""
    from topoloom.cli.console import note

    with contextlib.suppress(OSError):  # Standard error may be closed.
        note(f"topoloom: {why}; started as typed")
    return _run_as_typed(program)


def _run_as_typed(program: list[str]) -> int:
    from topoloom.launch.apply.run_program import run_program
    from topoloom.launch.launcher import Launch

    return run_program(Launch(program))


def _check_remembering(request: _PlacedRunRequest) -> None:
    """Raise an error for options that contradict each other."""
    from topoloom._core import Error

    now, like = request.remembering.now, request.remembering.like
    if request.graph is not None and (now or like):
        other = "--now" if now else "--like"
        raise Error(f"{other} is for runs without --graph; leave one out")
    if now and like:
        raise Error("--now records the program, so --like has no effect; leave one out")


def _read_command(request: _PlacedRunRequest) -> LauncherCommand | UnplacedCommand:
    """Recognize the launcher, and parse the command."""
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.launch.launchers.unplaced_command import read_unplaced_command

    if request.renumber:
        return read_unplaced_command(request.program)
    return read_command(request.program)


def _make_page_check(page: Path | None) -> Callable[[int, int], None]:
    """Check that the page can be written; return a function that checks its size."""
    if page is None:
        return lambda ranks, nodes: None
    # Import before the program runs, to detect a missing jinja2 early.
    import topoloom.report.page  # noqa: F401
    from topoloom.report.page_data import check_size

    return check_size


def _run_reordered(program: list[str], job: PlacedJobOptions, as_json: bool) -> int:
    """Run a program whose MPI topologies are reordered."""
    from topoloom.cli.console import note, note_json
    from topoloom.tasks.reordered_run import ReorderOptions, run_reordered

    mapper, search = set_effort(job.mapper, job.effort), job.searching.make_search()
    where = _load_hosts(job.machine, job.allocation, job.hosts)
    options = ReorderOptions(mapper, job.objective, search)
    done = run_reordered(program, where, options, job.mpicc)
    if as_json:
        document: ReorderDocument = {"command": done.command, "lines": done.lines}
        note_json(document)
    else:
        for line in done.lines:
            note(f"topoloom: {line}")
    return done.status


def _load_hosts(
    machine: str | None, allocation: str | None, hosts: str | None
) -> AllocatedHosts | None:
    """Load the hosts of a job; None without a machine."""
    from topoloom._core import Error
    from topoloom.support.hostlist import expand_hostlist
    from topoloom.tasks.launch_slots import set_host_names
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if machine is None:
        if allocation is not None or hosts is not None:
            raise Error("--allocation and --hosts require a machine; add --machine")
        return None
    given, _ = load_nodes(machine, AllocationSpec(allocation))
    return set_host_names(given, expand_hostlist(hosts)) if hosts is not None else given
