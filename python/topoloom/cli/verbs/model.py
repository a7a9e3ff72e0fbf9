# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model`: show, fit and apply models of message costs by size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure, output_option
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom._core import NetworkModel
    from topoloom.model.channels import PairCurve
    from topoloom.model.fit import Fit
    from topoloom.model.model_toml import ModelFile


def command(
    words: Annotated[
        list[str],
        Argument(
            metavar="VERB [MODEL|FILE]",
            help="list, show MODEL, predict MODEL, fit FILE or channels FILE.",
            autocompletion=completions.model_words,
        ),
    ],
    output: Annotated[
        Path | None,
        output_option(
            "For fit: write the model, as .toml. For show: as lines of a machine file."
        ),
    ] = None,
    round_trip: Annotated[
        bool,
        Option("--round-trip", help="For fit and channels: times are round trips."),
    ] = False,
    split: Annotated[
        str | None,
        Option(
            "--split",
            metavar="SIZE",
            help="For fit: one line with alpha from sizes up to this, beta from "
            "larger sizes.",
        ),
    ] = None,
    amounts: Annotated[
        str | None,
        Option(
            "--sizes",
            metavar="SIZE,...",
            help="For predict: message sizes, such as 76,1KiB,64KiB. For channels: "
            "one message size.",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        Option(
            "--processes-per-node",
            metavar="K",
            help="For predict: number of processes per node that send concurrently.",
        ),
    ] = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Model the cost of a message: alpha + bytes * beta by size range.

    \b
    list      list the included models, with their sources
    show      show the size ranges of a model, and additional message costs
    predict   predict times of messages: the interval between two sends of a process,
              and the time until the first message arrives
    fit       fit a model to measured times: a CSV file with the header size,time
    channels  find how many concurrent messages of a node run at full speed: a CSV file
              with the header pairs,time: the number of concurrent pairs, and the time
              of the slowest; the optional columns run and pattern identify samples

    \b
    Examples:
      topoloom model list
      topoloom model show slingshot
      topoloom model fit pings.csv -o here.toml --figure fit.svg
      topoloom model predict here.toml --sizes 76,1KiB,64KiB --processes-per-node 4
      topoloom model channels pairs.csv --sizes 8MiB --round-trip
    """
    verb, what = _parse_words(
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
    if verb == "list":
        _list_models(as_json)
    elif verb == "show":
        _show_model(what, output, figure, as_json)
    elif verb == "predict":
        _predict_times(what, amounts, processes, as_json)
    elif verb == "fit":
        _fit_model(Path(what), round_trip, split, output, figure, as_json)
    else:
        _find_channels(Path(what), amounts, round_trip, as_json)


def _parse_words(words: list[str], options: dict[str, Any]) -> tuple[str, str]:
    """Return the subcommand and its argument; check the options against it."""
    from topoloom._core import Error
    from topoloom.support.name_lookup import describe_unknown_name

    verb, *rest = words
    if verb not in completions.MODEL_VERBS:
        raise Error(
            describe_unknown_name(
                "verb of 'topoloom model'", verb, completions.MODEL_VERBS
            )
        )
    if len(rest) != (verb != "list"):
        wanted = {"list": "no argument", "show": "a model", "predict": "a model"}
        raise Error(f"'topoloom model {verb}' takes {wanted.get(verb, 'a CSV file')}")
    for option, value in options.items():
        if value is not None and option not in completions.MODEL_VERBS[verb]:
            raise Error(f"'topoloom model {verb}' has no option {option}")
    return verb, rest[0] if rest else ""


def _list_models(as_json: bool) -> None:
    from topoloom.cli.verbs.list import command

    command("models", as_json)


def _show_model(
    what: str, output: Path | None, figure: Path | None, as_json: bool
) -> None:
    from topoloom.cli.console import print_facts, print_json
    from topoloom.model.model_names import load_model

    file = load_model(what)
    if figure is not None:
        from topoloom.figure import draw_model

        draw_model(figure, file)
    if output is not None:
        from topoloom.model.message_lines import format_model
        from topoloom.support.files import write_text

        write_text(output, format_model(file.model))
    if as_json:
        print_json({"name": file.name or what, **file.document()})
        return
    facts = [(key, getattr(file, key)) for key in ("summary", "source", "date")]
    print_facts([fact for fact in facts if fact[1]], file.name or what)
    _print_model(file.model)
    if file.model.inside is not None:
        _print_model(file.model.inside, " inside a node")


def _predict_times(
    what: str, amounts: str | None, processes: int | None, as_json: bool
) -> None:
    from topoloom._core import Error
    from topoloom.cli.console import print_json, print_table
    from topoloom.model.fitted_files import predict_times
    from topoloom.model.model_names import load_model
    from topoloom.model.model_toml import format_time
    from topoloom.support.range_checks import check_int64
    from topoloom.support.units import format_bandwidth, format_size, parse_bytes

    if amounts is None:
        raise Error(
            "predict requires message sizes; add --sizes, such as --sizes 76,1KiB,64KiB"
        )
    count = 1 if processes is None else processes
    check_int64("--processes-per-node", count, 1)
    file = load_model(what)
    sizes = [parse_bytes(amount) for amount in amounts.split(",")]
    times = predict_times(file.model, sizes, count)
    if as_json:
        found = [vars(one) for one in times]
        print_json({"model": what, "processes_per_node": count, "times": found})
        return
    rows = [
        [
            format_size(one.bytes),
            format_time(one.seconds, 4),
            format_time(one.arrival_seconds, 4),
            format_bandwidth(count * one.bytes / one.seconds) if one.bytes else "",
            format_time(one.cpu_seconds, 4),
        ]
        for one in times
    ]
    columns = ["bytes", "a message", "its arrival", "bandwidth of the node"]
    columns.append("CPU of both ends")
    shown = 5 if any(one.cpu_seconds for one in times) else 4
    of = f", {count} processes of a node at once" if count > 1 else ""
    title = f"{file.name or what}{of}"
    print_table(columns[:shown], [row[:shown] for row in rows], title=title, left=0)


def _fit_model(
    pings: Path,
    round_trip: bool,
    split: str | None,
    output: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    from topoloom.cli.console import print_json
    from topoloom.model.fitted_files import fit_file
    from topoloom.model.model_toml import write_model_toml
    from topoloom.support.units import parse_bytes

    at = None if split is None else parse_bytes(split)
    found = fit_file(pings, round_trip=round_trip, split=at)
    if output is not None:
        write_model_toml(output, found.file)
    if figure is not None:
        from topoloom.figure import draw_model

        draw_model(figure, found.file, found.fit)
    if as_json:
        print_json(found.document())
    else:
        _print_fit(found.fit, found.file, [output, figure])


def _print_fit(fit: Fit, file: ModelFile, written: list[Path | None]) -> None:
    import numpy as np

    from topoloom.cli.console import print_facts, print_table
    from topoloom.model.model_toml import format_time
    from topoloom.support.units import format_size

    rows = [
        (
            format_size(int(size)),
            format_time(one, 4),
            format_time(other, 4),
            f"{100 * error:+.1f} %",
        )
        for size, one, other, error in zip(
            fit.sizes, fit.measured, fit.predicted, fit.errors, strict=True
        )
    ]
    columns = ["bytes", "measured", "predicted", "error"]
    print_table(columns, rows, title=f"{file.name}: {file.summary}", left=0)
    _print_lines(fit.model)
    worst = int(np.argmax(np.abs(fit.errors)))
    facts = [
        ("mean error", f"{100 * np.abs(fit.errors).mean():.1f} %"),
        (
            "worst error",
            f"{100 * abs(fit.errors[worst]):.1f} % at "
            f"{format_size(int(fit.sizes[worst]))}",
        ),
    ]
    print_facts(facts, written=written)


def _find_channels(
    pairs: Path, amounts: str | None, round_trip: bool, as_json: bool
) -> None:
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.model.fitted_files import load_pair_curves
    from topoloom.support.units import parse_bytes

    if amounts is None:
        raise Error(
            "channels requires the size of the messages; add --sizes, such as --sizes "
            "8MiB"
        )
    found = load_pair_curves(pairs, parse_bytes(amounts), round_trip=round_trip)
    if as_json:
        print_json(found.document())
        return
    for name, curve in found.by_pattern.items():
        _print_curve(name, curve)


def _print_curve(name: str, curve: PairCurve) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import format_bandwidth, format_seconds

    rows = [
        (
            f"{count:.0f}",
            f"{samples}",
            format_seconds(seconds),
            format_seconds(float(f"{sigma:.2g}")) if samples > 1 else "",
            format_bandwidth(total),
            f"{total / curve.totals[0]:.2f}",
        )
        for count, samples, seconds, sigma, total in zip(
            curve.pairs,
            curve.samples,
            curve.seconds,
            curve.sigma,
            curve.totals,
            strict=True,
        )
    ]
    columns = ["pairs", "samples", "slowest", "sigma", "in all", "of one"]
    print_table(columns, rows, title=name, left=0)
    node = format_bandwidth(curve.node_bandwidth)
    print_facts([("channels", _format_channels(curve)), ("node bandwidth", node)])


def _format_channels(curve: PairCurve) -> str:
    least, most = curve.channels, curve.most_channels
    if most is None:
        return f"{least} or more; more pairs were not measured"
    if most == least:
        return str(least)
    return f"{least} to {most}; pairs in between were not measured"


def _print_model(model: NetworkModel, where: str = "") -> None:
    from topoloom._core import NetworkModel
    from topoloom.cli.console import print_facts
    from topoloom.model.model_toml import format_costs

    _print_lines(model, f"bytes{where}")
    if model.alone:
        alone = NetworkModel.regimes(model.alone)
        _print_lines(alone, f"bytes alone{where}")
    _print_link_factors(model)
    costs = format_costs(model.costs)
    print_facts([(name.replace("_", " "), text) for name, text in costs.items()])


def _print_lines(model: NetworkModel, of: str = "bytes") -> None:
    """Print the size ranges of a model with the bandwidth of each."""
    from topoloom.cli.console import print_table
    from topoloom.model.model_toml import format_time
    from topoloom.support.units import format_bandwidth

    sizes = _format_size_ranges([most for _, _, most in model.lines])
    rows = []
    for (alpha, beta, _), part in zip(model.lines, sizes, strict=True):
        rate = format_bandwidth(1 / beta) if beta else ""
        name = "the largest of" if model.takes_largest else part
        rows.append((name, format_time(alpha, 4), format_time(beta, 4), rate))
    print_table([of, "alpha", "beta", "1 / beta"], rows)


def _print_link_factors(model: NetworkModel) -> None:
    """Print link factors by message size, if they depend on the size."""
    from topoloom.cli.console import print_table

    if not model.link_factors:
        return
    sizes = _format_size_ranges([most for *_, most in model.link_factors])
    rows = [
        (part, f"{latency:.4g}", f"{bandwidth:.4g}")
        for (latency, bandwidth, _), part in zip(model.link_factors, sizes, strict=True)
    ]
    print_table(["bytes", "latency factor of links", "bandwidth factor"], rows)


def _format_size_ranges(ends: list[int | None]) -> list[str]:
    """Format size ranges, given their upper ends; None means unlimited."""
    from topoloom.support.units import format_size

    texts = []
    below = 0
    for most in ends:
        texts.append(
            f"{format_size(below)} and more"
            if most is None
            else f"{format_size(below)} to {format_size(most)}"
        )
        below = 0 if most is None else most + 1
    return texts
