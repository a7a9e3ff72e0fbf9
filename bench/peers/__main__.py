# SPDX-License-Identifier: BSD-3-Clause
"""Runs tools on instances, scores answers, and prints tables; see ``--help``."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

from peers import instances, tables, tools
from peers.best_known import BestKnownValue, BestKnownValues
from peers.instance import Instance
from peers.measure import Run, make_unscored_run, measure
from topoloom.support.plain_text import split_at_commas

OUT = instances.ROOT / "build" / "bench-peers"


def parse_options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        "peers", description="Topoloom beside its peers: quality, time and memory."
    )
    parser.add_argument(
        "--sets",
        type=split_at_commas,
        help=f"of {', '.join(instances.SETS)}; less scale",
    )
    parser.add_argument("--instances", default="*", metavar="PATTERN")
    names = ", ".join(tool.name for tool in tools.TOOLS if tool.adapter)
    parser.add_argument(
        "--tools", type=split_at_commas, default=[], help=f"of {names}; all"
    )
    parser.add_argument("--efforts", type=split_at_commas, default=[])
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument(
        "--repeat", type=int, default=1, help="repetitions; tables show medians"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", action="store_true", help="also run the set scale")
    parser.add_argument("--append", action="store_true", help="add to earlier results")
    parser.add_argument(
        "--report",
        action="store_true",
        help="run nothing; print tables of earlier results",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--no-registry", action="store_true")
    chosen = parser.parse_args(argv)
    if chosen.sets is None:
        chosen.sets = [name for name in instances.SETS if name != "scale"]
    if chosen.scale and "scale" not in chosen.sets:
        chosen.sets.append("scale")
    for what, names, there in (
        ("set", chosen.sets, list(instances.SETS)),
        ("tool", chosen.tools, [tool.name for tool in tools.TOOLS]),
    ):
        for name in names:
            if name not in there:
                parser.error(f"no {what} {name!r}; there are {', '.join(there)}")
    return chosen


def main() -> None:
    """Run the command line."""
    args = parse_options()
    OUT.mkdir(parents=True, exist_ok=True)
    results = OUT / "results.jsonl"
    args.append |= args.report
    if results.exists() and not args.append:
        results.replace(OUT / "results.previous.jsonl")
    runs = read_runs(results) if results.exists() else []
    best_known = BestKnownValues()
    pairs = tools.select_tools(args.tools, args.efforts)
    missing: list[str] = []
    late = TimeoutTracker()
    with results.open("a") as log:
        for name in [] if args.report else args.sets:
            for recipe in instances.SETS[name]():
                if not fnmatch(recipe.name, args.instances):
                    continue
                if recipe.missing():
                    missing.append(recipe.missing())
                    continue
                instance = recipe.get()
                for tool, effort in pairs:
                    if not tools.is_applicable(effort, instance):
                        continue
                    run = late.make_skipped_run(instance, tool, effort)
                    if run is None:
                        run = measure_repeatedly(instance, tool, effort, args)
                        late.record_timeout(instance, run)
                    offer_value(best_known, run)
                    runs = [old for old in runs if not is_same_run(old, run)] + [run]
                    log.write(json.dumps(asdict(run)) + "\n")
                    log.flush()
                    print(
                        tables.format_progress_line(run, best_known),
                        file=sys.stderr,
                        flush=True,
                    )
                if not args.no_registry:
                    best_known.save()
    text = tables.format_report(runs, best_known, missing)
    print(text)
    if args.markdown:
        tables.write_between_marks(args.markdown, text)
    if runs:
        draw_profiles(runs, best_known)


class TimeoutTracker:
    """Skips a tool on instances no smaller than one of the set where it timed out."""

    def __init__(self) -> None:
        self._size: dict[tuple[str, str, str], tuple[int, int]] = {}

    def record_timeout(self, instance: Instance, run: Run) -> None:
        """Record a run that timed out."""
        if run.outcome == "timeout":
            size = instance.graph.size, instance.slots
            self._size.setdefault((instance.group, run.tool, run.effort), size)

    def make_skipped_run(
        self, instance: Instance, tool: tools.Tool, effort: str
    ) -> Run | None:
        """Return a timeout without a run, if a smaller instance timed out."""
        size = self._size.get((instance.group, tool.name, effort))
        if size is None or instance.graph.size < size[0] or instance.slots < size[1]:
            return None
        why = f"not tried: ran out of time with {size[0]} ranks on {size[1]} slots"
        return make_unscored_run(instance, tool, effort, "timeout", why)


def draw_profiles(runs: list[Run], best_known: BestKnownValues) -> None:
    """Draw the performance profile."""
    try:
        from peers.figure import draw_profile
    except ImportError as error:
        print(f"no figure: {error}", file=sys.stderr)
        return
    for kind in ("svg", "png"):
        file = OUT / f"profile.{kind}"
        draw_profile(runs, best_known, file)
        print(f"written: {file}", file=sys.stderr)


def read_runs(file: Path) -> list[Run]:
    """Read earlier results; among repeated runs, the last counts."""
    runs: dict[tuple[object, ...], Run] = {}
    for line in file.read_text().splitlines():
        run = Run(**json.loads(line))
        runs[run.instance, run.hash, run.tool, run.effort] = run
    return list(runs.values())


def is_same_run(one: Run, two: Run) -> bool:
    """Return whether two runs have the same instance, tool and effort."""
    return (one.instance, one.tool, one.effort) == (two.instance, two.tool, two.effort)


def measure_repeatedly(
    instance: Instance, tool: tools.Tool, effort: str, args: argparse.Namespace
) -> Run:
    """Run once or several times with the same seed; times are medians."""
    found: list[Run] = []
    for _ in range(args.repeat):
        found.append(
            measure(instance, tool, effort, args.seed, args.threads, args.time_limit)
        )
        if found[-1].outcome not in ("ok", "infeasible"):
            return found[-1]
    # The first answer counts, because some tools vary between runs.
    run = found[0]
    for name in ("search_cpu", "search_wall", "process_cpu", "memory"):
        values = [getattr(one, name) for one in found]
        if None not in values:
            setattr(run, name, statistics.median(values))
    return run


def offer_value(best_known: BestKnownValues, run: Run) -> None:
    """Offer a feasible or repaired answer to the best known values."""
    value, how = run.hop_bytes, f"{run.tool} {run.effort} {run.version}".strip()
    if run.outcome == "infeasible":
        value, how = run.repaired, f"{how}, repaired"
    if value is not None:
        name = f"{run.group}/{run.instance}"
        best_known.offer(BestKnownValue(name, run.hash, "hop-bytes", value, how))


if __name__ == "__main__":
    main()
