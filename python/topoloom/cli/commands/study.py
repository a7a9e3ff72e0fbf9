# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom study`: measure the effect of placement, collectives and options."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.completions import complete_words
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.placed_jobs import PlacedJobOptions
from topoloom.cli.options.runs import StartsNew
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.store.run_store import RunStore
    from topoloom.tasks.runs.remembered_job import RememberedJob
    from topoloom.tasks.study.cell_run import CellRunner, ReadTime
    from topoloom.tasks.study.factors import Settings
    from topoloom.tasks.study.study_file import StudyFile


@flatten_option_groups
def command(
    program: Annotated[
        list[str],
        Argument(
            metavar="FILE|-- COMMAND",
            help="A study file (.toml), or the whole command, starting with the "
            "launcher.",
        ),
    ],
    *,
    factors: Annotated[
        list[str] | None,
        Option(
            "--vary",
            metavar="FACTOR=LEVEL,LEVEL",
            help="Factor and its levels; may be repeated.",
            show_default="placement=launcher,auto",
            autocompletion=complete_words("placement=", "collectives="),
        ),
    ] = None,
    design: Annotated[
        str | None,
        Option(
            "--design",
            metavar="full|half|one-at-a-time",
            help="Combinations of levels to run.",
            show_default="full",
            autocompletion=complete_words("full", "half", "one-at-a-time"),
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        Option(
            "--repetitions",
            metavar="N",
            min=1,
            help="Runs of each cell.",
            show_default="10, or 1 in SimGrid",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        Option(
            "--metric",
            metavar="REGEX",
            help="Time in seconds in the output, such as 'time: (\\S+) s'.",
            show_default="wall time, or simulated time",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        Option(
            "--workers",
            metavar="N",
            min=1,
            help="Number of parallel simulations.",
            show_default="all cores",
        ),
    ] = None,
    new: StartsNew = False,
    job: PlacedJobOptions,
    output: Annotated[
        Path | None, output_option("Write a page with tables and plots (.html).")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Measure the effect of placement, collectives and options.

    Run the program for each combination of levels (a cell), in random order, and repeat
    that. Levels of a factor:

    \b
      placement    'launcher' (the launcher's order), or mappers
      collectives  'library' (MPI), 'topoloom', or TOPOLOOM_COLLECTIVES settings
      machine      values of --machine without commas; likewise allocation
      any other    arguments appended to the command; may be empty

    All first levels together are the baseline. In a TOML file, a level can combine
    several settings. A program that is built with smpicc and started by smpirun is
    simulated. To continue an interrupted study, repeat the command.

    \b
    Examples:
      topoloom study -m detect -- srun -n 512 ./app
      topoloom study --vary placement=launcher,auto,gge \\
        --vary collectives=library,topoloom -m detect -- mpirun -n 64 ./app
      topoloom study -m torus:4x4x4,bandwidth=10GB/s -- smpirun -np 64 ./app
    """
    from topoloom._core import Error
    from topoloom.cli.console import make_progress_bar, note, print_json
    from topoloom.cli.output.study import print_study
    from topoloom.simulate.smpi import is_smpi_command
    from topoloom.store.location import find_store
    from topoloom.store.run_store import RunStore
    from topoloom.support.files import check_page_name
    from topoloom.tasks.study.cell_run import make_time_reader
    from topoloom.tasks.study.factors import parse_factor
    from topoloom.tasks.study.study import Study, run_study

    described = _read_description(program)
    job = job._replace(
        machine=job.machine or described.machine,
        allocation=job.allocation or described.allocation,
    )
    varied = [parse_factor(text) for text in factors or []] or list(described.factors)
    varied = varied or [parse_factor("placement=launcher,auto")]
    simulated = is_smpi_command(described.command)
    repetitions = repetitions or described.repetitions or (1 if simulated else 10)
    metric = metric if metric is not None else described.metric
    read_time = make_time_reader(metric)
    if output is not None:
        check_page_name(output)
    _check_job(job, [level.settings for factor in varied for level in factor.levels])
    if simulated:
        _refuse_launch_options(job)
    elif workers is not None:
        raise Error("--workers is only for programs started by smpirun; leave it out")
    store = RunStore(find_store(job.store))
    store.create()
    with contextlib.ExitStack() as stack:
        runner: CellRunner
        if simulated:
            runner = stack.enter_context(
                _open_simulation(job, described.command, read_time, workers, store)
            )
        else:
            runner = _make_launched_cells(job, described.command, read_time)
        preparing = stack.enter_context(make_progress_bar("preparing", unit="cells"))
        running = stack.enter_context(make_progress_bar("running", unit="runs"))
        result = run_study(
            Study(
                varied,
                design or described.design or "full",
                repetitions,
                metric,
                runner,
                store,
                new,
                preparing,
                running,
            )
        )
    if output is not None:
        from topoloom.tasks.study.study_page import write_study_page

        write_study_page(output, result, shlex.join(described.command))
    if as_json:
        print_json(result.document())
    else:
        print_study(result)
        for line in result.list_findings():
            note(f"topoloom: {line}")
    return result.status


def _read_description(words: list[str]) -> StudyFile:
    """Read the study file, or treat the words as the command of the program."""
    from topoloom._core import Error
    from topoloom.tasks.study.study_file import StudyFile, read_study_file

    if len(words) > 1 or not words[0].endswith(".toml"):
        return StudyFile(tuple(words))
    described = read_study_file(words[0])
    if not described.command:
        raise Error(f"{words[0]}: command is missing")
    return described


def _check_job(job: PlacedJobOptions, settings: list[Settings]) -> None:
    """Check the machine and the mappers before the first run."""
    from topoloom._core import Error
    from topoloom.cli.options.searches import set_effort
    from topoloom.tasks.problem import check_mapper_names

    if job.mapper != "auto":
        raise Error("--mapper is not allowed; use --vary placement=launcher,MAPPER")
    machines = [job.machine, *(each.machine for each in settings)]
    machine = next((each for each in machines if each is not None), None)
    job._replace(machine=machine).check()
    for each in settings:
        if each.mapper is not None:
            check_mapper_names(each.mapper)
            set_effort(each.mapper, job.effort)


def _refuse_launch_options(job: PlacedJobOptions) -> None:
    """Refuse options of real launchers, which have no meaning in SimGrid."""
    from topoloom._core import Error

    usual = PlacedJobOptions()
    names = ("hosts", "fix", "collectives", "binding", "name")
    for name in names:
        if getattr(job, name) != getattr(usual, name):
            option = "--cores-per-slot or --bind" if name == "binding" else f"--{name}"
            raise Error(f"{option} is not allowed with smpirun; leave it out")


@contextlib.contextmanager
def _open_simulation(
    job: PlacedJobOptions,
    words: tuple[str, ...],
    read_time: ReadTime | None,
    workers: int | None,
    store: RunStore,
) -> Iterator[CellRunner]:
    """Yield the runner that simulates the cells of an smpirun command."""
    from topoloom._core import Error
    from topoloom.allocations.launch_order import OPEN_MPI
    from topoloom.preload.collectives import build_collective_library
    from topoloom.simulate.smpi import parse_smpi_command
    from topoloom.tasks.problem import AllocationSpec
    from topoloom.tasks.study.cell_pool import open_pool
    from topoloom.tasks.study.smpi_cells import SmpiCells, SmpiJob

    def build_library() -> Path:
        compiler = shutil.which(job.mpicc or "smpicc")
        if compiler is None:
            raise Error(f"there is no compiler {job.mpicc or 'smpicc'}; pass --mpicc")
        return build_collective_library(Path(compiler))

    simulated = SmpiJob(
        parse_smpi_command(words),
        job.machine,
        AllocationSpec(job.allocation, order=job.limits.make_launch_order(OPEN_MPI)),
        job.make_placing("", None),
        read_time,
        build_library,
    )
    count = workers or len(os.sched_getaffinity(0))
    with open_pool(count) as pool, SmpiCells(simulated, store, pool) as cells:
        yield cells


def _make_launched_cells(
    job: PlacedJobOptions, words: tuple[str, ...], read_time: ReadTime | None
) -> CellRunner:
    """Return the runner that starts the cells with a real launcher."""
    from topoloom._core import Error
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.tasks.placed_run import Job
    from topoloom.tasks.study.launched_cells import LaunchedCells

    def make_job(settings: Settings) -> RememberedJob:
        command = [*words, *settings.arguments]
        read = read_command(command)
        here = job._replace(
            machine=settings.machine or job.machine,
            allocation=settings.allocation or job.allocation,
        )
        remembered, unknown = here.remember(
            Job(command, read, job.mpicc, repeats=False),
            here.find_slots(read),
            here.make_placing("", None),
            quiet=True,
        )
        if unknown:
            raise Error(unknown)
        return remembered

    return LaunchedCells(make_job, read_time)
