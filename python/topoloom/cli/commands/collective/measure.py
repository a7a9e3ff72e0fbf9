# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective measure`: measure schedules in an MPI job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli.options.collectives import (
    DEFAULT_BYTES,
    Operation,
    ScheduleNames,
    SlotOptions,
    WriteDecisions,
    parse_schedules,
)
from topoloom.cli.options.files import (
    AsJson,
    Figure,
    PlacementOption,
    figure_option,
    output_option,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MaybeMachineText
from topoloom.cli.options.messages import MaybeBytes, Model, Ranks, Root
from topoloom.cli.options.programs import Mpicc
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option


@flatten_option_groups
def command(
    operation: Operation,
    launcher_command: Annotated[
        list[str],
        Argument(
            metavar="-- LAUNCHER",
            help="The launcher command, without a program.",
        ),
    ],
    *,
    ranks: Ranks,
    amount: MaybeBytes = None,
    root: Root = 0,
    schedule: ScheduleNames = None,
    repeats: Annotated[
        int,
        Option("--repeats", metavar="N", help="Calls of each schedule and size."),
    ] = 30,
    mpicc: Mpicc = None,
    model: Model = None,
    machine: MaybeMachineText = None,
    slots: SlotOptions,
    placement: PlacementOption = None,
    decisions: WriteDecisions = None,
    figure: Figure = None,
    timeline: Annotated[
        Path | None,
        figure_option(
            "Draw who waits for whom in a call of the fastest schedule", "--timeline"
        ),
    ] = None,
    output: Annotated[
        Path | None, output_option("Write all measured times (JSON Lines).")
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Measure the schedules of a collective, and MPI's own.

    Give only the launcher after --. Its ranks run the schedules and the MPI library's
    own collective in turn. --bytes may list several sizes, such as 64,4KiB [default:
    1KiB]. A model or machine adds predicted times.

    \b
    Examples:
      topoloom collective measure alltoall -n 64 --bytes 64,4KiB \\
          --decisions table.json -- mpirun -n 64
      topoloom collective measure allreduce -n 64 --model hdr \\
          --timeline call.svg -- srun -n 64
    """
    from topoloom.cli.exit_status import Interrupted
    from topoloom.cli.output.measured import MeasuredFiles, write_measured
    from topoloom.figure.timeline import check_timeline
    from topoloom.support.plain_text import split_at_commas
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.collectives.collective import read_platform
    from topoloom.tasks.collectives.measure import (
        measure_collective,
        read_measured_call,
    )

    call = read_measured_call(operation, ranks, root)
    where = slots.make_spec(seed)
    sizes = [parse_bytes(size) for size in split_at_commas(amount or DEFAULT_BYTES)]
    if timeline is not None:
        check_timeline(call.ranks)
    platform = None
    if (model, machine, placement) != (None, None, None):
        platform = read_platform(call, model, machine, where, placement)
    measured = measure_collective(
        call,
        sizes if call.operation != "barrier" else [],
        launcher_command,
        platform,
        parse_schedules(schedule),
        repeats=repeats,
        mpicc=mpicc,
        traced=timeline is not None,
    )
    files = MeasuredFiles(output, decisions, figure, timeline)
    write_measured(measured, files, as_json)
    if measured.interrupted:
        raise Interrupted(f"interrupted after {measured.repeats} of {repeats} calls")
