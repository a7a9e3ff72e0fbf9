# SPDX-License-Identifier: BSD-3-Clause
"""The table of communication patterns: what they are, what each needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topoloom import _core
from topoloom._core import CommGraph, Error
from topoloom.nearest import unknown_name
from topoloom.phases import add_phases, edge_rows, split_phases

Ranks = NDArray[np.int64]


@dataclass(frozen=True)
class Pattern:
    """One line of the table.

    Attributes
    ----------
    summary
        What it is, in a line.
    make
        Builds the graph.
    size
        What says how large it is: the name of an attribute of the request.
    rounds
        The round in which a message from one rank to another is sent, if there are
        several and each pair has only one.
    phases
        Makes the phases that the graph is the sum of, if pairs may talk in several.
    phase_names
        What they are called, if that says more than their numbers.
    """

    summary: str
    make: Callable[[Request], CommGraph]
    size: Literal["ranks", "grid", "rows", "cells"] = "ranks"
    rounds: Callable[[Request, Ranks, Ranks], Ranks] | None = None
    phases: Callable[[Request], list[CommGraph]] | None = None
    phase_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """What a pattern is made from; each pattern looks at what it needs."""

    ranks: int
    bytes: int
    grid: Sequence[int] = ()
    rows: int = 0
    cells: Sequence[int] = ()
    periodic: bool = True
    root: int = 0
    degree: float = 8.0
    order: str = "bcm"
    threads: int = 1
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


def _log2(powers: Ranks) -> Ranks:
    return np.log2(powers).astype(np.int64)  # exact for powers of two


def _doubling_rounds(request: Request, source: Ranks, target: Ranks) -> Ranks:
    """Swap with i XOR 2^k in round k; before, ranks beyond 2^n give, and after get."""
    cube = 1 << (request.ranks.bit_length() - 1)
    before = int(cube < request.ranks)
    rounds = before + _log2(source ^ target)
    rounds[source >= cube] = 0
    rounds[target >= cube] = before + cube.bit_length() - 1
    return rounds


def _bruck_rounds(request: Request, source: Ranks, target: Ranks) -> Ranks:
    """Round k sends to the rank 2^k before."""
    return _log2((source - target) % request.ranks)


def _binomial_rounds(request: Request, source: Ranks, target: Ranks) -> Ranks:
    """Far ones first: whoever has the message passes it half as far in each round."""
    rounds = (request.ranks - 1).bit_length()
    return rounds - 1 - _log2((target - source) % request.ranks)


def _triangular_phases(request: Request) -> list[CommGraph]:
    """Broadcasts in columns, then in rows, then what orthogonalization scatters."""
    rows = _core.hybrid_rows(request.rows, request.threads)
    # As many unknowns in fewer pieces.
    piece = request.bytes * request.rows // rows
    return [
        _core.triangular_messages(rows, request.order, group, piece)
        for group in ("column", "row", "orthogonalization")
    ]


def _molecular_dynamics(request: Request) -> CommGraph:
    if len(request.cells) != 3:
        raise Error(
            "molecular dynamics needs cells along 3 axes, such as 6x6x4; "
            f"got {'x'.join(map(str, request.cells))}"
        )
    x, y, z = request.cells
    return _core.molecular_dynamics((x, y, z), seed=request.seed)


PATTERNS = {
    "stencil2d": Pattern("2-D 5-point stencil on --grid AxB", _stencil(2, 5), "grid"),
    "stencil3d": Pattern("3-D 7-point stencil on --grid AxBxC", _stencil(3, 7), "grid"),
    "stencil27": Pattern(
        "3-D 27-point stencil on --grid AxBxC", _stencil(3, 27), "grid"
    ),
    "stencil": Pattern(
        "nearest neighbours on a grid of any dimension", _stencil(None, None), "grid"
    ),
    "ring": Pattern(
        "rank i sends to rank i + 1, the last to the first",
        lambda r: _core.ring(r.ranks, r.bytes),
    ),
    "recursive-doubling": Pattern(
        "all-gather by exchange with i XOR 2^k; bytes double each round",
        lambda r: _core.recursive_doubling(r.ranks, r.bytes),
        rounds=_doubling_rounds,
    ),
    "bruck": Pattern(
        "all-gather by Bruck's algorithm, any number of ranks",
        lambda r: _core.bruck(r.ranks, r.bytes),
        rounds=_bruck_rounds,
    ),
    "binomial": Pattern(
        "broadcast from --root down a binomial tree",
        lambda r: _core.binomial_tree(r.ranks, r.bytes, r.root),
        rounds=_binomial_rounds,
    ),
    "all-to-all": Pattern(
        "every rank sends to every other",
        lambda r: _core.all_to_all(r.ranks, r.bytes),
    ),
    "random-geometric": Pattern(
        "random points in the unit square, near ones talk (--degree, --seed)",
        lambda r: _core.random_geometric(r.ranks, r.bytes, r.seed, r.degree),
    ),
    "triangular": Pattern(
        "groups of a triangular grid with --rows, for symmetric matrices (--order)",
        lambda r: add_phases(_triangular_phases(r)),
        "rows",
        phases=_triangular_phases,
        phase_names=("column broadcasts", "row broadcasts", "orthogonalization"),
    ),
    "molecular-dynamics": Pattern(
        "patches and computes of 92,224 atoms in --cells AxBxC (--seed)",
        _molecular_dynamics,
        "cells",
    ),
}


def make_pattern(name: str, request: Request) -> CommGraph:
    """Build the communication graph of the pattern called `name`."""
    if name not in PATTERNS:
        raise Error(unknown_name("pattern", name, PATTERNS))
    return PATTERNS[name].make(request)


def make_phases(name: str, request: Request, graph: CommGraph) -> list[CommGraph]:
    """Split what `make_pattern` built into its phases; fewer than two are none."""
    if make := PATTERNS[name].phases:
        return make(request)
    rounds = PATTERNS[name].rounds
    if rounds is None:
        several = [n for n, other in PATTERNS.items() if other.rounds or other.phases]
        raise Error(f"{name} has one phase; several have {', '.join(several)}")
    rows = edge_rows(graph)
    return split_phases(graph.rank_count, rounds(request, rows[:, 0], rows[:, 1]), rows)
