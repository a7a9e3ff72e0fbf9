# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective export`: write decision rules or schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli import completions
from topoloom.cli.options.collectives import (
    CallOptions,
    Operations,
    ScheduleNames,
    SlotOptions,
    parse_schedules,
)
from topoloom.cli.options.files import (
    AsJson,
    PlacementOption,
    format_option,
    output_option,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MaybeMachineText
from topoloom.cli.options.messages import Model, Ranks
from topoloom.cli.options.searches import Seed


@flatten_option_groups
def command(
    operations: Operations,
    *,
    ranks: Ranks,
    message: CallOptions,
    to: Annotated[str, format_option(completions.schedule_formats)],
    output: Annotated[Path, output_option("Write the rules or the schedule.")],
    schedule: ScheduleNames = None,
    model: Model = None,
    machine: MaybeMachineText = None,
    slots: SlotOptions,
    placement: PlacementOption = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Write schedules for MPI libraries and other programs.

    Schedules are ranked as by 'topoloom collective rank'. Rules of several collectives
    are in one file.

    \b
    open-mpi, mpich, mpich-5, intel-mpi
                    rules with the library's fastest algorithm for each size
    goal, mscclxml  messages of the fastest schedule for --bytes [default: 1KiB]

    \b
    Examples:
      topoloom collective export allreduce -n 1024 --model hdr \\
          --to open-mpi -o rules.txt
      topoloom collective export alltoall,bcast -n 64 --model hdr \\
          --to mpich -o rules.json
      topoloom collective export alltoall -n 64 --bytes 64 --model hdr \\
          --schedule bruck --to goal -o bruck.goal
    """
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_json
    from topoloom.cli.output.ranked import print_schedules
    from topoloom.cli.suggested_command import insert_file_name
    from topoloom.schedules.exports.schedule_formats import find_format
    from topoloom.support.plain_text import split_at_commas
    from topoloom.tasks.collectives.collective import rank_collective, read_platform
    from topoloom.tasks.collectives.collective_result import (
        CollectiveResult,
        ResultFiles,
    )

    form, names = find_format(to), parse_schedules(schedule)
    calls = [message.make_call(one, ranks) for one in split_at_commas(operations)]
    where = slots.make_spec(seed)
    platform = read_platform(calls[0], model, machine, where, placement)
    found, *others = (rank_collective(call, platform, names) for call in calls)
    result = CollectiveResult(found, others)
    files = ResultFiles(export=output, export_format=form)
    written = result.write(files, command_line.get())
    if as_json:
        print_json(result.document(files))
        return
    for other in others:
        print_schedules(other)
    print_schedules(found, written, insert_file_name(output, form.USE))
