# SPDX-License-Identifier: BSD-3-Clause
"""Times of messages: Kumar 2005, chapter 2, and Karlsson 2012, chapter 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from published.table import Ours
from topoloom.model.channels import make_pair_curve
from topoloom.model.fit import Fit, fit_model, fit_split
from topoloom.model.model_names import load_model

KUMAR, KARLSSON = "Kumar 2005", "Karlsson 2012"
Times = tuple[float, ...]
PRINTED = "of round trips as they are printed, to four or five digits"
#: Their accuracy.
ROUNDED = 5e-4

#: Microseconds per message of 16 B, 64 B, ..., 256 KB, in series of 128 messages.
MULTI_PING: dict[str, Times] = {
    "Table 2.7 (QsNet multi-ping, two-way)": (
        9.8,
        11.6,
        13.6,
        21.4,
        44.4,
        139,
        532,
        2109,
    ),
    "Table 2.13 (Myrinet two-way multi-ping)": (
        9.4,
        9.2,
        9.7,
        11.4,
        25.4,
        71.8,
        269,
        1063,
    ),
}
PINGED = [16 * 4**i for i in range(8)]
#: Models of the thesis for these tables.
MODELS = {
    "Table 2.7 (QsNet multi-ping, two-way)": "qsnet",
    "Table 2.13 (Myrinet two-way multi-ping)": "myrinet",
}

#: Tables 3.1 and 3.2: round trips of 1 kB, 2 kB, ..., 16 MB in microseconds.
ROUND_TRIPS = {
    "RA": {
        "inter": "17.31 22.7 27.23 52.38 77.99 89.67 140 240 460 860 1720 3520 7860 "
        "16410 32610",
        "intra": "10.78 8.82 18.12 22.51 41.13 74.43 130 230 450 870 1690 3350 6650 "
        "13230 26440",
    },
    "Alamode": {
        "inter": "56.92 75.88 110 190 330 620 1390 2350 4570 9090 18040 35760 71620 "
        "143200 281800",
        "intra": "4.86 7.62 12.04 20.87 38.42 82.67 130 230 450 980 1730 3740 8100 "
        "16030 31930",
    },
}
SPLIT = 64 * 1024
#: Round trips of 8 MB in milliseconds while 1, 2, ... pairs exchange.
PAIRS: dict[str, tuple[str, dict[str, str]]] = {
    "Alamode": (
        "Table 3.8 (Alamode total bandwidth)",
        {"external": "136.9 203.3 257.1 334.2", "internal": "13.702 19.074"},
    ),
    "RA": (
        "Table 3.9 (RA total bandwidth)",
        {
            "external": "13.024 14.091 16.515 16.236 21.842 24.909 31.29 38.273",
            "internal": "12.536 22.324 29.36 41.863",
        },
    ),
    "Jaguar": (
        "Table 3.10 (Jaguar total bandwidth)",
        {
            "external": "9.7116 10.475 17.78 24.346 32.112 34.533 41.201 41.65 43.057 "
            "46.91 48.103 55.741",
            "internal": "7.5703 12.853 13.816 14.883 18.028 17.098",
        },
    ),
}
PAIR_BYTES = 8 * 1024**2


def compute_values() -> Iterator[Ours]:
    """Compute the values of both chapters."""
    yield from predict_multi_pings()
    yield from predict_overheads()
    yield from fit_parameters()
    yield from fit_regressions()
    yield from compute_pair_bandwidths()


def predict_multi_pings() -> Iterator[Ours]:
    """Predict times from the regression lines of the text."""
    for table, name in MODELS.items():
        model = load_model(name).model
        for size in PINGED:
            predicted = model.time(size) * 1e6
            note = "by the lines that the text draws through this table"
            yield Ours(
                KUMAR, table, str(size), "time per message", predicted, note, 0.05
            )


def predict_overheads() -> Iterator[Ours]:
    """Predict CPU times, and times of a node's concurrently sending processes.

    The overhead per end is from the two-way table of QsNet with four processes per
    node, and from the one-way tables of the others; the other tables are predicted.
    """
    qsnet, myrinet = load_model("qsnet").model, load_model("myrinet").model
    infiniband = load_model("infiniband-4x").model
    one_way, two_way = (
        "Table 2.4 (QsNet Converse latency and CPU overhead)",
        "Table 2.5 (QsNet two-way traffic)",
    )
    for size in PINGED[:5]:
        for column in ("CPU PPN=1", "CPU PPN=4"):
            note = "of one end; measured overheads do not rise evenly with the size"
            found = 1e6 * qsnet.send_cpu(size)
            yield Ours(KUMAR, one_way, str(size), column, found, note, 0.16)
        note = "of both ends, with the overhead that four processes per node have"
        found = 1e6 * qsnet.cpu(size)
        yield Ours(KUMAR, two_way, str(size), "CPU PPN=1", found, note, 0.17)
        note = "by the gaps of a stream; a ping-pong takes longer"
        found = 1e6 * qsnet.time(size)
        yield Ours(KUMAR, two_way, str(size), "latency PPN=1", found, note, 0.2)
        if size > PINGED[0]:  # the NIC's time per message dominates at 16 B
            found = 1e6 * qsnet.time(size, 4)
            yield Ours(KUMAR, two_way, str(size), "latency PPN=4", found, note, 0.25)
    for size in PINGED:
        note = "of both ends, by a line through those of one end up to 64 KB"
        found = 1e6 * myrinet.cpu(size)
        table = "Table 2.11 (Myrinet two-way)"
        yield Ours(KUMAR, table, str(size), "CPU overhead", found, note, 0.25)
    for size in PINGED[:7]:
        note = "of one end, the same for all sizes; two-way is published as one-way"
        found = 1e6 * infiniband.send_cpu(size)
        table = "Table 2.16 (Infiniband ping-pong two-way)"
        yield Ours(KUMAR, table, str(size), "CPU overhead", found, note, 0.2)


def fit_parameters() -> Iterator[Ours]:
    """Fit the constants of the text to its times."""

    def make_value(row: str, ours: float, note: str, stated: str = "") -> Ours:
        table = "in text: 2.4 model parameters"
        return Ours(KUMAR, table, row, "value", ours, note, 0.1, stated)

    fits = {name: _fit_table(table) for table, name in MODELS.items()}
    worst = {name: 100 * abs(fit.errors).max() for name, fit in fits.items()}
    alpha, beta, _ = fits["qsnet"].model.lines[-1]
    note = (
        f"of the long messages in our fit, which errs by {worst['qsnet']:.0f} % at most"
    )
    yield make_value("QsNet alpha, m<288 B or m>2 KB", 1e6 * alpha, note)
    yield make_value("QsNet beta, m<288 B or m>2 KB", 1e9 * beta, note)
    note = f"our fit has two regimes and errs by {worst['myrinet']:.1f} % at most"
    for name, stated, (alpha, beta, _) in zip(
        "AB", ("9.2", "5.7"), fits["myrinet"].model.lines, strict=True
    ):
        slope = f"{note}; the slope is {1e9 * beta:.1f} ns/B"
        yield make_value(f"Myrinet line {name}", 1e6 * alpha, slope, stated)


def _fit_table(table: str) -> Fit:
    return fit_model(PINGED, np.array(MULTI_PING[table]) / 1e6)


def fit_regressions() -> Iterator[Ours]:
    """Fit alpha and beta to round trips."""
    sizes = [1024 << i for i in range(15)]
    slips = {
        ("Alamode", "alpha_I"): "printed 9.68; the round trips of table 3.2 give 2.68",
        ("Alamode", "1/beta_E"): PRINTED,
    }
    for machine, ways in ROUND_TRIPS.items():
        for side, way in (("E", "inter"), ("I", "intra")):
            one_way = np.array(parse_numbers(ways[way])) / 2e6
            alpha, beta, _ = fit_split(sizes, one_way, SPLIT).model.lines[0]
            for column, ours in (
                (f"alpha_{side}", 1e6 * alpha),
                (f"1/beta_{side}", 1e-6 / beta),
            ):
                note = slips.get((machine, column), "")
                table = "Table 3.4 (regression)"
                yield Ours(KARLSSON, table, machine, column, ours, note, ROUNDED)


def compute_pair_bandwidths() -> Iterator[Ours]:
    """Compute total bandwidths from the curves of round trips."""
    swapped = "rows 2 and 3 are swapped in print"
    for machine, (table, sides) in PAIRS.items():
        for side, printed in sides.items():
            trips = np.array(parse_numbers(printed))
            counts = np.arange(len(trips)) + 1
            curve = make_pair_curve(counts, trips / 2e3, PAIR_BYTES)
            for pairs, total in zip(counts.tolist(), curve.totals / 1e6, strict=True):
                swap = (machine, side) == ("Alamode", "external") and pairs in (2, 3)
                row, note = f"{pairs}<->{pairs}", swapped if swap else PRINTED
                yield Ours(KARLSSON, table, row, side, float(total), note, ROUNDED)


def parse_numbers(printed: str) -> list[float]:
    """Parse the numbers of a column."""
    return [float(word) for word in printed.split()]
