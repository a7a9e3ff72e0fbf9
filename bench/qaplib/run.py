# SPDX-License-Identifier: BSD-3-Clause
"""Solves QAPLIB instances and compares with the best known values.

The folder holds the instances as ``*.dat`` and ``best_known.csv`` with the columns
``name`` and ``best_known``. Every instance has a time limit by its order n, and ends
early at the best known value:

n <= 40 5 s, to reach the best known value exactly n <= 100 60 s, to come within 0.1 %
larger 120 s; tho150 at most 8,140,000, tai256c at most 44,800,000

Prints a table and the missed targets; a miss is not a failure.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path
from typing import NamedTuple

from topoloom.graphs.qaplib import QapProblem, load_qap
from topoloom.placements import solve_qap

LARGE_TARGETS = {"tho150": 8_140_000, "tai256c": 44_800_000}
HEAD = (
    f"{'instance':10} {'n':>4} {'best known':>13} {'ours':>13} {'gap %':>8} "
    f"{'to best s':>9} {'CPU s':>8}"
)


class Run(NamedTuple):
    """Result of an instance."""

    instance: str
    n: int
    best_known: int
    value: int
    gap_percent: float
    seconds_to_best: float
    cpu_seconds: float
    work: int
    seed: int
    target: float
    reached: bool


def main() -> None:
    """Solve the instances, print results, and write the requested files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="instances and best_known.csv")
    parser.add_argument("names", nargs="*", help="instances to solve; default: all")
    parser.add_argument("--up-to", type=int, metavar="N", help="only orders up to N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    parser.add_argument(
        "--time-factor", type=float, default=1, help="multiplies every time limit"
    )
    parser.add_argument("--json", type=Path, help="append one JSON line per instance")
    options = parser.parse_args()

    best_known = read_best_known(options.folder / "best_known.csv")
    unknown = sorted(set(options.names) - set(best_known))
    if unknown:
        parser.error(f"best_known.csv does not have {', '.join(unknown)}")
    print(HEAD)
    runs = []
    for name in options.names or best_known:
        problem = load_qap(options.folder / f"{name}.dat")
        if options.up_to and len(problem.a) > options.up_to:
            continue
        run = solve(name, problem, best_known[name], options)
        print(format_row(run), flush=True)
        if options.json:
            with options.json.open("a") as stream:
                stream.write(json.dumps(run._asdict()) + "\n")
        runs.append(run)
    missed = [run for run in runs if not run.reached]
    print(f"{len(runs) - len(missed)} of {len(runs)} targets reached")
    for run in missed:
        print(f"missed: {run.instance} {run.value:,}, target {run.target:,.0f}")


def read_best_known(path: Path) -> dict[str, int]:
    """Read the best known values by name, in the order of the file."""
    with path.open(newline="") as stream:
        return {row["name"]: int(row["best_known"]) for row in csv.DictReader(stream)}


def get_search_limits(name: str, n: int, best_known: int) -> tuple[float, float]:
    """Return the time limit in seconds, and the target value."""
    if n <= 40:
        return 5, best_known
    if n <= 100:
        return 60, best_known * 1.001
    return 120, LARGE_TARGETS.get(name, best_known * 1.001)


def solve(
    name: str, problem: QapProblem, best_known: int, options: argparse.Namespace
) -> Run:
    """Solve one instance and check the answer."""
    n = len(problem.a)
    seconds, target = get_search_limits(name, n, best_known)
    wall, cpu = time.perf_counter(), time.process_time()
    permutation, value, work = solve_qap(
        problem.a,
        problem.b,
        seed=options.seed,
        seconds=seconds * options.time_factor,
        threads=options.threads,
        target=best_known,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if sorted(permutation) != list(range(n)) or problem.value(permutation) != value:
        raise SystemExit(f"{name}: the solver returned a wrong permutation or value")
    gap = 100 * (value - best_known) / max(1, best_known)
    return Run(
        instance=name,
        n=n,
        best_known=best_known,
        value=value,
        gap_percent=round(gap, 4),
        seconds_to_best=round(wall, 3),
        cpu_seconds=round(cpu, 3),
        work=work,
        seed=options.seed,
        target=target,
        reached=value <= target,
    )


def format_row(run: Run) -> str:
    """Format a row of the table; misses are marked."""
    to_best = (
        f"{run.seconds_to_best:9.2f}" if run.value <= run.best_known else f"{'-':>9}"
    )
    return (
        f"{run.instance:10} {run.n:4} {run.best_known:13,} {run.value:13,} "
        f"{run.gap_percent:8.4f} {to_best} {run.cpu_seconds:8.2f}"
        f"{'' if run.reached else '  missed'}"
    )


if __name__ == "__main__":
    main()
