# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective order`: order the processes of a node for binomial trees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.messages import Channels, Root, method_option
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topoloom._core import CostGroup, CostSample
    from topoloom.tasks.collectives.order import ProcessOrder

#: Maximum printed value of Student's t, which is infinite if costs have no variance, as
#: in models.
MAX_T = 1e6


def command(
    costs: Annotated[
        Path,
        Argument(
            metavar="COSTS",
            help="CSV: seconds of a message from each process, by row, to each; or a "
            "machine that 'topoloom machine probe' wrote.",
        ),
    ],
    method: Annotated[str, method_option(completions.orders)] = "auto",
    channels: Channels = 1,
    root: Root = 0,
    seed: Seed = 1,
    sharing: Annotated[
        str,
        Option(
            "--sharing",
            metavar="NAME",
            help="How concurrent messages share channels; the description explains "
            "each.",
            autocompletion=completions.complete_words(
                "growing", "printed", "node", "independent"
            ),
        ),
    ] = "growing",
    p_value: Annotated[
        float,
        Option(
            "--p-value",
            metavar="P",
            help="Maximum probability that equal processes are detected as groups.",
        ),
    ] = 0.01,
    output: Annotated[
        Path | None,
        output_option("Write the processes, one per line, position by position."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Order the processes of a node for binomial trees.

    Messages between sockets take longer than messages inside a socket. The processes
    are renumbered in the printed order: the first becomes rank 0, the root. MPI
    libraries then send long messages over fast edges.

    \b
    auto                the fastest of fastest-edge-first, channel-aware and
                        standard; standard if no groups of near processes exist
    fastest-edge-first  every sender selects the nearest remaining process
    channel-aware       the same, except that the farthest process is selected in
                        the step in which as many processes send as there are
                        channels
    random              the root, then the other processes in random order
    standard            root, root + 1, ...

    Times are predicted for a scatter of one message of the measured size to each
    process. --sharing selects how concurrent messages share channels:

    \b
    growing      messages within a group share one channel, messages between the
                 same two groups share all channels; each message beyond the
                 number of channels adds half the bandwidth of a channel
    printed      messages within a group share all channels, as do messages
                 between two groups; messages beyond the number of channels add no
                 bandwidth, as the source assumes
    node         all messages share all channels; each message beyond the number
                 of channels adds half the bandwidth of a channel
    independent  messages do not share channels

    Nested groups of near processes are detected. For messages inside a group, and for
    messages into it, the mean, standard deviation and number without outliers are
    printed, with the number of outliers in brackets. Student's t and its p value test
    whether the means are equal. Orders and times use these means, so that noise does
    not look like fast edges; only the order of a --method uses the unaveraged costs.

    \b
    Examples:
      topoloom collective order costs.csv --channels 2
      topoloom collective order costs.csv --method fastest-edge-first \\
          --root 3 -o order.txt
    """
    from topoloom.cli.console import print_json
    from topoloom.schedules.cost_matrix import load_costs
    from topoloom.support.files import write_text
    from topoloom.tasks.collectives.order import order_processes

    found = order_processes(
        load_costs(costs),
        method,
        channels=channels,
        root=root,
        seed=seed,
        sharing=sharing,
        p_value=p_value,
    )
    if output is not None:
        write_text(output, "".join(f"{process}\n" for process in found.order))
    if as_json:
        print_json(found.document())
    else:
        _print_result(found, chosen=method == "auto")


def _print_result(found: ProcessOrder, *, chosen: bool) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import format_percent, gain
    from topoloom.tasks.collectives.order import STANDARD

    print(f"order   {' '.join(map(str, found.order))}")
    if found.groups.groups:
        _print_groups(found.groups.groups)
    else:
        print(
            "groups  none: no group of processes is nearer to each other than chance"
            + (": standard order" if chosen else "")
        )
    names = [*(f"step {step}" for step in range(1, len(found.steps) + 1)), "scatter"]
    standard, ours = (
        [*steps, sum(steps)] for steps in (found.standard_steps, found.steps)
    )
    if found.method == STANDARD:
        rows = [
            [name, _format_time(time)] for name, time in zip(names, ours, strict=True)
        ]
        print_table(["", STANDARD], rows)
        return
    rows = [
        [
            name,
            _format_time(before),
            _format_time(after),
            format_percent(gain(before, after)),
        ]
        for name, before, after in zip(names, standard, ours, strict=True)
    ]
    columns = ["", STANDARD, found.method, "gain"]
    print_table(columns, rows, keep=["", found.method, "gain"])


def _print_groups(groups: list[CostGroup]) -> None:
    from topoloom.cli.console import print_table

    named = list(_number_groups(groups))
    for name, group in named:
        indent = "  " * name.count(".")
        print(f"{indent}group {name} {' '.join(map(str, group.members))}")
    rows = [
        [
            name,
            *_format_sample(group.inside),
            *_format_sample(group.into),
            f"{group.t:.3g}" if group.t < MAX_T else f"> {MAX_T:.0e}",
            f"{group.p:.1e}" if group.p else "0",
        ]
        for name, group in named
    ]
    columns = ["group", "inside", "sigma", "n", "into it", "sigma", "n", "t", "p"]
    print_table(columns, rows, keep=["group", "t", "p"])


def _number_groups(
    groups: list[CostGroup], outer: str = ""
) -> Iterator[tuple[str, CostGroup]]:
    """Assign numbers to groups: 0, 1, ...; subgroups of group 0 are 0.0, 0.1, ..."""
    for number, group in enumerate(groups):
        yield f"{outer}{number}", group
        yield from _number_groups(group.groups, f"{outer}{number}.")


def _format_sample(sample: CostSample) -> list[str]:
    left_out = f" (-{sample.outliers})" if sample.outliers else ""
    return [
        _format_time(sample.mean),
        _format_time(sample.sigma),
        f"{sample.n}{left_out}",
    ]


def _format_time(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"
