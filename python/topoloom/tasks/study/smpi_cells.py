# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of a study in SMPI, the MPI of SimGrid.

The messages of each program are traced once, in launcher order, and mappers place its
ranks by the graph and the phases of that trace. Simulated times are deterministic, so
each cell runs once.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Allocation, CommGraph, Error
from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.phases import load_phases
from topoloom.graphs.traces.trace_formats import read_trace
from topoloom.simulate.smpi import (
    SmpiCommand,
    SmpiLaunch,
    SmpiRun,
    check_smpi_words,
    run_in_smpi,
    write_smpi_platform,
)
from topoloom.store.program_identity import Segment, identify_program
from topoloom.store.run_store import RunStore, make_key
from topoloom.support.parameter_error import ParameterError
from topoloom.support.version import __version__
from topoloom.tasks.map import map_ranks
from topoloom.tasks.objective import Objective
from topoloom.tasks.problem import (
    AllocationSpec,
    Problem,
    check_fit,
    load_nodes,
    select_launched_slots,
)
from topoloom.tasks.replaced_collectives import provide_collectives_setting
from topoloom.tasks.study.cell_run import (
    CellFailedError,
    CellRun,
    ReadTime,
    choose_time,
    get_prediction,
)

if TYPE_CHECKING:
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.graphs.profile import Profile
    from topoloom.importers.machine_description import MachineDescription
    from topoloom.placements.placement_file import PlacementFile
    from topoloom.tasks.runs.stored_placement import Placing
    from topoloom.tasks.study.design import Cell
    from topoloom.tasks.study.factors import Settings


#: Lines that SMPI prints about the simulation, not the program.
_TIMING = re.compile(r"Simulated time:|^The simulation took|actual computation of the")


class SmpiJob(NamedTuple):
    """An ``smpirun`` command, and the machine of all cells that do not set their own.

    `collectives_library` builds libtopoloom-collective for SMPI and returns its path.
    """

    command: SmpiCommand
    machine: str | None
    where: AllocationSpec
    placing: Placing
    read_time: ReadTime | None
    collectives_library: Callable[[], Path]


class _Traced(NamedTuple):
    """The graph of a program, and its phases; () for one phase."""

    graph: CommGraph
    phases: Sequence[CommGraph]


