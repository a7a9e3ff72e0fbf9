# SPDX-License-Identifier: BSD-3-Clause
"""Round trips of all machines in one table, with targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from probe.round_trip import PlacedPattern, RoundTrip, Times
from probe.tables import Row

#: Accepted errors of times and of hop-bytes.
TIME, HOP_BYTES = 0.1, 0.03


def make_rows(trips: Sequence[RoundTrip]) -> Iterator[Row]:
    """Summarize by program and shape."""
    every = [(trip.name, times) for trip in trips for times in trip.times]
    ways: dict[str, Callable[[Times], float]] = {
        "our simulation": lambda times: times.ours / times.true - 1,
        "SimGrid, exported": lambda times: times.exported / times.true - 1,
    }
    for way, error in ways.items():
        yield _summarize_errors(way, [error(times) for _, times in every], TIME)
        for program in dict.fromkeys(times.program for _, times in every):
            of = [error(times) for _, times in every if times.program == program]
            yield _summarize_errors(f"{way}, {program}", of, TIME)
        for shape in dict.fromkeys(shape for shape, _ in every):
            of = [error(times) for name, times in every if name == shape]
            yield _summarize_errors(f"{way}, {shape}", of, TIME)
    placed = [each for trip in trips for each in trip.placed]
    yield _summarize_errors(
        "hop-bytes of placements", list(map(_compute_excess, placed)), HOP_BYTES
    )
    for name in dict.fromkeys(each.pattern for each in placed):
        of = [_compute_excess(each) for each in placed if each.pattern == name]
        yield _summarize_errors(f"hop-bytes of placements, {name}", of, HOP_BYTES)


def _compute_excess(placed: PlacedPattern) -> float:
    """Return the relative excess over the placement on the true machine."""
    return placed.probed / placed.true - 1 if placed.true else 0.0


def _summarize_errors(what: str, errors: Sequence[float], most: float) -> Row:
    sizes = np.abs(errors)
    if most == HOP_BYTES:  # negative errors are improvements
        sizes = np.maximum(errors, 0)
    good = int((sizes <= most).sum())
    worst = errors[int(sizes.argmax())]
    quantiles = f"median {np.median(sizes):.1%}, 95th {np.quantile(sizes, 0.95):.1%}"
    reached = f"{good} of {len(errors)} ({good / len(errors):.0%})"
    return Row(what, f"within {most:.0%}", reached, f"{quantiles}, worst {worst:+.1%}")


def save(trip: RoundTrip, file: Path) -> None:
    """Append the result to a file of JSON Lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        stream.write(json.dumps(asdict(trip)) + "\n")


def load(file: Path) -> list[RoundTrip]:
    """Read saved results; the last one per machine counts."""
    found: dict[tuple[str, int], RoundTrip] = {}
    for text in file.read_text().splitlines():
        fields = json.loads(text)
        times = [Times(**each) for each in fields.pop("times")]
        placed = [PlacedPattern(**each) for each in fields.pop("placed")]
        trip = RoundTrip(**fields, times=times, placed=placed)
        found[trip.name, trip.seed] = trip
    return list(found.values())
