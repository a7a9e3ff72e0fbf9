# SPDX-License-Identifier: BSD-3-Clause
"""Finds neighbors and reachable vertices in graphs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Vertex = TypeVar("Vertex", bound=Hashable)


def find_unreachable_vertex(
    count: int, links: Collection[tuple[int, int]]
) -> int | None:
    """Find the lowest vertex below `count` without a route from or to vertex 0.

    Links are directed; routes may pass through vertices from `count` on.
    """
    forward: dict[int, list[int]] = {}
    backward: dict[int, list[int]] = {}
    for a, b in links:
        forward.setdefault(a, []).append(b)
        backward.setdefault(b, []).append(a)
    from_0 = find_reachable([0], forward)
    to_0 = find_reachable([0], backward)
    return next((v for v in range(count) if v not in from_0 or v not in to_0), None)


def find_reachable(
    starts: Iterable[Vertex], neighbors: Mapping[Vertex, Iterable[Vertex]]
) -> set[Vertex]:
    """Return `starts` and all vertices reachable from there."""
    waiting = list(starts)
    reached = set(waiting)
    while waiting:
        for vertex in neighbors.get(waiting.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                waiting.append(vertex)
    return reached


def find_neighbors(
    links: Iterable[tuple[Vertex, Vertex]],
) -> dict[Vertex, list[Vertex]]:
    """Map each vertex to its neighbors; links are undirected."""
    neighbors: dict[Vertex, list[Vertex]] = {}
    for a, b in links:
        neighbors.setdefault(a, []).append(b)
        neighbors.setdefault(b, []).append(a)
    return neighbors
