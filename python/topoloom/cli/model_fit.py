# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model fit` and `channels`: models from measured times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.cli.model_facts import document, print_lines

if TYPE_CHECKING:
    from topoloom.model.fit import Fit
    from topoloom.model.model_toml import ModelFile


def fit(
    pings: Path,
    round_trip: bool,
    split: str | None,
    output: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Fit a model to measured times; print it beside them, write and draw it."""
    import numpy as np

    from topoloom.cli.console import print_json
    from topoloom.model.fit import fit_model, fit_split
    from topoloom.model.model_toml import ModelFile, write_model_toml
    from topoloom.model.samples import read_pings
    from topoloom.support.files import named
    from topoloom.support.units import parse_bytes

    sizes, times = read_pings(pings)
    one_way = times / 2 if round_trip else times
    with named(pings):
        if split is None:
            found = fit_model(sizes, one_way)
        else:
            found = fit_split(sizes, one_way, parse_bytes(split))
    errors = np.abs(found.errors)
    file = ModelFile(
        found.model,
        name=pings.stem,
        summary=f"fitted to {len(sizes)} times of {len(found.sizes)} sizes",
        source=f"{pings.name}, by topoloom model fit",
    )
    if output is not None:
        write_model_toml(output, file)
    if figure is not None:
        from topoloom.figure import draw_model

        draw_model(figure, file, found)
    if as_json:
        samples = zip(found.sizes, found.measured, found.predicted, strict=True)
        facts = {
            **document(file),
            "worst_error": float(errors.max()),
            "mean_error": float(errors.mean()),
            "sizes": [
                {"bytes": int(size), "measured_s": measured, "predicted_s": predicted}
                for size, measured, predicted in samples
            ],
        }
        print_json(facts)
        return
    _print_fit(found, file, [path for path in (output, figure) if path is not None])


def _print_fit(fit: Fit, file: ModelFile, written: list[Path]) -> None:
    import numpy as np

    from topoloom.cli.console import print_facts, print_table
    from topoloom.model.model_toml import time_text

    rows = [
        (
            f"{size:,.0f}",
            time_text(one, 4),
            time_text(other, 4),
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
            f"{100 * abs(fit.errors[worst]):.1f} % at {fit.sizes[worst]:,.0f} bytes",
        ),
    ]
    print_facts([*facts, *(("written", str(path)) for path in written)])


def channels(pairs: Path, amounts: str | None, round_trip: bool, as_json: bool) -> None:
    """Print what pairs exchange at once, and how many channels that shows."""
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json, print_table
    from topoloom.model.channels import pair_curve
    from topoloom.model.samples import read_pairs
    from topoloom.support.checks import at_least
    from topoloom.support.files import named
    from topoloom.support.units import format_bandwidth, parse_bytes

    if amounts is None:
        raise Error("how long were the messages? Give their size: --sizes 8MiB")
    size = parse_bytes(amounts)
    at_least("--sizes", size, 1)
    counts, times = read_pairs(pairs)
    with named(pairs):
        curve = pair_curve(counts, times / 2 if round_trip else times, size)
    if as_json:
        totals = zip(
            curve.pairs.astype(int).tolist(), curve.totals.tolist(), strict=True
        )
        print_json(
            {
                "channels": curve.channels,
                "node_bandwidth": curve.node_bandwidth,
                "totals": [{"pairs": p, "bytes_per_second": t} for p, t in totals],
            }
        )
        return
    rows = [
        (f"{count:.0f}", format_bandwidth(total), f"{total / curve.totals[0]:.2f}")
        for count, total in zip(curve.pairs, curve.totals, strict=True)
    ]
    print_table(["pairs", "in all", "of one"], rows, left=0)
    node = format_bandwidth(curve.node_bandwidth)
    print_facts([("channels", str(curve.channels)), ("node bandwidth", node)])
