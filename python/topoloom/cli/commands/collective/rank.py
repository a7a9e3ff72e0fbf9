# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective rank`: rank the schedules of a collective."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli import completions
from topoloom.cli.options.collectives import (
    CallOptions,
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
    WriteGraph,
    figure_option,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MaybeMachineText
from topoloom.cli.options.messages import Model, Ranks
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Option


@flatten_option_groups
def command(
    operation: Operation,
    *,
    ranks: Ranks,
    message: CallOptions,
    schedule: ScheduleNames = None,
    model: Model = None,
    machine: MaybeMachineText = None,
    slots: SlotOptions,
    placement: PlacementOption = None,
    figure: Figure = None,
    over: Annotated[
        str,
        Option(
            "--over",
            metavar="QUANTITY",
            help="The x axis of --figure: bytes, ranks or degree.",
            autocompletion=completions.complete_words("bytes", "ranks", "degree"),
        ),
    ] = "bytes",
    rounds: Annotated[
        Path | None,
        figure_option("Draw the best schedule, round by round", "--rounds"),
    ] = None,
    decisions: WriteDecisions = None,
    write_graph: WriteGraph = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Rank the schedules of a collective by predicted time.

    libtopoloom-collective chooses by the same times. On a machine, a rank waits only
    for its own messages; a message waits for its sender, its receiver, and the links of
    its route. Of schedules with more than 65,536 messages, only a sample is evaluated.
    Without a machine, each round waits for the previous round. Without a model, the
    machine defines message costs. Messages have 1 KiB by default. A many-to-many needs
    --degree, or a --graph with the bytes from rank to rank.

    \b
    time        seconds until the last rank has finished
    CPU         seconds in which the busiest rank sends, receives and copies; only
                if the model contains the receive overhead
    congestion  seconds for which the busiest link is busy, summed over rounds

    \b
    Examples:
      topoloom collective rank alltoall --ranks 1024 --bytes 76 --model qsnet
      topoloom collective rank allgather -n 512 --bytes 4KiB --model hdr \\
          --machine torus:8x8x8,bandwidth=10GB/s
      topoloom collective rank bcast -n 8 --model hdr \\
          --schedule 'binomial,chain(segment=4096)' --rounds best.svg
      topoloom collective rank allreduce -n 64 --model hdr --decisions table.json
      topoloom collective rank many-to-many -n 256 --bytes 76 --degree 64 \\
          --model qsnet --figure over-degree.svg --over degree
      topoloom collective rank many-to-many -n 64 -g p.npz --model hdr
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_json
    from topoloom.cli.output.ranked import print_schedules
    from topoloom.tasks.collectives.collective import rank_collective, read_platform
    from topoloom.tasks.collectives.collective_result import (
        CollectiveResult,
        ResultFiles,
    )

    if figure is None and over != "bytes":
        raise Error("--over is for --figure; add it")
    call = message.make_call(operation, ranks)
    platform = read_platform(call, model, machine, slots.make_spec(seed), placement)
    files = ResultFiles(
        graph=write_graph,
        decisions=decisions,
        figure=figure,
        over=over,
        rounds=rounds,
    )
    files.check_drawable(call, platform)
    found = rank_collective(call, platform, parse_schedules(schedule))
    result = CollectiveResult(found)
    written = result.write(files, command_line.get())
    if as_json:
        print_json(result.document(files))
    else:
        print_schedules(found, written)
