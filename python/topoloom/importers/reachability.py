# SPDX-License-Identifier: BSD-3-Clause
"""Reachability in a directed graph."""

from __future__ import annotations

from collections.abc import Collection


def find_unreachable(count: int, links: Collection[tuple[int, int]]) -> int | None:
    """Find the lowest of the vertices 0 to count - 1 without a route from or to 0.

    Links are directed; their ends may be other vertices.
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
