# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom trial`: measure what a placement gains, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli.completions import complete_words
from topoloom.cli.options.files import AsJson
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.placed_jobs import PlacedJobOptions
from topoloom.cli.options.programs import Program
from topoloom.cli.options.runs import StartsNew
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.runs.trial import Pair


@flatten_option_groups
def command(
    program: Program,
    *,
    pairs: Annotated[
        int,
        Option("--pairs", metavar="N", help="Number of runs of each variant."),
    ] = 10,
    factor: Annotated[
        str,
        Option(
            "--factor",
            metavar="placement|mapper=A,B|collectives",
            help="What to change between both runs of a pair.",
            autocompletion=complete_words("placement", "mapper=", "collectives"),
        ),
    ] = "placement",
    new: StartsNew = False,
    job: PlacedJobOptions,
    as_json: AsJson = False,
) -> int:
    """Measure what a placement gains, by running a program many times.

    Each pair is a run in launcher order and a placed run, in random order. The result
    is the median change of wall time and of time in MPI, with a 95 % interval from the
    bootstrap. With less than 6 pairs there is no conclusion. All runs are recorded, so
    that the recorder slows them equally, and kept in the run store. A program without a
    recording is recorded first, in one more run.

    With --factor mapper=A,B, both runs are placed, by different mappers. With --factor
    collectives, libtopoloom-collective runs the collectives of the second; its settings
    follow as in collectives=SETTING.

    A trial that was interrupted is continued by the same command, on the same nodes;
    a larger --pairs adds pairs. A run that fails ends the trial with its exit status.
    Standard input and output are the program's, of every run.

    \b
    Examples:
      topoloom trial -m detect -- srun -n 512 ./app
      topoloom trial --pairs 20 -m torus:4x4x4 -a 'n[00-63]' -- mpirun -n 64 ./app
      topoloom trial --factor mapper=gge,multisection -m detect -- srun ./app
    """
    from topoloom._core import Error
    from topoloom.cli.console import note, note_json
    from topoloom.launch.launchers.launcher_commands import read_command
    from topoloom.tasks.placed_run import Job, check_fixed_ranks
    from topoloom.tasks.runs.trial import Trial, TrialResult, run_trial
    from topoloom.tasks.runs.trial_variants import parse_factor

    job.check()
    placing = job.make_placing("", None)
    tried = parse_factor(factor, placing.mapper)
    read = read_command(program)
    slots = job.find_slots(read)
    if (ranks := read.rank_count()) and job.fix is not None:
        check_fixed_ranks(job.fix, slots.select_used(ranks), ranks)
    remembered, unknown = job.remember(
        Job(program, read, job.mpicc), slots, placing, quiet=as_json
    )
    if unknown:
        raise Error(unknown)

    def announce(number: int, pair: Pair) -> None:
        if not as_json:
            times = ", ".join(
                f"{variant.name} {run['wall_seconds']:.2f} s"
                for variant, run in zip(tried.variants, pair, strict=True)
            )
            note(f"topoloom: pair {number} of {pairs}: {times}")

    result = run_trial(Trial(remembered, tried, pairs, new, announce))
    if not isinstance(result, TrialResult):
        return result.status or 1
    if as_json:
        note_json(result.document())
        return result.status
    for line in result.list_findings():
        note(f"topoloom: {line}")
    return result.status
