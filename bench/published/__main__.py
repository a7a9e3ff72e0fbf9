# SPDX-License-Identifier: BSD-3-Clause
"""Prints every published value that we know how to compute beside ours."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.progress import track

import published
from published.table import Pair, pair_up, read_published
from topoloom.cli.console import print_table

#: The modules beside this one that compute values.
SECTIONS = sorted(
    module.name
    for module in pkgutil.iter_modules(published.__path__)
    if module.name not in ("__main__", "table")
)


def shown(value: float | str) -> str:
    """Return a number without digits that mean nothing."""
    return value if isinstance(value, str) else f"{value:,.6g}"


def print_pairs(pairs: list[Pair]) -> None:
    """Print a table of each table."""
    for (source, table), rows in groupby(
        pairs, lambda pair: (pair.ours.source, pair.ours.table)
    ):
        print_table(
            ("row", "column", "published", "ours", ""),
            [
                (
                    pair.ours.row,
                    pair.ours.column,
                    pair.published,
                    shown(pair.ours.value),
                    "equal" if pair.equal else pair.ours.note or "DIFFERS",
                )
                for pair in rows
            ],
            title=f"{source}, {table}",
            left=2,
        )


def main() -> None:
    """Do what the command line says; fail if a value differs that must not."""
    parser = argparse.ArgumentParser("published", description=__doc__)
    parser.add_argument("values", type=Path, help="CSV of what was published")
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all"
    )
    asked = parser.parse_args()
    for name in asked.sections:
        if name not in SECTIONS:
            parser.error(f"no section {name!r}; there are {', '.join(SECTIONS)}")
    if not asked.values.is_file():
        parser.error(f"cannot read {asked.values}: no such file")
    values = read_published(asked.values)
    pairs = []
    console = Console(stderr=True)
    for name in track(asked.sections or SECTIONS, "computing", console=console):
        rows = importlib.import_module(f"published.{name}").rows()
        pairs += pair_up(rows, values)
    print_pairs(pairs)
    exact = [pair for pair in pairs if pair.kind == "exact"]
    equal = sum(pair.equal for pair in exact)
    print(f"{equal} of {len(exact)} values that must come out do, of {len(pairs)}")
    if any(pair.wrong for pair in pairs):
        sys.exit("values that must come out differ, and nothing says why")


if __name__ == "__main__":
    main()
