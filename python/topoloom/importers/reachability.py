# SPDX-License-Identifier: BSD-3-Clause
"""Which vertices of a network links join."""

from __future__ import annotations

from collections.abc import Collection


def find_unreachable(count: int, links: Collection[tuple[int, int]]) -> int | None:
    """Find the lowest vertex of ``0 .. count-1`` without a route from 0 or to 0.

    Links lead one way, from the first vertex to the second; their ends may be other
    vertices, too.
    """
    backwards = [(b, a) for a, b in links]
    reached = _reached(links) & _reached(backwards)
    return next((v for v in range(count) if v not in reached), None)


def _reached(links: Collection[tuple[int, int]]) -> set[int]:
    beyond: dict[int, list[int]] = {}
    for a, b in links:
        beyond.setdefault(a, []).append(b)
    reached, waiting = {0}, [0]
    while waiting:
        for vertex in beyond.get(waiting.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                waiting.append(vertex)
    return reached
