# SPDX-License-Identifier: BSD-3-Clause
"""Reference models of tori, meshes, HyperX, hypercubes and ring buses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from networks import LinkSpeed, ReferenceNetwork, Route, Wire, WireList, route_along

Cell = tuple[int, ...]
SpeedOf = Callable[
    [int, int], LinkSpeed
]  # speed of a link by axis and direction (sign)


def get_unit_speed(axis: int, sign: int) -> LinkSpeed:
    """Return the speed of every link, one byte per second."""
    return LinkSpeed()


def number_cell(extents: Sequence[int], cell: Cell) -> int:
    """Return the number of a cell; the last axis is the fastest."""
    value = 0
    for extent, at in zip(extents, cell, strict=True):
        value = value * extent + at
    return value


def list_cells(extents: Sequence[int]) -> list[Cell]:
    """List all cells in the order of their numbers."""
    return list(product(*map(range, extents)))


def make_torus(
    extents: Sequence[int],
    wraps: Sequence[bool],
    order: Sequence[int],
    ties: str,
    speed: SpeedOf = get_unit_speed,
) -> ReferenceNetwork:
    """Route along one axis after another, in the shorter direction."""
    wires = WireList()
    every = list_cells(extents)
    step: dict[tuple[Cell, int, int], tuple[Cell, Wire]] = {}
    for axis, extent in enumerate(extents):
        for sign in (1, -1):
            for cell in every:
                at = cell[axis] + sign
                if extent == 1 or (not wraps[axis] and not 0 <= at < extent):
                    continue
                there = (*cell[:axis], at % extent, *cell[axis + 1 :])
                wire = wires.add(
                    number_cell(extents, cell),
                    number_cell(extents, there),
                    speed(axis, sign),
                )
                step[cell, axis, sign] = there, wire

    def choose_directions(axis: int, x: int, y: int) -> list[int]:
        if not wraps[axis]:
            return [1 if y > x else -1]
        up, down = (y - x) % extents[axis], (x - y) % extents[axis]
        if up != down:
            return [1 if up < down else -1]
        if ties == "split":
            return [1, -1]
        return [-1 if ties == "simgrid" and y == 0 else 1]

    def route(a: int, b: int) -> Route:
        taken: Route = Counter()
        at, end = every[a], every[b]
        for axis in order:
            start = at
            both = (
                choose_directions(axis, at[axis], end[axis])
                if at[axis] != end[axis]
                else []
            )
            for sign in both:
                at = start
                while at[axis] != end[axis]:
                    at, wire = step[at, axis, sign]
                    taken[wire] += 1 / len(both)
        return taken

    return ReferenceNetwork(list(range(prod(extents))), wires.speed, route)


def make_ring_bus(
    stations: int, rings: int, ties: str, speed: LinkSpeed
) -> ReferenceNetwork:
    """Route along the shorter arc; parallel rings in one direction form one link."""
    wide = LinkSpeed(rings * speed.bandwidth, speed.latency)
    return make_torus([stations], [True], [0], ties, lambda axis, sign: wide)


def make_hyperx(
    extents: Sequence[int], order: Sequence[int], speed: SpeedOf = get_unit_speed
) -> ReferenceNetwork:
    """Route along one axis after another, with one link per axis."""
    wires = WireList()
    for axis, extent in enumerate(extents):
        for cell in list_cells(extents):
            for at in set(range(extent)) - {cell[axis]}:
                there = (*cell[:axis], at, *cell[axis + 1 :])
                wires.add(
                    number_cell(extents, cell),
                    number_cell(extents, there),
                    speed(axis, 1),
                )

    def route(a: int, b: int) -> Route:
        at, end = list_cells(extents)[a], list_cells(extents)[b]
        passed = [a]
        for axis in order:
            at = (*at[:axis], end[axis], *at[axis + 1 :])
            passed.append(number_cell(extents, at))
        return route_along(*dict.fromkeys(passed))

    return ReferenceNetwork(list(range(prod(extents))), wires.speed, route)


def make_twisted_torus(
    extents: Sequence[int],
    twist: Sequence[Sequence[int]],
    speed: SpeedOf = get_unit_speed,
) -> ReferenceNetwork:
    """Route in a torus that shifts by twist[a] across the end of axis a.

    Of the shortest step vectors, the route uses the one that is largest along the first
    axis; ties are broken by the next axes.
    """
    wires = WireList()
    step: dict[tuple[int, int, int], tuple[int, Wire]] = {}

    def wrap_cell(cell: Cell) -> Cell:
        """Wrap a cell that is outside the extents, at one end of an axis per step."""
        for axis, extent in enumerate(extents):
            if not 0 <= cell[axis] < extent:
                sign = 1 if cell[axis] >= extent else -1
                moved = [x + sign * t for x, t in zip(cell, twist[axis], strict=True)]
                moved[axis] = cell[axis] - sign * extent
                return wrap_cell(tuple(moved))
        return cell

    for axis in range(len(extents)):
        for sign in (1, -1):
            for cell in list_cells(extents):
                at = number_cell(extents, cell)
                there = wrap_cell((*cell[:axis], cell[axis] + sign, *cell[axis + 1 :]))
                if there == cell:
                    continue
                end = number_cell(extents, there)
                step[at, axis, sign] = end, wires.add(at, end, speed(axis, sign))

    reach = max(extents)
    vectors = sorted(
        product(range(-reach, reach + 1), repeat=len(extents)),
        key=lambda v: (sum(map(abs, v)), [-x for x in v]),
    )

    def route(a: int, b: int) -> Route:
        start, end = list_cells(extents)[a], list_cells(extents)[b]
        for vector in vectors:
            moved = tuple(x + d for x, d in zip(start, vector, strict=True))
            if wrap_cell(moved) == end:
                break
        else:
            raise AssertionError("no vector is long enough")
        taken: Route = Counter()
        at = a
        for axis, distance in enumerate(vector):
            for _ in range(abs(distance)):
                at, wire = step[at, axis, 1 if distance > 0 else -1]
                taken[wire] += 1.0
        return taken

    return ReferenceNetwork(list(range(prod(extents))), wires.speed, route)
