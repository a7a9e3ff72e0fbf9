# SPDX-License-Identifier: BSD-3-Clause
"""Prints results of probes: levels, shared links, suspects, bad parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from topoloom.cli.console import print_table
from topoloom.support.units import counted, format_bandwidth, format_seconds

if TYPE_CHECKING:
    from topoloom.tasks.machines.bad_parts import LocatedParts


def print_probed(found: Mapping[str, Any]) -> None:
    """Print levels, concurrent pairs, shared links, suspects and doubts.

    Parameters
    ----------
    found
        The result of `topoloom.tasks.machines.probe.read_probe_results`.
    """
    rows = [
        [
            level["level"],
            format_seconds(level["short_seconds"]),
            _format_value(level.get("bytes_per_second"), format_bandwidth),
            _format_value(level.get("both_ways"), "{:.2f}".format),
        ]
        for level in found.get("models", [])
    ]
    rows += [
        [
            f"at {counted(each['hops'], 'hop')}",
            format_seconds(each["short_seconds"]),
            "",
            "",
        ]
        for each in found.get("hops", [])
        if each["hops"] > 1
    ]
    if rows:
        print_table(["measured", "512 B", "long messages", "both ways"], rows)
    for curve in found.get("channels", []):
        print(
            f"{curve['pattern']}: {counted(curve['channels'], 'channel')}, "
            f"{format_bandwidth(curve['node_bandwidth'])} in all"
        )
    for link in found.get("shared_links", []):
        print(link["text"])
    for suspect in found.get("suspects", []):
        print(
            f"slow {suspect['kind']} {', '.join(suspect['hosts'])}: {suspect['of']} "
            f"{suspect['times_as_long']:.2f} times as long as its like"
            f"{suspect['direction']}"
        )
    for sentence in [*found.get("claims", []), *found.get("doubts", [])]:
        print(sentence)


def print_bad_parts(located: LocatedParts, plan: bool) -> None:
    """Print bad machine parts; if `plan` is set, also the pairs to measure next."""
    found = located.found
    hosts, tests = counted(found.hosts, "host"), counted(found.tests, "measurement")
    for part in found.bad:
        print(part.sentence)
    if not found.bad and not found.tests:
        print(f"nothing measured so far; {hosts}")
    elif not found.bad:
        print(f"nothing bad found by {tests}; {hosts}")
    if found.suspects:
        print(f"{counted(found.suspects, 'other suspect')}: more tests tell them apart")
    if found.untested and found.tests:
        print(f"{counted(found.untested, 'part')} not judged by any measurement yet")
    for doubt in located.doubts:
        print(doubt)
    if not plan:
        return
    if not found.plan:
        print("no pair of hosts would say more")
        return
    print(f"measure next, {counted(len(found.plan), 'pair')} at once:")
    for a, b in found.plan:
        print(f"{located.ends[a]},{located.ends[b]}")


def _format_value(value: float | None, format_value: Callable[[float], str]) -> str:
    return "" if value is None else format_value(value)
