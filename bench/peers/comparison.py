# SPDX-License-Identifier: BSD-3-Clause
"""Our efforts compared with each peer: ratios of J and of time, wins and losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from peers.measure import Run
from peers.tools import TOOLS

PEERS = [tool.name for tool in TOOLS if tool.peer]
ANY = "any"


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, None if empty. Zeros count as a microsecond."""
    logs = [math.log(max(value, 1e-6)) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def find_best_run(runs: Sequence[Run]) -> Run | None:
    """Return the best feasible run; among equal runs, the quickest."""
    fine = [run for run in runs if run.outcome == "ok"]
    return min(fine, key=lambda run: (run.hop_bytes, run.search_cpu or 0), default=None)


def best_run_of_each_instance(runs: Sequence[Run]) -> list[Run]:
    """Return the best feasible run of each instance."""
    found = [
        find_best_run([run for run in runs if run.instance == instance])
        for instance in dict.fromkeys(run.instance for run in runs)
    ]
    return [run for run in found if run is not None]


def format_comparison(runs: Sequence[Run]) -> str:
    """Format the table of a set; empty without answers of ours or of peers.

    A peer is represented by its best feasible answer of all efforts, and the time of
    that effort. The last line uses the best feasible answer of all peers. Instances
    without a feasible answer of both are omitted.
    """
    ours = dict.fromkeys(run.effort for run in runs if run.tool == "ours")
    names = dict.fromkeys(run.tool for run in runs if run.tool in PEERS)
    if not ours or not names:
        return ""
    rows = [
        "| ours | peer | J, ours / peer | CPU, ours / peer | better | equal | worse |"
    ]
    rows.append("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for effort in ours:
        mine = [run for run in runs if (run.tool, run.effort) == ("ours", effort)]
        for name in [*names, "best peer"]:
            theirs = [
                run
                for run in runs
                if run.tool == name or (name == "best peer" and run.tool in PEERS)
            ]
            rows.append(
                _format_row(effort, name, mine, best_run_of_each_instance(theirs))
            )
    return "\n".join(rows) + "\n"


def _format_row(
    effort: str, name: str, mine: Sequence[Run], theirs: Sequence[Run]
) -> str:
    peer = {run.instance: run for run in theirs}
    ratios, times, count = [], [], [0, 0, 0]
    for run in best_run_of_each_instance(mine):
        other = peer.get(run.instance)
        if other is None or not run.hop_bytes or not other.hop_bytes:
            continue
        ratios.append(run.hop_bytes / other.hop_bytes)
        count[1 + (ratios[-1] > 1) - (ratios[-1] < 1)] += 1
        if run.search_cpu is not None and other.search_cpu is not None:
            times.append(max(run.search_cpu, 1e-6) / max(other.search_cpu, 1e-6))
    mean, time = geometric_mean(ratios), geometric_mean(times)
    cells = [
        effort,
        name,
        "" if mean is None else f"{mean:.3f}",
        "" if time is None else f"{time:.2f}",
        *map(str, count),
    ]
    return f"| {' | '.join(cells)} |"


def format_short_comparison(runs: Sequence[Run]) -> str:
    """Format a line per set and effort of ours, if peers solved instances of it."""
    rows = []
    for group in dict.fromkeys(run.group for run in runs):
        members = [run for run in runs if run.group == group]
        peers = best_run_of_each_instance([run for run in members if run.tool in PEERS])
        ours = [run for run in members if run.tool == "ours" and peers]
        for effort in dict.fromkeys(run.effort for run in ours):
            mine = [run for run in ours if run.effort == effort]
            rows.append(
                _format_row(f"{group} | {effort}", "", mine, peers).replace("|  |", "|")
            )
    if not rows:
        return ""
    head = "| instances | effort | J, ours / best peer | CPU, ours / best peer "
    head += (
        "| better | equal | worse |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
    )
    return head + "\n".join(rows) + "\n"


def list_misses(runs: Sequence[Run]) -> str:
    """List the instances on which the best peer beats all our efforts."""
    ours = {
        run.instance: run
        for run in best_run_of_each_instance([r for r in runs if r.tool == "ours"])
    }
    lines = []
    for peer in best_run_of_each_instance([run for run in runs if run.tool in PEERS]):
        run = ours.get(peer.instance)
        if run is None or run.hop_bytes is None or peer.hop_bytes is None:
            lines.append(f"- {peer.instance}: no feasible answer of ours\n")
        elif run.hop_bytes > peer.hop_bytes:
            lines.append(
                f"- {peer.instance}: ours {run.hop_bytes:,} ({run.effort}), "
                f"{peer.tool} {peer.effort} {peer.hop_bytes:,}\n"
            )
    if not ours:
        return ""
    return "Misses:\n\n" + ("".join(lines) or "- none\n")
