# SPDX-License-Identifier: BSD-3-Clause
"""Which vertices of a network links join."""

from __future__ import annotations

from collections.abc import Iterable


def first_unreached(count: int, links: Iterable[tuple[int, int]]) -> int | None:
    """Find the lowest vertex of ``0 .. count-1`` that no links join to vertex 0.

    Links join both ways; their ends may be other vertices, too.
    """
    beside: dict[int, list[int]] = {}
    for a, b in links:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    reached, waiting = {0}, [0]
    while waiting:
        for vertex in beside.get(waiting.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                waiting.append(vertex)
    return next((v for v in range(count) if v not in reached), None)
