# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model channels`: find how many messages of a node run at full speed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.messages import Bytes, RoundTrip
from topoloom.cli.parameters import Argument

if TYPE_CHECKING:
    from topoloom.model.channels import PairCurve


def command(
    pairs: Annotated[
        Path,
        Argument(
            metavar="FILE",
            help="Measured times: a CSV file with the header pairs,time; optional "
            "columns are run and pattern.",
        ),
    ],
    amount: Bytes,
    round_trip: RoundTrip = False,
    as_json: AsJson = False,
) -> None:
    """Find how many messages of a node run at full speed.

    Each line of FILE has the number of pairs that exchanged messages of --bytes at the
    same time, and the time of the slowest. The columns run and pattern identify
    samples.

    \b
    Examples:
      topoloom model channels pairs.csv --bytes 8MiB
      topoloom model channels pairs.csv --bytes 8MiB --round-trip --json
    """
    from topoloom.cli.console import print_json
    from topoloom.model.fitted_files import load_pair_curves
    from topoloom.support.units import parse_bytes

    found = load_pair_curves(pairs, parse_bytes(amount), round_trip=round_trip)
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
