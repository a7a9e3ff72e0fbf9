# SPDX-License-Identifier: BSD-3-Clause
"""The documentation page of all published values that we compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from published.standing import STANDINGS
from published.table import Pair

HEAD = """\
# Published values, and ours

Values of the papers that Topoloom builds on, where one of its models computes them. No
published value is an input of its own computation. *Equal*: to the printed digits.
*Within*: an input is known only roughly, and ours is as near as the row says. *Off*: a
sentence says why. `make bench-published` computes the page and fails when a value gets
worse; `ARGS=--record` writes it.
"""


def format_value(value: float | str) -> str:
    """Format a number without insignificant digits."""
    return value if isinstance(value, str) else f"{value:,.6g}"


def counts(pairs: Sequence[Pair]) -> Iterator[tuple[str, ...]]:
    """Count the standings by source, and in total."""
    named = sorted({pair.ours.source for pair in pairs})
    for source in (*named, "all"):
        of = Counter(
            pair.standing for pair in pairs if source in ("all", pair.ours.source)
        )
        yield source, str(of.total()), *(str(of[name]) for name in STANDINGS)


def _format_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _format_table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield _format_row(head)
    yield _format_row(["---"] * len(head))
    yield from map(_format_row, rows)


def _list_cells(pair: Pair) -> tuple[str, ...]:
    ours = pair.ours
    near = f" {100 * ours.within:g} %" if pair.standing == "within" else ""
    words = f"{pair.standing}{near}"
    if pair.standing != "equal":
        words += f": {ours.note}"
    return ours.row, ours.column, pair.published, format_value(ours.value), words


def page(pairs: Sequence[Pair]) -> str:
    """Return the page in Markdown."""
    lines = [
        HEAD,
        *_format_table(("source", "computed", *STANDINGS), counts(pairs)),
    ]
    for source, of_source in groupby(pairs, lambda pair: pair.ours.source):
        lines += ["", f"## {source}"]
        for table, of_table in groupby(of_source, lambda pair: pair.ours.table):
            head = ("row", "column", "published", "ours", "")
            lines += [
                "",
                f"### {table}",
                "",
                *_format_table(head, map(_list_cells, of_table)),
            ]
    return "\n".join(lines) + "\n"
