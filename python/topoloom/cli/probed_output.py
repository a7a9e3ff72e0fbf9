# SPDX-License-Identifier: BSD-3-Clause
"""How what a probe has found is printed beside a machine's facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from topoloom.cli.console import print_table
from topoloom.support.units import counted, format_bandwidth, format_seconds


def print_probed(found: Mapping[str, Any]) -> None:
    """Print levels, pairs at once, shared links, suspects, and what is doubtful.

    Parameters
    ----------
    found
        As `topoloom.tasks.machines.probe.probe_facts` has it.
    """
    rows = [
        [
            level["level"],
            format_seconds(level["short_s"]),
            _text(level.get("bytes_per_second"), format_bandwidth),
            _text(level.get("both_ways"), "{:.2f}".format),
        ]
        for level in found.get("models", [])
    ]
    rows += [
        [f"at {counted(each['hops'], 'hop')}", format_seconds(each["short_s"]), "", ""]
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


def _text(value: float | None, written: Callable[[float], str]) -> str:
    return "" if value is None else written(value)
