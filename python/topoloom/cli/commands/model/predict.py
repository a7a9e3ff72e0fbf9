# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model predict`: predict times of messages by a network model."""

from __future__ import annotations

from typing import Annotated

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.messages import ModelName
from topoloom.cli.parameters import Option


def command(
    model: ModelName,
    sizes: Annotated[
        str,
        Option(
            "--sizes",
            metavar="SIZE,...",
            help="Message sizes, such as 76,1KiB,64KiB.",
        ),
    ],
    processes: Annotated[
        int,
        Option(
            "--processes-per-node",
            metavar="K",
            help="Number of processes per node that send concurrently.",
        ),
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Predict times of messages by a network model.

    The time of a message is the interval between two sends of a process. Its arrival is
    the time until the first message arrives.

    \b
    Examples:
      topoloom model predict slingshot --sizes 76,1KiB,64KiB
      topoloom model predict model.toml --sizes 64KiB --processes-per-node 4
    """
    from topoloom.cli.console import print_json, print_table
    from topoloom.model.fitted_files import predict_times
    from topoloom.model.model_names import load_model
    from topoloom.model.model_toml import format_time
    from topoloom.support.parameter_error import check_int64
    from topoloom.support.units import format_bandwidth, format_size, parse_bytes

    check_int64("--processes-per-node", processes, 1)
    file = load_model(model)
    amounts = [parse_bytes(size) for size in sizes.split(",")]
    times = predict_times(file.model, amounts, processes)
    if as_json:
        found = [vars(one) for one in times]
        print_json({"model": model, "processes_per_node": processes, "times": found})
        return
    rows = [
        [
            format_size(one.bytes),
            format_time(one.seconds, 4),
            format_time(one.arrival_seconds, 4),
            format_bandwidth(processes * one.bytes / one.seconds) if one.bytes else "",
            format_time(one.cpu_seconds, 4),
        ]
        for one in times
    ]
    columns = ["bytes", "a message", "its arrival", "bandwidth of the node"]
    columns.append("CPU of both ends")
    shown = 5 if any(one.cpu_seconds for one in times) else 4
    of = f", {processes} processes of a node at once" if processes > 1 else ""
    title = f"{file.name or model}{of}"
    print_table(columns[:shown], [row[:shown] for row in rows], title=title, left=0)
