# SPDX-License-Identifier: BSD-3-Clause
"""The two variants of a trial: how the program is started, and how one run is made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error
from topoloom.launch.launcher import Launch
from topoloom.preload.collectives import parse_settings
from topoloom.preload.record import record
from topoloom.preload.record.command_state import CommandState
from topoloom.preload.shim import find_compiler, find_launcher
from topoloom.tasks.placed_run import Job, run_placed
from topoloom.tasks.runs.remembered_job import PLACED
from topoloom.tasks.runs.sampled_run import sample_run

if TYPE_CHECKING:
    from topoloom.graphs.mpi_time import MpiTime
    from topoloom.graphs.profile import Profile
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.runs.remembered_job import RememberedJob
    from topoloom.tasks.runs.stored_placement import Decision

PLACEMENT, MAPPER, COLLECTIVES = "placement", "mapper", "collectives"


class Variant(NamedTuple):
    """A way to start the program; `mapper` is None for the launcher's order.

    `collectives` contains options of libtopoloom-collective; with None, the MPI
    library's collectives are used.
    """

    name: str
    mapper: str | None
    collectives: dict[str, str] | None = None


class Factor(NamedTuple):
    """What a trial changes between the two runs of a pair: its name, and the variants.

    `title` names the change in sentences.
    """

    name: str
    title: str
    variants: tuple[Variant, Variant]


class VariantRun(NamedTuple):
    """How a run ended: its exit status, seconds, and time in MPI if it was measured."""

    status: int
    seconds: float
    in_mpi: MpiTime | None
    is_interrupted: bool


def parse_factor(text: str, mapper: str) -> Factor:
    """Parse the factor of a trial; `mapper` is that of variants that name none.

    Raises `topoloom.Error` if the factor is unknown, or does not name two mappers.
    """
    name, equals, value = text.partition("=")
    if text == PLACEMENT:
        variants = Variant("launcher's order", None), Variant(PLACED, mapper)
        return Factor(name, "placement", variants)
    if name == COLLECTIVES:
        options = parse_settings(value)
        variants = (
            Variant("MPI's collectives", mapper),
            Variant("replaced collectives", mapper, options),
        )
        return Factor(name, "replaced collectives", variants)
    if name == MAPPER and equals:
        # Commas inside parentheses separate options of a mapper.
        names = re.split(r",(?![^()]*\))", value)
        if len(names) == 2 and all(names) and names[0] != names[1]:
            first, second = names
            variants = Variant(first, first), Variant(second, second)
            return Factor(name, f"{second} instead of {first}", variants)
        raise Error(f"the factor '{text}' does not name two mappers, as in mapper=A,B")
    raise Error(
        f"there is no factor '{text}'; choose placement, mapper=A,B or collectives"
    )


def run_variant(
    remembered: RememberedJob,
    factor: Factor,
    variant: Variant,
    slots: LaunchSlots,
    decision: Decision | None,
) -> VariantRun:
    """Run the program, and measure its time in MPI. `decision` is the placement."""
    if factor.name == COLLECTIVES:
        assert decision is not None
        return _run_with_collectives(remembered, variant, slots, decision)
    return _run_recorded(remembered, slots, decision)


def _run_recorded(
    remembered: RememberedJob, slots: LaunchSlots, decision: Decision | None
) -> VariantRun:
    """Run the program recorded, so that the recorder slows both variants equally."""
    job, state = remembered.job, CommandState()
    times: list[MpiTime | None] = []

    def keep_time(profile: Profile) -> None:
        times.append(profile.mpi_time)

    compiler = find_compiler(find_launcher(job.program), job.mpicc)
    with job.read.make_directory() as directory:
        launch = Launch(job.program)
        if decision is not None:
            placed = decision.placed.file.placement.slots
            launch = slots.build_launch(job.read, placed, directory)
        record(
            launch.command,
            mpicc=str(compiler),
            then=keep_time,
            state=state,
            variables=launch.environment,
        )
    status = state.exit_status or 0
    return VariantRun(status, state.seconds, times[0], state.is_interrupted)


def _run_with_collectives(
    remembered: RememberedJob, variant: Variant, slots: LaunchSlots, decision: Decision
) -> VariantRun:
    """Run the program placed, with MPI's collectives or with ours."""
    given = remembered.job
    job = Job(
        given.program, given.read, given.mpicc, variant.collectives, repeats=False
    )
    in_mpi = None
    with sample_run(remembered) as sampler:
        _, verified = run_placed(
            job, slots, decision.placed, lambda _: None, lambda _: None, sampler
        )
        if sampler is not None and verified.status == 0:
            in_mpi = sampler.read_profile(0).mpi_time
    seconds = job.durations[PLACED]
    return VariantRun(verified.status, seconds, in_mpi, job.is_interrupted)
