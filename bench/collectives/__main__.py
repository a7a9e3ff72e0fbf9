# SPDX-License-Identifier: BSD-3-Clause
"""Measures collectives by predicted costs and in SimGrid's MPI; see ``--help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import smpi
from collectives import fitted, loggopsim, orders, tables
from collectives.platforms import PLACEMENTS, PLATFORMS
from collectives.simulated import (
    AUTO,
    OPERATIONS,
    RANKS,
    SIZES,
    Done,
    Job,
    jobs,
    load,
    overlap,
    save,
    simulate_job,
)
from peers.tables import write_between_marks

HERE = Path(__file__).parent
SAVED = HERE.parent / "results" / "collectives.jsonl"
#: Collectives by name, shared with `topoloom collective measure`.
SHARED = ("timing/operations.c", "measure/our_operations.c")
#: Numbers of ranks, and bytes per pair, of alltoalls that overlap computation.
OVERLAPPED = 256
HIDDEN = (4096,)
#: The chosen schedule, and schedules with fewer messages that take longer without
#: overlap.
HIDDEN_BY = (AUTO, "bruck(radix=4)", "bruck(radix=3)", "bruck")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("collectives", description=__doc__)
    parser.add_argument("--only", default="", help="only machines with this prefix")
    parser.add_argument(
        "--ranks", type=int, choices=RANKS, help="simulate only this number of ranks"
    )
    parser.add_argument(
        "--order", choices=PLACEMENTS, help="simulate only this order of ranks"
    )
    parser.add_argument(
        "--operation",
        choices=OPERATIONS,
        default="",
        help="simulate only this operation",
    )
    parser.add_argument(
        "--bytes", type=int, choices=SIZES, default=0, help="simulate only this size"
    )
    parser.add_argument(
        "--overlap", action="store_true", help="only overlap with computation"
    )
    parser.add_argument(
        "--fitted", action="store_true", help="only schedules that fit a machine"
    )
    parser.add_argument(
        "--loggopsim",
        type=Path,
        metavar="FOLDER",
        help="only the comparison with LogGOPSim",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the tables to this folder"
    )
    args = parser.parse_args(argv)
    page = args.docs and args.docs / "reference" / "benchmarks" / "collectives.md"
    platforms = [name for name in PLATFORMS if name.startswith(args.only)]
    some = args.ranks or args.order or args.operation or args.bytes
    if args.loggopsim:
        _print_loggopsim_table(args.loggopsim, page)
    elif args.fitted:
        _print_fitted_table(page)
    elif args.overlap:
        _simulate_overlaps(platforms, page)
    else:
        if not some:
            _print_and_write_table(page, "", orders.compare(args.only))
            if not args.only:
                _print_fitted_table(page)
        if platforms:
            _simulate_jobs(platforms, args, page)
            if not some:
                _simulate_overlaps(platforms, page)


def _print_loggopsim_table(sources: Path, page: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        programs = loggopsim.build(sources, Path(folder))
        messages = loggopsim.predict(programs, loggopsim.model())
        work = loggopsim.predict(programs, loggopsim.model(gamma=1e-10, reduce=2e-10))
        _print_and_write_table(page, "-loggopsim", loggopsim.table(messages, work))


def _print_fitted_table(page: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for row in fitted.measure(_build_program(Path(folder))):
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
    _print_and_write_table(page, "-fitted", fitted.table(rows))


def _build_program(folder: Path) -> Path:
    compiler = smpi.find("smpicc", "libsimgrid-dev")
    return smpi.build(HERE / "measure.c", compiler, folder, SHARED)


def _simulate_jobs(
    platforms: Sequence[str], args: argparse.Namespace, page: Path | None
) -> None:
    saved = load(SAVED)
    done: dict[Job, Done] = defaultdict(set)
    for cell in saved:
        job = cell.platform, cell.placement, cell.ranks
        done[job].add((cell.by, cell.operation, cell.bytes))
    ranks = [args.ranks] if args.ranks else list(RANKS)
    with tempfile.TemporaryDirectory() as folder:
        program = _build_program(Path(folder))
        for job in jobs(platforms, ranks):
            if args.order not in (None, job[1]):
                continue
            left = simulate_job(program, job, done[job], args.operation, args.bytes)
            start = perf_counter()
            for cells in left:
                what, took = cells[0], perf_counter() - start
                words = *job, what.operation, what.bytes, what.by, f"{took:.0f} s"
                print(*words, file=sys.stderr, flush=True)
                save(cells, SAVED)
                saved += cells
                start = perf_counter()
    groups = tables.group(saved)
    calls = tables.calls_table(groups)
    summaries = page
    if page and not tables.has_rows(
        calls, _read_table(page, "-calls"), tables.CALL_KEY
    ):
        print("bench: means need all calls of the page, so those stay", file=sys.stderr)
        summaries = None
    _print_and_write_table(
        page, "-calls", calls, tables.CALL_KEY, tables.get_call_order
    )
    _print_and_write_table(summaries, "-gains", tables.gains_table(groups))
    _print_and_write_table(summaries, "-predictions", tables.predictions_table(groups))


def _simulate_overlaps(platforms: Sequence[str], page: Path | None) -> None:
    hidden = []
    with tempfile.TemporaryDirectory() as folder:
        program = _build_program(Path(folder))
        for platform in platforms:
            for size in HIDDEN:
                for by in HIDDEN_BY:
                    hidden.append(overlap(program, platform, OVERLAPPED, size, by))
                    print(hidden[-1], file=sys.stderr, flush=True)
    _print_and_write_table(
        page, "-overlap", tables.overlap_table(hidden), tables.OVERLAP_KEY
    )


def make_markers(part: str) -> tuple[str, str]:
    """Return the markers around a table in a page."""
    name = f"bench-collectives{part}"
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def _read_table(page: Path, part: str) -> str:
    """Read a table of a page."""
    begin, end = make_markers(part)
    return page.read_text().partition(begin)[2].partition(end)[0].strip()


def _print_and_write_table(
    page: Path | None,
    part: str,
    table: str,
    key: int = 0,
    order: tables.RowOrder | None = None,
) -> None:
    """Print a table and write it to a page; with a key, keep the page's other rows."""
    print(table, end="\n\n", flush=True)
    if page:
        if key:
            table = tables.merge_tables(table, _read_table(page, part), key, order)
        write_between_marks(page, table, *make_markers(part))


if __name__ == "__main__":
    main()
