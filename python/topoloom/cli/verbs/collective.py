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
    write_pattern,
    write_placement,
)
from topoloom.cli.collective_setting import Setting, read_setting
from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    CoresPerRank,
    Fragments,
    LauncherName,
    MaybeMachineText,
    MemoryPerRank,
    RanksPerNode,
    Seed,
    Threads,
    figure_option,
    output_option,
)

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call
    from topoloom.schedules.together import Together


def command(
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION",
            help="alltoall, allgather, allreduce, bcast, ..., barrier, many-to-many.",
            autocompletion=complete.operations,
        ),
    ],
    ranks: Annotated[int, typer.Option("--ranks", "-n", metavar="N", help="How many.")],
    amount: Annotated[
        str,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Of a pair (all-to-all, many-to-many), of a rank (gather, scatter, "
            "all-gather, reduce-scatter), or of the whole vector.",
        ),
    ] = "1KiB",
    root: Annotated[
        int, typer.Option("--root", metavar="R", help="Where there is one.")
    ] = 0,
    degree: Annotated[
        int | None,
        typer.Option(
            "--degree",
            metavar="D",
            help="Of many-to-many: each rank sends to the D next ones.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="What a message costs: a name from 'topoloom model list' or a file "
            "of 'topoloom model fit'. Default: what the machine says of itself.",
            autocompletion=complete.models,
        ),
    ] = None,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    allocate: Allocate = None,
    fragments: Fragments = None,
    launcher: LauncherName = "slurm",
    ranks_per_node: RanksPerNode = None,
    cores_per_rank: CoresPerRank = 1,
    memory_per_rank: MemoryPerRank = None,
    placement: Annotated[
        Path | None,
        typer.Option(
            "--placement",
            metavar="FILE",
            help="Instead of --machine: where 'topoloom map' has put the ranks.",
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            "--schedule",
            metavar="NAME[+NAME]",
            help="Only these, with options as in 'chain(segment=4096)'. Default: all.",
            autocompletion=complete.schedules,
        ),
    ] = None,
    order: Annotated[
        bool,
        typer.Option(
            "--order",
            help="Order the ranks for the best schedule, choose again, and so on; -o "
            "writes the placement.",
        ),
    ] = False,
    output: Annotated[
        Path | None, output_option("With --order: write the placement.")
    ] = None,
    pattern: Annotated[
        Path | None,
        output_option(
            "Write the messages of the best schedule as .npz, round by round.",
            "--pattern",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        output_option(
            "Write which schedule is best from which size on, to the byte, as JSON.",
            "--decisions",
        ),
    ] = None,
    figure: Annotated[
        Path | None, figure_option("Draw the times of all schedules: .svg, .png, .pdf.")
    ] = None,
    over: Annotated[
        str,
        typer.Option("--over", help="What the figure runs over: bytes, ranks, degree."),
    ] = "bytes",
    rounds: Annotated[
        Path | None,
        figure_option("Draw the best schedule, round by round.", "--rounds"),
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
      topoloom collective alltoall -n 256 --bytes 64 --order -o x.json \\
          -m fattree:16:16,bandwidth=25GB/s+node:1,startup=1us
      topoloom collective allreduce -n 1024 --model hdr --decisions table.json
      topoloom collective many-to-many -n 256 --bytes 76 --degree 64 \\
          --model qsnet --figure over-degree.svg --over degree
      topoloom collective bcast -n 8 --model hdr --rounds binomial.svg
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.cli.ordered import read_order
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import Where, at_least
    from topoloom.figure.rounds import check_rounds, draw_rounds
    from topoloom.figure.schedules import draw_schedules, points_over
    from topoloom.schedules.choose import rank_schedules, usual_schedule
    from topoloom.support.units import parse_bytes

    at_least("--threads", threads, 0)
    call = _read_call(operation, ranks, parse_bytes(amount), root, degree)
    if (output is not None) > order:
        raise Error("-o writes the placement that --order finds; add --order")
    names = _split(schedule) if schedule is not None else []
    in_order = read_order(launcher, ranks_per_node, cores_per_rank, memory_per_rank)
    where = Where(allocation, allocate, fragments, seed, in_order)
    setting = read_setting(call, model, machine, where, placement)
    if figure is not None:
        points_over(call, over, setting.sites)
    elif over != "bytes":
        raise Error("--over is for --figure; add it")
    if rounds is not None:
        check_rounds(call)
    together, interrupted = None, False
    if order:
        together, interrupted = _order(call, setting, seed, threads)
        setting = setting._replace(
            sites=setting.sites._replace(placement=together.placement)
        )
    ranked = rank_schedules(call, setting.model, setting.sites, names, threads)
    if output is not None and together is not None:
        write_placement(output, call, setting, together)
    table = None
    if not interrupted:
        if pattern is not None:
            write_pattern(pattern, call, ranked[0].name)
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
            [output] if interrupted else [output, pattern, decisions, figure, rounds]
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
    from topoloom.cli.problem import at_least
    from topoloom.schedules.choose import Call, read_operation

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
    """Order the ranks; also tell whether Ctrl-C has ended that."""
    from topoloom._core import Error
    from topoloom.cli.console import watching
    from topoloom.cli.search import Search
    from topoloom.schedules.together import optimize_together

    if setting.sites is None:
        raise Error("--order places ranks on a machine; name one with --machine")
    with watching("ordering", Search(seed, None, None, threads)) as watch:
        together = optimize_together(
            call, setting.sites.allocation, setting.model, seed, threads, watch
        )
    return together, watch.interrupted
