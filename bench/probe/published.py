# SPDX-License-Identifier: BSD-3-Clause
"""The probe's inference, applied to published samples: C. Karlsson 2012, ch. 3 and 4.

If only means and standard deviations are published, random samples are drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from published.network_models import (
    PAIR_BYTES,
    PAIRS,
    ROUND_TRIPS,
    SPLIT,
    parse_numbers,
)
from topoloom.model import fit_model
from topoloom.model.channels import make_pair_curve
from topoloom.model.fit import fit_split
from topoloom.probe.inference.groups import P_VALUE
from topoloom.schedules import find_cost_groups

#: Number of repetitions with random samples.
DRAWS = 200
#: Numbers of samples, by number of pairs.
_RUNS = 20

#: Table 4.7: size of both groups; t11, t12, t22, t21 and their standard deviations, us.
GROUPS = {
    "RA": (4, (30.63, 32.77, 30.53, 32.83), (0.152, 0.167, 0.092, 0.326)),
    "Kraken": (6, (41.75, 45.61, 41.38, 45.04), (0.846, 0.802, 0.833, 0.815)),
    "BlueDrop": (16, (35.15, 59.88, 34.25, 56.72), (0.347, 0.711, 0.352, 0.541)),
}
#: Table 4.8: MB/s of the slowest of 1, 2, ... pairs, standard deviations, and the
#: number of channels in the text.
CHANNELS = {
    "RA": ("1228 716 544 382", "65 52 60 58", 1),
    "Kraken": ("2113 1104 987 909 878 880", "59 63 77 64 58 103", 1),
    "BlueDrop": ("2220 2153 1212 1187 1123 1098", "72 87 68 76 62 69", 2),
}
#: Table 3.4: alpha in us, 1/beta in MB/s. One alpha is printed as 9.68, but its round
#: trips in table 3.2 give 2.68. Jaguar's round trips are not printed.
LINES = {
    "Alamode": {"inter": (8.57, 118.93), "intra": (2.68, 1046.3)},
    "RA": {"inter": (13.52, 1021.3), "intra": (4.33, 1271.0)},
}
#: Table 3.11: MB/s of all pairs, by regression over sizes whose times are not printed;
#: and channels, if the text states them. For Jaguar, the text states three, but the
#: table's totals do not rise after the second pair.
TOTALS: dict[str, dict[str, tuple[float | None, str]]] = {
    "Alamode": {"external": (171.0, ""), "internal": (1491.8, "")},
    "RA": {"external": (2712.6, "3"), "internal": (1529.7, "1")},
    "Jaguar": {"external": (2629.5, "3"), "internal": (None, "")},
}


class Row(NamedTuple):
    """A row of the table."""

    table: str
    what: str
    source: str
    ours: str


def make_rows(seed: int = 1) -> Iterator[Row]:
    """Run the inference, table by table."""
    rng = np.random.default_rng(seed)
    yield from _fit_lines()
    yield from _check_totals()
    yield from _check_groups(rng)
    yield from _check_channels(rng)


def _fit_lines() -> Iterator[Row]:
    sizes = [1024 << i for i in range(15)]
    for machine, sides in LINES.items():
        for side, (alpha, rate) in sides.items():
            times = np.array(parse_numbers(ROUND_TRIPS[machine][side])) / 2e6
            split = fit_split(sizes, times, SPLIT).model.lines[0]
            regimes = fit_model(sizes, times).model.lines
            free = "; ".join(_format_line(a, b) for a, b, _ in regimes)
            value = f"{alpha} us, {rate} MB/s"
            ours = f"{_format_line(*split[:2])}; in regimes: {free}"
            yield Row("3.4", f"{machine}, {side}", value, ours)


def _format_line(alpha: float, beta: float) -> str:
    rate = f"{1e-6 / beta:.1f} MB/s" if beta else "any rate"
    return f"{1e6 * alpha:.2f} us, {rate}"


def _check_totals() -> Iterator[Row]:
    for machine, sides in TOTALS.items():
        for side, (total, channels) in sides.items():
            trips = np.array(parse_numbers(PAIRS[machine][1][side]))
            counts = np.arange(len(trips)) + 1
            curve = make_pair_curve(counts, trips / 2e3, PAIR_BYTES)
            value = [f"{total} MB/s"] if total else []
            value += [f"{channels} channels"] if channels else []
            ours = f"{1e-6 * curve.node_bandwidth:.1f} MB/s, {curve.channels} channels"
            yield Row("3.11", f"{machine}, {side}", ", ".join(value), ours)


def _check_groups(rng: Generator) -> Iterator[Row]:
    for machine, (size, means, sigmas) in GROUPS.items():
        right = more = 0
        for _ in range(DRAWS):
            group = rng.permutation(np.repeat([0, 1], size))
            found = find_cost_groups(
                _draw_costs(rng, group, means, sigmas), significance=P_VALUE
            )
            same = np.equal.outer(group, group)
            split = np.equal.outer(found.of, found.of)
            right += bool((same == split).all())
            more += any(part.groups for part in found.groups)
        value = f"2 groups of {size}"
        ours = f"the same in {right} of {DRAWS} draws; split again in {more}"
        yield Row("4.7", machine, value, ours)


def _draw_costs(
    rng: Generator,
    group: NDArray[np.int64],
    means: tuple[float, ...],
    sigmas: tuple[float, ...],
) -> NDArray[np.float64]:
    """Draw a random matrix of costs."""
    which = np.array([[0, 1], [3, 2]])[np.ix_(group, group)]
    costs: NDArray[np.float64] = rng.normal(
        np.array(means)[which], np.array(sigmas)[which]
    )
    np.fill_diagonal(costs, 0)
    return costs


def _check_channels(rng: Generator) -> Iterator[Row]:
    for machine, (slowest, spread, channels) in CHANNELS.items():
        means, sigmas = (
            np.array(parse_numbers(slowest)),
            np.array(parse_numbers(spread)),
        )
        pairs = np.tile(np.arange(len(means)) + 1, _RUNS)
        found: Counter[int] = Counter()
        for _ in range(DRAWS):
            rates = rng.normal(means, sigmas, (_RUNS, len(means)))
            found[make_pair_curve(pairs, 1 / rates.ravel(), 1).channels] += 1
        ours = ", ".join(f"{c} in {n} of {DRAWS} draws" for c, n in found.most_common())
        yield Row("4.8", machine, f"{channels} channels", ours)
