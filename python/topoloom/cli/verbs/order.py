# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom order`: ranks of a node in the order that suits binomial trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.messages import Channels, Root
from topoloom.cli.options.searches import Seed

#: What is tried when none is named.
METHODS = ("fastest-edge-first", "channel-aware")


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

    \b
    Examples:
      topoloom order costs.csv --channels 2
      topoloom order costs.csv --method fastest-edge-first --root 3 -o order.txt
    """
    from topoloom._core import (
        Error,
        binomial_order,
        binomial_scatter_steps,
        find_cost_groups,
    )
    from topoloom.cli.console import print_json
    from topoloom.schedules.costs import load_costs
    from topoloom.support.checks import at_least
    from topoloom.support.files import write_text

    at_least("--channels", channels, 1)
    at_least("--seed", seed, 0)
    matrix = load_costs(costs)
    if not 0 <= root < len(matrix):
        raise Error(f"--root {root} is none of the processes 0 to {len(matrix) - 1}")
    shared = min(channels, len(matrix))  # more are as good as one for each

    methods = ["standard", *([method] if method else METHODS)]
    orders = {
        name: binomial_order(matrix, name, root=root, channels=shared, seed=seed)
        for name in methods
    }
    steps = {
        name: binomial_scatter_steps(matrix, order, channels=shared)
        for name, order in orders.items()
    }
    best = method or min(methods, key=lambda name: sum(steps[name]))
    groups = find_cost_groups(matrix)
    document = {
        "method": best,
        "channels": channels,
        "root": root,
        "groups": groups.of,
        "order": orders[best],
        "scatter_s": sum(steps[best]),
        "scatter_steps_s": steps[best],
        "standard_scatter_s": sum(steps["standard"]),
        "standard_scatter_steps_s": steps["standard"],
    }
    if output is not None:
        write_text(output, "".join(f"{process}\n" for process in orders[best]))
    if as_json:
        print_json(document)
    else:
        _print(document, groups.count)


def _print(document: dict[str, Any], count: int) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import gain, percent

    method = document["method"]
    print(f"order   {' '.join(map(str, document['order']))}")
    for group in range(count):
        members = [
            str(process) for process, of in enumerate(document["groups"]) if of == group
        ]
        print(f"group {group} {' '.join(members)}")
    standard, found = (
        [*document[f"{prefix}scatter_steps_s"], document[f"{prefix}scatter_s"]]
        for prefix in ("standard_", "")
    )
    names = [*(f"step {step}" for step in range(1, len(found))), "scatter"]
    rows = [
        [name, _time_text(before), _time_text(after), percent(gain(before, after))]
        for name, before, after in zip(names, standard, found, strict=True)
    ]
    print_table(["", "standard", method, "gain"], rows)


def _time_text(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"
