# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom trial`: measure what a placement gains, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.placed_jobs import PlacedJobOptions
from topoloom.cli.options.programs import Program
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.runs.trial import Pair


@flatten_option_groups
def command(
    program: Program,
    *,
    pairs: Annotated[
        int,
        Option("--pairs", metavar="N", help="Number of runs in each of both orders."),
    ] = 10,
    new: Annotated[
        bool, Option("--new", help="Start a new trial instead of continuing the last.")
    ] = False,
    job: PlacedJobOptions,
    as_json: AsJson = False,
) -> int:
    """Measure what a placement gains, by running a program many times.

    Each pair is a run in launcher order and a placed run, in random order. The result
    is the median change of wall time and of time in MPI, with a 95 % interval from the
    bootstrap. With less than 6 pairs there is no conclusion. All runs are recorded, so
    that the recorder slows them equally, and kept in the run store. A program without a
    recording is recorded first, in one more run.

    A trial that was interrupted is continued by the same command, on the same nodes;
    a larger --pairs adds pairs. A run that fails ends the trial with its exit status.
    Standard input and output are the program's, of every run.

    \b
    Examples:
      topoloom trial -m detect -- srun -n 512 ./app
      topoloom trial --pairs 20 -m torus:4x4x4 -a 'n[00-63]' -- mpirun -n 64 ./app
    """
    from topoloom._core import Error
    from topoloom.cli.console import note, note_json
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.tasks.placed_run import Job, check_fixed_ranks
    from topoloom.tasks.runs.trial import Trial, TrialResult, run_trial

    job.check()
    read = read_command(program)
    slots = job.find_slots(read)
    if (ranks := read.rank_count()) and job.fix is not None:
        check_fixed_ranks(job.fix, slots.select_used(ranks), ranks)
    remembered, unknown = job.remember(
        Job(program, read, job.mpicc), slots, job.make_placing("", None), quiet=as_json
    )
    if unknown:
        raise Error(unknown)

    def announce(number: int, pair: Pair) -> None:
        if not as_json:
            before, after = (run["wall_seconds"] for run in pair)
            note(
                f"topoloom: pair {number} of {pairs}: launcher's order {before:.2f} s, "
                f"placed {after:.2f} s"
            )

    result = run_trial(Trial(remembered, pairs, new, announce))
    if not isinstance(result, TrialResult):
        return result.status or 1
    if as_json:
        note_json(result.document())
        return result.status
    for line in result.list_findings():
        note(f"topoloom: {line}")
    return result.status
