# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective`: which schedule of a collective is the fastest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli import complete
from topoloom.cli.collective_output import (
    document_of,
    print_ranked,
    write_decisions,
    write_graph,
    write_placement,
)
from topoloom.cli.collective_setting import Setting, read_setting
from topoloom.cli.options.files import (
    AsJson,
    Figure,
    PlacementOption,
    WritePattern,
    figure_option,
    output_option,
)
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    LimitOptions,
    MaybeMachineText,
)
from topoloom.cli.options.messages import Bytes, Ranks, Root
from topoloom.cli.options.searches import Seed, Threads

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call
    from topoloom.schedules.together import Together


@with_groups
def command(
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION",
            help="alltoall, allgather, allreduce, bcast, ..., barrier, many-to-many.",
            autocompletion=complete.operations,
        ),
    ],
    *,
    ranks: Ranks,
    amount: Bytes = "1KiB",
    root: Root = 0,
    degree: Annotated[
        int | None,
        typer.Option(
            "--degree",
            metavar="D",
            help="For many-to-many: each rank sends to the next D ones.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="What a message costs: a name from 'topoloom model list' or a file "
            "of 'topoloom model fit'. Default: the costs of the machine.",
            autocompletion=complete.models,
        ),
    ] = None,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: LimitOptions,
    placement: PlacementOption = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            "--schedule",
            metavar="NAME[+NAME]",
            help="Only these; options as in 'chain(segment=4096)'. Default: all.",
            autocompletion=complete.schedules,
        ),
    ] = None,
    order_ranks: Annotated[
        bool,
        typer.Option(
            "--order-ranks",
            help="Order the ranks for the best schedule, choose again, and so on; -o "
            "writes the placement.",
        ),
    ] = False,
    output: Annotated[
        Path | None, output_option("With --order-ranks: write the placement.")
    ] = None,
    write_pattern: WritePattern = None,
    decisions: Annotated[
        Path | None,
        output_option(
            "Write which schedule is best from which size on, to the byte, as JSON.",
            "--decisions",
        ),
    ] = None,
    figure: Figure = None,
    over: Annotated[
        str,
        typer.Option(
            "--over", help="The x axis of the figure: bytes, ranks or degree."
        ),
    ] = "bytes",
    rounds: Annotated[
        Path | None,
        figure_option("Draw the best schedule, round by round", "--rounds"),
    ] = None,
    seed: Seed = 1,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Rank all schedules of a collective by what they cost.

    A schedule sends in rounds, each of which waits for the one before: it takes the
    latency of a message, and as long as the rank with the most to send; on a machine
    also as long as the busiest link or port.

    \b
    time        seconds of all rounds
    CPU         seconds that the busiest rank sends, receives and copies; models say
                what that takes, machines do not
    congestion  seconds that the busiest link of every round needs

    \b
    Examples:
      topoloom collective alltoall --ranks 1024 --bytes 76 --model qsnet
      topoloom collective allgather -n 512 --bytes 4KiB --model hdr \\
          --machine torus:8x8x8,bandwidth=10GB/s
      topoloom collective alltoall -n 256 --bytes 64 --order-ranks -o x.json \\
          -m fattree:16:16,bandwidth=25GB/s+node:1,startup=1us
      topoloom collective allreduce -n 1024 --model hdr --decisions table.json
      topoloom collective many-to-many -n 256 --bytes 76 --degree 64 \\
          --model qsnet --figure over-degree.svg --over degree
      topoloom collective bcast -n 8 --model hdr --rounds binomial.svg
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.figure.rounds import check_rounds, draw_rounds
    from topoloom.figure.schedules import draw_schedules, points_over
    from topoloom.schedules.choose import rank_schedules, usual_schedule
    from topoloom.support.checks import at_least
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.problem import Where

    at_least("--threads", threads, 0)
    call = _read_call(operation, ranks, parse_bytes(amount), root, degree)
    if (output is not None) > order_ranks:
        raise Error("-o writes the placement that --order-ranks finds; add that")
    names = _split(schedule) if schedule is not None else []
    where = Where(*allowed, seed, limits.order(launcher))
    setting = read_setting(call, model, machine, where, placement)
    if figure is not None:
        points_over(call, over, setting.sites)
    elif over != "bytes":
        raise Error("--over is for --figure; add it")
    if rounds is not None:
        check_rounds(call)
    together, interrupted = None, False
    if order_ranks:
        together, interrupted = _order(call, setting, seed, threads)
        setting = setting._replace(
            sites=setting.sites._replace(placement=together.placement)
        )
    ranked = rank_schedules(call, setting.model, setting.sites, names, threads)
    if output is not None and together is not None:
        write_placement(output, call, setting, together)
    table = None
    if not interrupted:
        if write_pattern is not None:
            write_graph(write_pattern, call, ranked[0].name)
        if decisions is not None:
            table = write_decisions(decisions, call, setting, threads)
        if figure is not None:
            draw_schedules(figure, call, setting.model, setting.sites, over, threads)
        if rounds is not None:
            draw_rounds(rounds, [(call, ranked[0].name)])
    usual = usual_schedule(call)
    if as_json:
        print_json(document_of(call, setting, ranked, usual, together, table))
    else:
        files = (
            [output]
            if interrupted
            else [output, write_pattern, decisions, figure, rounds]
        )
        written = [path for path in files if path is not None]
        print_ranked(call, setting, ranked, usual, together, written)
    if interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _read_call(
    operation: str, ranks: int, size: int, root: int, degree: int | None
) -> Call:
    from topoloom._core import Error
    from topoloom.schedules.choose import Call, read_operation
    from topoloom.support.checks import at_least

    at_least("--ranks", ranks, 1)
    at_least("--root", root, 0)
    name = read_operation(operation)
    many = name.startswith("many-to-many")
    if many and degree is None:
        raise Error(
            f"{name} needs --degree: to how many of the next ranks each rank sends"
        )
    if degree is not None:
        at_least("--degree", degree, 1)
        if not many:
            raise Error(f"--degree is for many-to-many, not for {name}")
    return Call(name, ranks, 0 if name == "barrier" else size, root, degree)


def _split(text: str) -> list[str]:
    return [name for name in text.split("+") if name]


def _order(
    call: Call, setting: Setting, seed: int, threads: int
) -> tuple[Together, bool]:
    """Order the ranks; also say whether Ctrl-C has ended that."""
    from topoloom._core import Error
    from topoloom.cli.console import watching
    from topoloom.schedules.together import optimize_together
    from topoloom.tasks.search import Search

    if setting.sites is None:
        raise Error("--order-ranks places ranks on a machine; name one with --machine")
    with watching("ordering", Search(seed, None, None, threads)) as watch:
        together = optimize_together(
            call, setting.sites.allocation, setting.model, seed, threads, watch
        )
    return together, watch.interrupted
