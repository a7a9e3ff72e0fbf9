# SPDX-License-Identifier: BSD-3-Clause
"""Prints our models' values next to the published values that they reproduce."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.progress import track

import published
from published.page import counts, format_value, page
from published.standing import (
    STANDINGS,
    list_missing_values,
    list_worsened_values,
    read_standings,
    record_standings,
)
from published.table import Pair, pair_up, read_published
from topoloom.cli.console import print_table

PAGE = Path("docs/reference/published.md")
#: Modules of this package that compute values.
SECTIONS = sorted(
    module.name
    for module in pkgutil.iter_modules(published.__path__)
    if module.name not in ("__main__", "page", "standing", "table")
)


def print_pairs(pairs: Sequence[Pair]) -> None:
    """Print one table per published table."""
    for (source, table), rows in groupby(
        pairs, lambda pair: (pair.ours.source, pair.ours.table)
    ):
        print_table(
            ("row", "column", "published", "ours", "", ""),
            [
                (
                    pair.ours.row,
                    pair.ours.column,
                    pair.published,
                    format_value(pair.ours.value),
                    pair.standing,
                    "" if pair.standing == "equal" else pair.ours.note,
                )
                for pair in rows
            ],
            title=f"{source}, {table}",
            left=2,
        )


def find_faults(pairs: Sequence[Pair], everything: bool) -> list[str]:
    """List unexplained differences, and values with a worse standing than recorded."""
    recorded = read_standings()
    return [
        *(
            f"{', '.join(pair.ours.key)}: differs, and nothing says why"
            for pair in pairs
            if pair.unexplained
        ),
        *list_worsened_values(pairs, recorded),
        *(list_missing_values(pairs, recorded) if everything else ()),
    ]


def main() -> None:
    """Run the command line; fail if a value's standing is worse than recorded."""
    parser = argparse.ArgumentParser("published", description=__doc__)
    parser.add_argument("values", type=Path, help="CSV of published values")
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="record all standings, and write the page",
    )
    args = parser.parse_args()
    for name in args.sections:
        if name not in SECTIONS:
            parser.error(f"no section {name!r}; there are {', '.join(SECTIONS)}")
    if args.record and args.sections:
        parser.error("--record is for all sections: leave SECTION out")
    if not args.values.is_file():
        parser.error(f"cannot read {args.values}: no such file")
    console = Console(stderr=True)
    found = [
        ours
        for name in track(args.sections or SECTIONS, "computing", console=console)
        for ours in importlib.import_module(f"published.{name}").compute_values()
    ]
    pairs = pair_up(found, read_published(args.values))
    print_pairs(pairs)
    print_table(("source", "computed", *STANDINGS), list(counts(pairs)), left=1)
    if args.record:
        record_standings(pairs)
        PAGE.write_text(page(pairs))
    if faults := find_faults(pairs, everything=not args.sections):
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
