# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model`: message costs by size, from a name, a file or a fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.model_facts import OPTIONS
from topoloom.cli.options.files import AsJson, Figure, output_option


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="VERB [MODEL|FILE]",
            help="list, show MODEL, predict MODEL, fit FILE or channels FILE.",
            autocompletion=complete.model_words,
        ),
    ],
    output: Annotated[
        Path | None, output_option("For fit: write the model, as .toml.")
    ] = None,
    round_trip: Annotated[
        bool,
        typer.Option(
            "--round-trip", help="For fit and channels: times are there and back."
        ),
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="SIZE",
            help="For fit: one line, alpha from sizes up to this, beta from others.",
        ),
    ] = None,
    amounts: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="SIZE,...",
            help="For predict: sizes of messages, such as 76,1KiB,64KiB. For channels: "
            "the one size.",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes-per-node",
            metavar="K",
            help="For predict: this many processes of a node send at once.",
        ),
    ] = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Model the cost of a message: alpha + bytes * beta, line by line.

    \b
    list      the models that ship with Topoloom, and where they are from
    show      the lines of a model, and what messages cost in addition
    predict   times of messages: from one to the next of a process that sends several,
              and until the first has arrived
    fit       fit a model to measured times: a CSV file with the header size,time
    channels  how many messages of a node travel at once as fast as one: a CSV file
              with the header pairs,time, round trips of as many pairs at once

    \b
    Examples:
      topoloom model list
      topoloom model show slingshot
      topoloom model fit pings.csv -o here.toml --figure fit.svg
      topoloom model predict here.toml --sizes 76,1KiB,64KiB --processes-per-node 4
      topoloom model channels pairs.csv --sizes 8MiB --round-trip
    """
    verb, what = _asked(
        words,
        {
            "--output": output,
            "--round-trip": round_trip or None,
            "--split": split,
            "--sizes": amounts,
            "--processes-per-node": processes,
            "--figure": figure,
        },
    )
    from topoloom.cli import model_fit

    if verb == "list":
        _list(as_json)
    elif verb == "show":
        _show(what, figure, as_json)
    elif verb == "predict":
        _predict(what, amounts, processes, as_json)
    elif verb == "fit":
        model_fit.fit(Path(what), round_trip, split, output, figure, as_json)
    else:
        model_fit.channels(Path(what), amounts, round_trip, as_json)


def _asked(words: list[str], options: dict[str, Any]) -> tuple[str, str]:
    """Return the verb and its argument; refuse options that it does not take."""
    from topoloom._core import Error
    from topoloom.support.nearest import unknown_name

    verb, *rest = words
    if verb not in OPTIONS:
        raise Error(unknown_name("verb of 'topoloom model'", verb, OPTIONS))
    if len(rest) != (verb != "list"):
        wanted = {"list": "no argument", "show": "a model", "predict": "a model"}
        raise Error(f"'topoloom model {verb}' takes {wanted.get(verb, 'a CSV file')}")
    for option, value in options.items():
        if value is not None and option not in OPTIONS[verb]:
            raise Error(f"'topoloom model {verb}' has no option {option}")
    return verb, rest[0] if rest else ""


def _list(as_json: bool) -> None:
    from topoloom.cli.verbs.list import command

    command("models", as_json)


def _show(what: str, figure: Path | None, as_json: bool) -> None:
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.model_facts import document, print_lines
    from topoloom.model.model_toml import cost_texts
    from topoloom.model.named import load_model

    file = load_model(what)
    if figure is not None:
        from topoloom.figure import draw_model

        draw_model(figure, file)
    if as_json:
        print_json({"name": file.name or what, **document(file)})
        return
    facts = [(key, getattr(file, key)) for key in ("summary", "source", "date")]
    print_facts([fact for fact in facts if fact[1]], file.name or what)
    print_lines(file.model)
    costs = cost_texts(file.model.costs)
    print_facts([(name.replace("_", " "), text) for name, text in costs.items()])


def _predict(
    what: str, amounts: str | None, processes: int | None, as_json: bool
) -> None:
    from topoloom._core import Error
    from topoloom.cli.console import print_json, print_table
    from topoloom.model.model_toml import time_text
    from topoloom.model.named import load_model
    from topoloom.support.checks import at_least
    from topoloom.support.units import format_bandwidth, parse_bytes

    if amounts is None:
        raise Error("predict times of which sizes? Name them: --sizes 76,1KiB,64KiB")
    count = 1 if processes is None else processes
    at_least("--processes-per-node", count, 1)
    file = load_model(what)
    model = file.model
    times = {
        size: model.time(size, count) for size in map(parse_bytes, amounts.split(","))
    }
    latency = model.costs.latency
    if as_json:
        found = [
            {
                "bytes": size,
                "seconds": time,
                "arrival_seconds": latency + time,
                "cpu_seconds": model.cpu(size),
            }
            for size, time in times.items()
        ]
        print_json({"model": what, "processes_per_node": count, "times": found})
        return
    rows = [
        [
            f"{size:,}",
            time_text(time, 4),
            time_text(latency + time, 4),
            format_bandwidth(count * size / time) if size else "",
            time_text(model.cpu(size), 4),
        ]
        for size, time in times.items()
    ]
    columns = ["bytes", "a message", "its arrival", "bandwidth of the node"]
    columns.append("CPU of both ends")
    shown = 5 if any(map(model.cpu, times)) else 4
    of = f", {count} processes of a node at once" if count > 1 else ""
    title = f"{file.name or what}{of}"
    print_table(columns[:shown], [row[:shown] for row in rows], title=title, left=0)
