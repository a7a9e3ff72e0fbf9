# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective place`: order ranks for a collective."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli.options.collectives import (
    CallOptions,
    Operation,
    ScheduleNames,
    SlotOptions,
    parse_schedules,
)
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MachineText
from topoloom.cli.options.messages import Model, Ranks
from topoloom.cli.options.searches import Seed, Threads


@flatten_option_groups
def command(
    operation: Operation,
    *,
    ranks: Ranks,
    message: CallOptions,
    schedule: ScheduleNames = None,
    model: Model = None,
    machine: MachineText,
    slots: SlotOptions,
    seed: Seed = 1,
    threads: Threads = 0,
    output: Annotated[
        Path | None, output_option("Write the placement of the ranks.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Order the ranks of a job for its collective.

    Ranks are ordered for the fastest schedule, all schedules are ranked again for this
    order, and so on until the time no longer falls. Then schedules are ranked as by
    'topoloom collective rank'. Without a model, the machine defines message costs.
    Messages have 1 KiB by default. A many-to-many needs --degree, or a --graph with
    the bytes from rank to rank.

    \b
    Examples:
      topoloom collective place alltoall -n 256 --bytes 64 -o x.json \\
          -m fattree:16:16,bandwidth=25GB/s+node:1,startup=1us
      topoloom collective place allreduce -n 64 --bytes 64KiB --model hdr \\
          -m torus:4x4x4,bandwidth=10GB/s -o x.json
    """
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.cli.output.ranked import print_schedules
    from topoloom.support.parameter_error import check_int64
    from topoloom.tasks.collectives.collective import rank_collective, read_platform
    from topoloom.tasks.collectives.collective_result import (
        CollectiveResult,
        ResultFiles,
    )

    check_int64("--threads", threads, 0)
    call = message.make_call(operation, ranks)
    platform = read_platform(call, model, machine, slots.make_spec(seed))
    found = rank_collective(
        call,
        platform,
        parse_schedules(schedule),
        order_ranks=True,
        seed=seed,
        threads=threads,
        monitor=monitor_search,
    )
    result, files = CollectiveResult(found), ResultFiles(placement=output)
    written = result.write(files, command_line.get())
    if as_json:
        print_json(result.document(files))
    else:
        print_schedules(found, written)
    if found.interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")
