# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom order`: ranks of a node in the order that suits binomial trees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.messages import Channels, Reading, Root
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom.tasks.collectives.order import ProcessOrder


def command(
    costs: Annotated[
        Path,
        typer.Argument(
            metavar="COSTS",
            help="CSV: seconds of a message from each process, by row, to each.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="One of those below. Default: the best of all but random.",
        ),
    ] = None,
    channels: Channels = 1,
    root: Root = 0,
    seed: Seed = 1,
    reading: Reading = "growing",
    output: Annotated[
        Path | None,
        output_option("Write the processes, one per line, position by position."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Order the processes of a node for collectives along binomial trees.

    Sockets make some messages slower than others. The processes are renumbered: the
    one that is printed first becomes rank 0, the root, the next rank 1, and so on;
    libraries then send what is long over fast edges.

    \b
    fastest-edge-first  every sender takes the nearest process that is left
    channel-aware       the same, but the farthest in the step in which as many send
                        as there are channels
    random              the root, then any order
    standard            root, root + 1, ...

    Times are of a scatter of one message to each, of the size that was measured.
    Messages that are sent at once share channels, by --reading:

    \b
    growing             those within a group share one, those between the same two
                        groups share all; each more adds half the bandwidth of one
    printed             those within a group share all, those between two groups, too;
                        more than the channels add nothing: the source's assumption
    node                all share all; each more adds half the bandwidth of one
    independent         none share

    \b
    Examples:
      topoloom order costs.csv --channels 2
      topoloom order costs.csv --method fastest-edge-first --root 3 -o order.txt
    """
    from topoloom.cli.console import print_json
    from topoloom.schedules.costs import load_costs
    from topoloom.support.files import write_text
    from topoloom.tasks.collectives.order import order_processes

    found = order_processes(
        load_costs(costs),
        method,
        channels=channels,
        root=root,
        seed=seed,
        reading=reading,
    )
    if output is not None:
        write_text(output, "".join(f"{process}\n" for process in found.order))
    if as_json:
        print_json(found.document())
    else:
        _print(found)


def _print(found: ProcessOrder) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import gain, percent

    print(f"order   {' '.join(map(str, found.order))}")
    for group in range(found.groups.count):
        members = [
            str(process) for process, of in enumerate(found.groups.of) if of == group
        ]
        print(f"group {group} {' '.join(members)}")
    standard, ours = (
        [*steps, sum(steps)] for steps in (found.standard_steps, found.steps)
    )
    names = [*(f"step {step}" for step in range(1, len(ours))), "scatter"]
    rows = [
        [name, _time_text(before), _time_text(after), percent(gain(before, after))]
        for name, before, after in zip(names, standard, ours, strict=True)
    ]
    print_table(["", "standard", found.method, "gain"], rows)


def _time_text(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"
