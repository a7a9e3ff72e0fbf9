# SPDX-License-Identifier: BSD-3-Clause
"""Probes random machines in SimGrid's MPI, and compares with the truth."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from peers.tables import write_between_marks
from probe import applications, plan, published, round_trip_table, tables
from probe.compare import Outcome
from probe.measured import load, measure, save
from probe.planted import draw, large
from probe.platforms import build_noise
from probe.round_trip import RoundTrip, round_trip
from probe.true_machines import cases
from topoloom.cli.console import print_table

RESULTS = Path(__file__).parents[1] / "results"
SAVED, ROUND_TRIPS = RESULTS / "probe.jsonl", RESULTS / "probe-round-trips.jsonl"
#: Number of machines of each shape on which programs run.
EACH = 2
PARTS = ("machines", "round-trips", "plans", "published")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("probe", description=__doc__)
    parser.add_argument(
        "--machines", type=int, default=200, help="number of random machines"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the first machine")
    parser.add_argument("--effort", choices=tables.STEPS, default="default")
    parser.add_argument(
        "--keep",
        type=Path,
        help="keep files of wrongly measured machines in this folder",
    )
    parser.add_argument(
        "--saved", action="store_true", help="measure nothing; show saved outcomes"
    )
    parser.add_argument("--only", choices=PARTS, help="only this part")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the tables to this folder"
    )
    args = parser.parse_args(argv)
    page = args.docs and args.docs / "reference" / "benchmarks" / "probe.md"
    parts = [args.only] if args.only else PARTS
    wrong = 0
    if "machines" in parts:
        outcomes = (
            _load_outcomes(args.effort) if args.saved else _run_measurements(args)
        )
        wrong = sum(bool(_list_errors(outcome)) for outcome in outcomes)
        columns = (f"{len(outcomes)} machines", "target", "reached", "")
        _print_and_write_table(page, "", columns, tables.make_rows(outcomes))
    if "round-trips" in parts:
        trips = round_trip_table.load(ROUND_TRIPS) if args.saved else _run_round_trips()
        columns = (f"{len(trips)} machines", "target", "reached", "")
        _print_and_write_table(
            page, "-round-trips", columns, list(round_trip_table.make_rows(trips))
        )
    if "plans" in parts:
        _print_and_write_table(page, "-plans", plan.COLUMNS, list(plan.make_rows()))
    if "published" in parts:
        columns = ("C. Karlsson 2012", "", "source", "ours")
        _print_and_write_table(page, "-published", columns, list(published.make_rows()))
    if wrong:
        sys.exit(f"{wrong} of {len(outcomes)} machines were measured wrongly")


def _run_measurements(args: argparse.Namespace) -> list[Outcome]:
    outcomes = []
    seeds = range(args.seed, args.seed + args.machines)
    with tempfile.TemporaryDirectory() as folder:
        noise = build_noise(Path(folder))
        for seed in track(seeds, "probing", console=Console(stderr=True)):
            outcomes.append(measure(draw(seed), args.effort, noise, args.keep))
            save(outcomes[-1:], SAVED)
            print(_format_row(outcomes[-1]), file=sys.stderr, flush=True)
        took = measure(large(), args.effort, noise, args.keep)
    wall, cpu = took.seconds, took.cpu_seconds
    print(f"256 ranks on 64 hosts: {wall:.1f} s, CPU {cpu:.1f} s; target 60 s")
    return outcomes


def _run_round_trips() -> list[RoundTrip]:
    trips = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        programs, noise = applications.build(home), build_noise(home)
        for case in track(list(cases(EACH)), "running", console=Console(stderr=True)):
            with tempfile.TemporaryDirectory(dir=home) as own:
                trips.append(round_trip(case, programs, noise, Path(own)))
            round_trip_table.save(trips[-1], ROUND_TRIPS)
    return trips


def _format_row(outcome: Outcome) -> str:
    head = f"{outcome.seed:5} {outcome.ranks:4} ranks, noise {outcome.noise:3.0%}"
    return f"{head} {outcome.seconds:5.1f} s {'; '.join(_list_errors(outcome))}"


def _list_errors(outcome: Outcome) -> list[str]:
    if outcome.ended:
        return [outcome.ended]
    wrong = [] if outcome.groups_right else [f"groups {min(outcome.rand):.4f}"]
    if outcome.slow and not outcome.found:
        wrong.append(f"no slow {outcome.slow}")
    return [*wrong, *outcome.alarms]


def _load_outcomes(effort: str) -> list[Outcome]:
    return [outcome for outcome in load(SAVED) if outcome.effort == effort]


def _print_and_write_table(
    page: Path | None,
    part: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> None:
    """Print a table, and write it between the markers of a page."""
    print_table(columns, rows, left=len(columns))
    if page is not None:
        lines = [columns, ["---"] * len(columns), *rows]
        text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        name = f"bench-probe{part}"
        write_between_marks(
            page, text.rstrip(), f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        )


if __name__ == "__main__":
    main()