class SmpiCells:
    """Simulates cells in parallel.

    Files that the runs read are deleted at the exit of the context.
    """

    is_deterministic = True

    def __init__(self, job: SmpiJob, store: RunStore, pool: Executor) -> None:
        self._job = job
        self._store = store
        self._pool = pool
        self._files = contextlib.ExitStack()
        self._traced: dict[str, _Traced] = {}
        self._failures: dict[str, str] = {}
        self._placed: dict[str, PlacementFile] = {}
        self._launches: dict[str, SmpiLaunch] = {}
        self._facts: list[object] = []

    def __enter__(self) -> SmpiCells:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def identify(self) -> list[object]:
        """Return what determines the simulated times of all prepared cells."""
        return ["smpi", __version__, self._facts]

    def prepare(self, cell: Cell) -> float | None:
        """Trace and place the program of a cell; return the predicted seconds."""
        settings = cell.merge_settings()
        job, command = self._job, self._job.command
        command = command._replace(program=(*command.program, *settings.arguments))
        machine = settings.machine or job.machine
        if machine is None:
            raise ParameterError("machine", "is missing; name one")
        where = job.where
        if settings.allocation is not None:
            where = where._replace(allocation=settings.allocation)
        at, described = _select_slots(machine, where, command.ranks)
        launch = _make_launch(command, at.allocation, settings.environment)
        program = _identify_program(launch)
        traced = self._find_trace(launch, program)
        problem = Problem(
            traced.graph, at.allocation.machine, at.allocation, at.hosts, described.node
        )
        mapper = settings.mapper or "block"
        file = self._place(program, problem, traced.phases, mapper)
        self._facts.append([program, *self._add_launch(cell, settings, file, launch)])
        return get_prediction(file, settings)

    def run_all(
        self, cells: Sequence[Cell], repetition: int, tag: str
    ) -> Iterator[tuple[Cell, CellRun]]:
        """Simulate prepared cells; yield each with its run as soon as it ends."""
        del repetition, tag
        runs = {
            self._pool.submit(run_in_smpi, self._launches[cell.name]): cell
            for cell in cells
        }
        try:
            for future in as_completed(runs):
                yield runs[future], self._read_run(future)
        finally:
            for future in runs:
                future.cancel()

    def _read_run(self, future: Future[SmpiRun]) -> CellRun:
        try:
            done = future.result()
        except BrokenExecutor as error:
            return CellRun(1, None, f"the worker died: {error}")
        if done.status != 0:
            return CellRun(done.status, None, _describe_failure(done))
        if done.seconds is None:
            return CellRun(1, None, "SimGrid printed no time")
        return choose_time(self._job.read_time, done.output, done.seconds)

    def _place(
        self,
        program: list[object],
        problem: Problem,
        phases: Sequence[CommGraph],
        mapper: str,
    ) -> PlacementFile:
        """Place the ranks, or return the placement of a cell with the same problem."""
        allocation = problem.allocation
        slots = hashlib.sha256(allocation.slots.tobytes()).hexdigest()
        machine = problem.machine.text
        key = make_key("placed", [program, machine, slots, mapper])
        if key not in self._placed:
            placing = self._job.placing
            objective = Objective(placing.objective, phases)
            mapped = map_ranks(problem, objective, mapper, search=placing.search)
            self._placed[key] = mapped.file
        return self._placed[key]

    def _add_launch(
        self, cell: Cell, settings: Settings, file: PlacementFile, launch: SmpiLaunch
    ) -> list[object]:
        """Add a run; return what determines its time besides the program."""
        nodes = (file.placement.slots // file.machine.slots_per_node).tolist()
        launch = launch._replace(node_of_rank=tuple(nodes))
        collectives = settings.collectives
        setting = self._files.enter_context(
            provide_collectives_setting(collectives, file, False)
        )
        if setting is not None:
            launch = launch._replace(
                environment={**launch.environment, "TOPOLOOM_COLLECTIVES": setting},
                preload=str(self._job.collectives_library()),
            )
        self._launches[cell.name] = launch
        return [
            hashlib.sha256(launch.platform.encode()).hexdigest(),
            [nodes, launch.startup],
            None if collectives is None else dict(collectives),
        ]

    def _find_trace(self, launch: SmpiLaunch, program: list[object]) -> _Traced:
        """Load the messages of a program, or trace the program in launcher order."""
        key = make_key("phases in SimGrid", [*program, __version__])
        if key in self._traced:
            return self._traced[key]
        if key in self._failures:
            raise CellFailedError(self._failures[key])
        entry = self._store.read_entry(key)
        path = None if entry is None else self._store.find_file(entry.get("recording"))
        if path is None:
            try:
                profile = _trace(launch)
            except CellFailedError as error:
                self._failures[key] = str(error)
                raise
            name = self._store.add_file(".npz", profile.save)
            self._store.write_entry(key, {"recording": name})
            path = self._store.find_file(name)
            assert path is not None
        self._traced[key] = _Traced(load_graph(path), load_phases(path))
        return self._traced[key]


def _select_slots(
    machine: str, where: AllocationSpec, ranks: int
) -> tuple[AllocatedHosts, MachineDescription]:
    """Return the slots that the launcher uses, and the description of the machine."""
    given, described = load_nodes(machine, where)
    empty = CommGraph.from_edges(ranks, [], [], [])
    check_fit(empty, given.allocation, "the command")
    return select_launched_slots(given, described, where, ranks)[0], described


def _make_launch(
    command: SmpiCommand, at: Allocation, environment: Mapping[str, str]
) -> SmpiLaunch:
    """Make the run in launcher order; its platform has all nodes of the allocation."""
    check_smpi_words(command.program)
    machine = at.machine
    nodes = at.slots[: command.ranks] // machine.slots_per_node
    return SmpiLaunch(
        command,
        write_smpi_platform(machine, at.nodes.tolist()),
        tuple(nodes.tolist()),
        machine.startup,
        dict(environment),
    )


def _identify_program(launch: SmpiLaunch) -> list[object]:
    command = launch.command
    program = identify_program(
        [Segment("", command.program)], command.ranks, command.ranks, None
    )
    return [program.key, list(command.options), dict(launch.environment)]


def _trace(launch: SmpiLaunch) -> Profile:
    """Simulate the program in launcher order, and read the trace of its messages."""
    ranks = launch.command.ranks
    with tempfile.TemporaryDirectory(prefix="topoloom-trace-") as directory:
        file = Path(directory) / "run.trace"
        done = run_in_smpi(launch, file)
        if done.status != 0:
            raise CellFailedError(f"the traced run: {_describe_failure(done)}")
        profile = read_trace(file, "paje").profile
    if profile.rank_count != ranks:
        raise Error(
            f"the traced run has {profile.rank_count} ranks, but the command starts "
            f"{ranks}"
        )
    return profile


def _describe_failure(done: SmpiRun) -> str:
    """Describe the exit status, and the error that SimGrid or the program printed."""
    text = (done.errors or done.output).partition("Backtrace")[0]
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not _TIMING.search(line)
    ]
    fatal = next((line for line in lines if "CRITICAL" in line), "")
    error = fatal.rpartition("CRITICAL] ")[2] or (lines[-1] if lines else "")
    return f"exit status {done.status}" + (f": {error[:200]}" if error else "")
