# SPDX-License-Identifier: BSD-3-Clause
"""Counts messages on a ring bus by direction, and message pairs that share links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from topoloom._core import Machine


class DirectionCounts(NamedTuple):
    """The number of messages by direction, and of message pairs that share links."""

    clockwise: int
    counter_clockwise: int
    half_way: int
    overlaps_clockwise: int
    overlaps_counter_clockwise: int


def count_directions(
    machine: Machine, messages: Iterable[tuple[int, int]]
) -> DirectionCounts:
    """Count messages by direction, and pairs that share links and are not half-way."""
    stations = machine.node_count
    ways: tuple[list[set[int]], list[set[int]]] = ([], [])
    half_way = 0
    for source, target in messages:
        links = {link for link, _ in machine.route(source, target)}
        clockwise = {link for link in links if link < stations}
        if clockwise and clockwise != links:
            half_way += 1
        else:
            ways[0 if clockwise else 1].append(links)
    return DirectionCounts(
        len(ways[0]), len(ways[1]), half_way, *(_count_overlaps(arcs) for arcs in ways)
    )


def _count_overlaps(arcs: list[set[int]]) -> int:
    return sum(
        not arc.isdisjoint(other)
        for number, arc in enumerate(arcs)
        for other in arcs[:number]
    )
