# SPDX-License-Identifier: BSD-3-Clause
"""Generators of communication patterns, and their parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from topoloom import _core
from topoloom._core import CommGraph, Error
from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
from topoloom.support.name_lookup import describe_unknown_name


@dataclass(frozen=True)
class Pattern:
    """A communication pattern.

    Attributes
    ----------
    summary
        A description in one line.
    make
        Function that makes the graph.
    size
        The attribute of the request that contains the size.
    reads
        Other attributes of the request that the pattern uses.
    phases
        Function that makes the phases; None if there is a single phase.
    phase_names
        Function that lists the names of the phases; None without names.
    """

    summary: str
    make: Callable[[Request], CommGraph]
    size: Literal["ranks", "grid", "rows", "cells"] = "ranks"
    reads: tuple[str, ...] = ("bytes",)
    phases: Callable[[Request], list[CommGraph]] | None = None
    phase_names: Callable[[Request], list[str]] | None = None


@dataclass(frozen=True)
class Request:
    """Parameters of a requested pattern."""

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
    groups: Sequence[str] = ("column", "row", "orthogonalization")
    levels: bool = False
    seed: int = 1
    proxies: bool = True
    gpus_per_node: int = GPUS_PER_NODE


def _stencil_maker(
    axes: int | None, points: int | None
) -> Callable[[Request], CommGraph]:
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


def _round_maker(name: str, operation: str) -> Callable[[Request], list[CommGraph]]:
    """Return the function that makes the rounds of a schedule."""

    def make(request: Request) -> list[CommGraph]:
        schedule = _core.Schedule(
            name, operation, request.ranks, request.bytes, request.root
        )
        return [schedule.phase(number) for number in range(schedule.rounds)]

    return make


#: Bytes of the allreduce on a triangular grid: 99 projections of 8 bytes.
_PROJECTIONS = 99 * 8
#: Names of the phases of a triangular grid, by kind of group.
_TRIANGULAR = {
    "column": "column bcasts",
    "row": "row bcasts",
    "column-reduction": "column reductions",
    "row-reduction": "row reductions",
    "orthogonalization": "orthogonalization",
    "allreduce": "allreduce",
    "gather": "gather",
}


def _make_triangular_levels(request: Request, group: str) -> list[CommGraph]:
    """Make the messages of one kind of group, one graph per level if requested."""
    rows = _core.hybrid_rows(request.rows, request.threads)
    # With threads there are fewer pieces, which together contain as many unknowns.
    piece = request.bytes * request.rows // rows
    amount = _PROJECTIONS if group == "allreduce" else piece
    make = (rows, request.order, group, amount)
    if request.levels and rows > 1:
        return _core.triangular_levels(*make)
    return [_core.triangular_messages(*make)]


def _make_triangular_phases(request: Request) -> list[CommGraph]:
    """Make the phases of all requested kinds of groups."""
    return [
        phase
        for group in request.groups
        for phase in _make_triangular_levels(request, group)
    ]


def _list_triangular_phase_names(request: Request) -> list[str]:
    if not request.levels:
        return [_TRIANGULAR[group] for group in request.groups]
    return [
        f"{_TRIANGULAR[group]}, level {level}"
        for group in request.groups
        for level, _ in enumerate(_make_triangular_levels(request, group), start=1)
    ]


def _make_molecular_dynamics(request: Request) -> CommGraph:
    if len(request.cells) != 3:
        raise Error(
            "molecular dynamics needs cells along 3 axes, such as 6x6x4; "
            f"got {'x'.join(map(str, request.cells))}"
        )
    x, y, z = request.cells
    return _core.molecular_dynamics(
        (x, y, z), seed=request.seed, proxies=request.proxies
    )


def _nccl_maker(
    operation: str, algorithm: str = "ring"
) -> Callable[[Request], CommGraph]:
    """Return the function that makes NCCL's messages of a collective."""

    def make(request: Request) -> CommGraph:
        from topoloom.graphs import nccl_collectives

        return nccl_collectives.expand_on_all_ranks(
            operation,
            request.ranks,
            request.gpus_per_node,
            request.bytes,
            algorithm,
        ).graph(request.ranks)

    return make


def _make_nccl_rounds(request: Request) -> list[CommGraph]:
    from topoloom.graphs import nccl_collectives

    ranks = request.ranks
    sent = nccl_collectives.make_exchange_rounds(
        ranks, request.gpus_per_node, request.bytes
    )
    return [one.graph(ranks) for one in sent]


def _phase_maker(
    ends: Callable[[Any], tuple[Any, Any]],
) -> Callable[[Request], CommGraph]:
    """Return the function that makes a phase of Sudheer 2012, table 4.1.

    `ends` returns the sources and targets of messages. Ranks without a target are idle.
    """

    def make(request: Request) -> CommGraph:
        import numpy as np

        source, target = ends(np.arange(request.ranks))
        exists = target < request.ranks
        sizes = np.full(exists.sum(), request.bytes, np.int64)
        return CommGraph.from_edges(
            request.ranks, source[exists], target[exists], sizes
        )

    return make


def _make_triangular(request: Request) -> CommGraph:
    from topoloom.graphs.phases import add_phases

    return add_phases(_make_triangular_phases(request))


