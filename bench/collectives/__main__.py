# SPDX-License-Identifier: BSD-3-Clause
"""Measures collectives by their costs and in SimGrid's MPI; see ``--help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import smpi
from collectives import orders, tables
from collectives.simulated import (
    RANKS,
    jobs,
    load,
    overlap,
    save,
    simulate_job,
)
from peers.tables import paste

HERE = Path(__file__).parent
SAVED = HERE.parent / "results" / "collectives.jsonl"
#: Ranks and bytes of a pair whose all-to-alls are hidden behind computing.
OVERLAPPED = (256, (4096, 16384))


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("collectives", description=__doc__)
    parser.add_argument("--only", default="", help="machines whose names begin so")
    parser.add_argument(
        "--ranks", type=int, choices=RANKS, help="simulate only this number of ranks"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the tables there"
    )
    asked = parser.parse_args(given)
    page = asked.docs and asked.docs / "reference" / "benchmarks.md"
    if not asked.ranks:
        _show(page, "", orders.compare(asked.only))
    with tempfile.TemporaryDirectory() as folder:
        compiler = smpi.find("smpicc", "libsimgrid-dev")
        program = smpi.build(HERE / "measure.c", compiler, Path(folder))
        saved = load(SAVED)
        known = {(cell.platform, cell.placement, cell.ranks) for cell in saved}
        for job in jobs(asked.only, [asked.ranks] if asked.ranks else list(RANKS)):
            if job in known:
                continue
            print(*job, file=sys.stderr, flush=True)
            cells = simulate_job(program, *job)
            save(cells, SAVED)
            saved += cells
        ranks, sizes = OVERLAPPED
        hidden = [
            overlap(program, platform, ranks, size)
            for platform in ("flat", "fat tree")
            for size in sizes
        ]
    groups = tables.group(saved)
    _show(page, "-calls", tables.calls_table(groups))
    _show(page, "-gains", tables.gains_table(groups))
    _show(page, "-predictions", tables.predictions_table(groups))
    _show(page, "-overlap", tables.overlap_table(hidden))


def _show(page: Path | None, part: str, table: str) -> None:
    print(table, end="\n\n", flush=True)
    if page:
        paste(
            page,
            table,
            *(f"<!-- bench-collectives{part}: {at} -->" for at in ("begin", "end")),
        )


if __name__ == "__main__":
    main()
