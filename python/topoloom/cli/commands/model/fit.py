# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model fit`: fit a network model to measured times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, Figure, output_option
from topoloom.cli.options.messages import RoundTrip
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.model.fit import Fit
    from topoloom.model.model_toml import ModelFile


def command(
    pings: Annotated[
        Path,
        Argument(
            metavar="FILE", help="Measured times: a CSV file with the header size,time."
        ),
    ],
    output: Annotated[Path | None, output_option("Write the model as .toml.")] = None,
    round_trip: RoundTrip = False,
    split: Annotated[
        str | None,
        Option(
            "--split",
            metavar="SIZE",
            help="Fit a single line, with alpha from sizes up to this and beta from "
            "larger sizes.",
        ),
    ] = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Fit a network model to measured times.

    The model has size ranges, in each of which a message takes alpha + bytes * beta.
    Other commands accept the written file as --model.

    \b
    Examples:
      topoloom model fit pings.csv -o model.toml --figure fit.svg
      topoloom model fit pings.csv --round-trip --split 4KiB
    """
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
    from topoloom.cli.output.model import print_lines
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
    print_lines(fit.model)
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
