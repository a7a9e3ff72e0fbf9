# SPDX-License-Identifier: BSD-3-Clause
"""Prints every reading of Karlsson's models with his measurements."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from published.table import Key, read_published
from readings import grids, scatters
from topoloom.cli.console import print_table

SOURCE = "Karlsson 2012"
Published = dict[Key, str]
Models = dict[str, Callable[[grids.GridCase], tuple[float, float]]]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser("readings", description=__doc__)
    parser.add_argument("values", type=Path, help="CSV of published values")
    published = read_published(parser.parse_args().values)
    compare_grids(published)
    compare_scatters(published)


def compare_grids(published: Published) -> None:
    """Compare gains of tiles: time in default order over time in tiles.

    The source omits the axes of the three-dimensional bcasts; all readings are
    shown.
    """
    pipelines = {
        reading: partial(grids.predict_pipelined_bcast, reading=reading)
        for reading in grids.READINGS
    }
    kinds: dict[str, Models] = {
        "Pipeline Bcast": pipelines,
        "Binomial Bcast": {"binomial": grids.binomial},
        "3-D Bcast": {**pipelines, "binomial": grids.binomial},
    }
    columns = list(kinds["3-D Bcast"])
    errors: dict[str, list[float]] = {column: [] for column in columns}
    rows = []
    for case in grids.cases():
        for kind, models in kinds.items():
            solid = kind == "3-D Bcast"
            if solid != (len(case.grid) == 3):
                continue
            row = case.processes if solid else f"{kind} {case.processes}"
            order, tiles = (
                float(published[Key(SOURCE, case.table, row, f"{column} time")])
                for column in ("standard" if solid else "std rank", "tiled")
            )
            gains = dict.fromkeys(columns, "")
            for name, model in models.items():
                before, after = model(case)
                gains[name] = f"{before / after:.2f}"
                errors[name].append(math.log(before / after * tiles / order))
            rows.append([case.name, kind, f"{order / tiles:.2f}", *gains.values()])
    rows.append(
        ["error", "", "", *(f"{_compute_rms(errors[one]):.0%}" for one in columns)]
    )
    print_table(
        ["grid", "", "measured", *columns], rows, title="default order / tiles", left=2
    )


def compare_scatters(published: Published) -> None:
    """Compare scatters: times relative to the standard order, and times of steps."""
    rows = []
    errors: dict[str, list[list[float]]] = {one: [] for one in scatters.READINGS}
    for node in (*scatters.NODES, scatters.ALTERNATING):
        measured = {
            order: float(published[Key(SOURCE, node.table, order, "time")])
            for order in scatters.ORDERS
        }
        wrong: dict[str, list[float]] = {one: [] for one in scatters.READINGS}
        for order in list(scatters.ORDERS)[1:]:
            ratio = measured[order] / measured["Standard"]
            found = []
            for reading in scatters.READINGS:
                standard = scatters.time(node, "Standard", reading)
                found.append(scatters.time(node, order, reading) / standard)
                wrong[reading].append(math.log(found[-1] / ratio))
            cells = (f"{100 * (one - 1):+.1f} %" for one in (ratio, *found))
            rows.append([node.name, order, *cells])
        rows.append(_format_errors("error", wrong))
        if node is not scatters.ALTERNATING:
            for reading in scatters.READINGS:
                errors[reading].append(wrong[reading])
    wrong = {one: [] for one in scatters.READINGS}
    for order in ("Standard", "FEF", "CAO"):
        count = len(scatters.steps(scatters.BLUEDROP, order))
        times = [
            float(published[Key(SOURCE, scatters.STEPS, f"{order} step {n}", "time")])
            for n in range(1, count + 1)
        ]
        cells = [_format_times(times)]
        for reading in scatters.READINGS:
            ours = scatters.steps(scatters.BLUEDROP, order, reading)
            cells.append(_format_times(ours))
            wrong[reading] += [
                math.log(a / b) for a, b in zip(ours, times, strict=True)
            ]
        rows.append(["BlueDrop, ms", order, *cells])
    rows.append(_format_errors("error", wrong))
    for reading in scatters.READINGS:
        errors[reading].append(wrong[reading])
    means = {one: [_compute_rms(of) for of in errors[one]] for one in scatters.READINGS}
    rows.append(_format_errors("error of the four tables", means))
    print_table(
        ["node", "order", "measured", *scatters.READINGS],
        rows,
        title="scatter: against the standard order; steps",
        left=2,
    )


def _compute_rms(logarithms: Sequence[float]) -> float:
    """Return the root mean square of logarithmic errors."""
    return math.sqrt(sum(one * one for one in logarithms) / len(logarithms))


def _format_errors(name: str, of: dict[str, list[float]]) -> list[str]:
    return [name, "", "", *(f"{_compute_rms(one):.1%}" for one in of.values())]


def _format_times(values: Sequence[float]) -> str:
    return "/".join(f"{one:.0f}" for one in values)


if __name__ == "__main__":
    main()
