# SPDX-License-Identifier: BSD-3-Clause
"""The table of communication patterns: what they are, what each needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from topoloom import _core
from topoloom._core import CommGraph, Error
from topoloom.nearest import unknown_name


@dataclass(frozen=True)
class Pattern:
    """One line of the table.

    Attributes
    ----------
    summary
        What it is, in a line.
    make
        Builds the graph.
    on_grid
        True if it is laid out on a grid, False if only the number of ranks counts.
    """

    summary: str
    make: Callable[[Request], CommGraph]
    on_grid: bool = False


@dataclass(frozen=True)
class Request:
    """What a pattern is made from; each pattern looks at what it needs."""

    ranks: int
    bytes: int
    grid: Sequence[int] = ()
    periodic: bool = True
    root: int = 0
    degree: float = 8.0
    seed: int = 1


def _stencil(axes: int | None, points: int | None) -> Callable[[Request], CommGraph]:
    def make(request: Request) -> CommGraph:
        grid = list(request.grid)
        if axes is not None and len(grid) != axes:
            example = "x".join(["8"] * axes)
            raise Error(
                f"this stencil needs a grid of {axes} axes, such as {example}; "
                f"got {'x'.join(map(str, grid))}"
            )
        return _core.stencil(
            grid, points or 2 * len(grid) + 1, request.periodic, request.bytes
        )

    return make


PATTERNS = {
    "stencil2d": Pattern("2-D 5-point stencil on --grid AxB", _stencil(2, 5), True),
    "stencil3d": Pattern("3-D 7-point stencil on --grid AxBxC", _stencil(3, 7), True),
    "stencil27": Pattern("3-D 27-point stencil on --grid AxBxC", _stencil(3, 27), True),
    "stencil": Pattern(
        "nearest neighbours on a grid of any dimension", _stencil(None, None), True
    ),
    "ring": Pattern(
        "rank i sends to rank i + 1, the last to the first",
        lambda r: _core.ring(r.ranks, r.bytes),
    ),
    "recursive-doubling": Pattern(
        "all-gather by exchange with i XOR 2^k; bytes double each round",
        lambda r: _core.recursive_doubling(r.ranks, r.bytes),
    ),
    "bruck": Pattern(
        "all-gather by Bruck's algorithm, any number of ranks",
        lambda r: _core.bruck(r.ranks, r.bytes),
    ),
    "binomial": Pattern(
        "broadcast from --root down a binomial tree",
        lambda r: _core.binomial_tree(r.ranks, r.bytes, r.root),
    ),
    "all-to-all": Pattern(
        "every rank sends to every other",
        lambda r: _core.all_to_all(r.ranks, r.bytes),
    ),
    "random-geometric": Pattern(
        "random points in the unit square, near ones talk (--degree, --seed)",
        lambda r: _core.random_geometric(r.ranks, r.bytes, r.seed, r.degree),
    ),
}


def make_pattern(name: str, request: Request) -> CommGraph:
    """Build the communication graph of the pattern called `name`."""
    if name not in PATTERNS:
        raise Error(unknown_name("pattern", name, PATTERNS))
    return PATTERNS[name].make(request)