_GRID = ("bytes", "periodic")
_GPUS = ("bytes", "gpus_per_node")

PATTERNS = {
    "stencil2d": Pattern(
        "2-D 5-point stencil on --grid AxB", _stencil_maker(2, 5), "grid", _GRID
    ),
    "stencil3d": Pattern(
        "3-D 7-point stencil on --grid AxBxC", _stencil_maker(3, 7), "grid", _GRID
    ),
    "stencil27": Pattern(
        "3-D 27-point stencil on --grid AxBxC", _stencil_maker(3, 27), "grid", _GRID
    ),
    "stencil": Pattern(
        "nearest neighbors on a grid of any dimension",
        _stencil_maker(None, None),
        "grid",
        _GRID,
    ),
    "ring": Pattern(
        "rank i sends to rank i + 1, the last to the first",
        lambda r: _core.ring(r.ranks, r.bytes),
    ),
    "recursive-doubling": Pattern(
        "allgather by exchange with i XOR 2^k; bytes double each round",
        lambda r: _core.recursive_doubling(r.ranks, r.bytes),
        phases=_round_maker("recursive-doubling", "allgather"),
    ),
    "bruck": Pattern(
        "allgather by Bruck's algorithm, any number of ranks",
        lambda r: _core.bruck(r.ranks, r.bytes),
        phases=_round_maker("bruck", "allgather"),
    ),
    "binomial": Pattern(
        "bcast from --root down a binomial tree",
        lambda r: _core.binomial_tree(r.ranks, r.bytes, r.root),
        reads=("bytes", "root"),
        phases=_round_maker("binomial", "bcast"),
    ),
    "rd1": Pattern(
        "one phase of recursive doubling: exchange with i XOR 1",
        _phase_maker(lambda rank: (rank, rank ^ 1)),
    ),
    "rd2": Pattern(
        "one phase of recursive doubling: exchange with i XOR 2",
        _phase_maker(lambda rank: (rank, rank ^ 2)),
    ),
    "rd3": Pattern(
        "one phase of recursive doubling: exchange with i XOR 4",
        _phase_maker(lambda rank: (rank, rank ^ 4)),
    ),
    "bruck2": Pattern(
        "one phase of Bruck's algorithm: rank i sends to i - 2",
        _phase_maker(lambda rank: (rank, (rank - 2) % len(rank))),
    ),
    "binomial3": Pattern(
        "last phase of a binomial tree: even ranks send to the next",
        _phase_maker(lambda rank: (rank[:-1:2], rank[1::2])),
    ),
    "alltoall": Pattern(
        "every rank sends to every other",
        lambda r: _core.alltoall(r.ranks, r.bytes),
    ),
    "nccl-ring": Pattern(
        "allreduce of NCCL in rings through all nodes (--gpus-per-node)",
        _nccl_maker("allreduce", "ring"),
        reads=_GPUS,
    ),
    "nccl-tree": Pattern(
        "allreduce of NCCL along double binary trees (--gpus-per-node)",
        _nccl_maker("allreduce", "tree"),
        reads=_GPUS,
    ),
    "nccl-nvls": Pattern(
        "allreduce of NCCL in NVSwitches, trees between nodes (--gpus-per-node)",
        _nccl_maker("allreduce", "nvls"),
        reads=_GPUS,
    ),
    "nccl-alltoall": Pattern(
        "NCCL's exchange of --bytes per pair, over rails (--gpus-per-node)",
        _nccl_maker("alltoall"),
        reads=_GPUS,
        phases=_make_nccl_rounds,
    ),
    "random-geometric": Pattern(
        "random points in the unit square, near ones talk (--average-degree, --seed)",
        lambda r: _core.random_geometric(r.ranks, r.bytes, r.seed, r.degree),
        reads=("bytes", "degree", "seed"),
    ),
    "triangular": Pattern(
        "groups of a triangular grid with --rows, for symmetric matrices (--order)",
        _make_triangular,
        "rows",
        ("bytes", "order", "threads", "groups"),
        _make_triangular_phases,
        phase_names=_list_triangular_phase_names,
    ),
    "molecular-dynamics": Pattern(
        "patches and computes of 92,224 atoms in --cells AxBxC (--seed)",
        _make_molecular_dynamics,
        "cells",
        ("seed", "proxies"),
    ),
}


def parse_grid(text: str) -> list[int]:
    """Read ``8x8x8``."""
    if not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", text):
        raise Error(f"cannot read the grid '{text}': write extents, such as 8x8x8")
    extents = [int(part) for part in text.split("x")]
    if 0 in extents:
        raise Error(f"grid '{text}' has an axis without ranks")
    return extents


def make_graph(name: str, request: Request) -> CommGraph:
    """Make the communication graph of a pattern."""
    if name not in PATTERNS:
        raise Error(describe_unknown_name("pattern", name, PATTERNS))
    return PATTERNS[name].make(request)


def make_phases(name: str, request: Request) -> list[CommGraph]:
    """Make the phases of a pattern; [] for a single phase."""
    make = PATTERNS[name].phases
    if make is None:
        several = [other for other, pattern in PATTERNS.items() if pattern.phases]
        raise Error(f"{name} has one phase; several have {', '.join(several)}")
    phases = make(request)
    return phases if len(phases) > 1 else []
