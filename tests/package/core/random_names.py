# SPDX-License-Identifier: BSD-3-Clause
"""Random values for arguments, chosen by parameter name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from random_scalars import MACHINES

from topoloom import _core

if TYPE_CHECKING:
    from random_arguments import ArgumentSource


def _draw_mapper(source: ArgumentSource) -> str:
    names = [one["name"] for one in _core.mappers()]
    return source.rng.choice(
        ("auto", "block", f"block,{source.rng.choice(names)}", *names)
    )


def _draw_traffic(source: ArgumentSource) -> Any:
    rng = source.rng
    axes = [rng.randrange(3) for _ in range(rng.randrange(3))]
    return (
        axes,
        rng.choice(("ring", "alltoall", "halving", "chain", "x")),
        2 ** rng.randrange(64),
    )


def _choose_among(*values: Any) -> Callable[[ArgumentSource], Any]:
    return lambda source: source.rng.choice(values)


BY_NAME: dict[str, Callable[[ArgumentSource], Any]] = {
    "path": lambda d: d.draw_path() if d.rng.random() < 0.8 else "written",
    "source": lambda d: d.rng.choice(
        (d.draw_path(), "0-3", "1,2", "n[1-4]", d.draw_numbers())
    ),
    "mesh": _choose_among({"x": 2, "y": 4}, {"x": 16}, {}, {"x": 0}, {"x": -1}, {1: 2}),
    "hosts": _choose_among((), ("a", "b"), ["a", "a"], "ab", [1]),
    "sizes": lambda d: [2**i for i in range(d.rng.randrange(20))],
    "times": lambda d: [1e-6 * 2**i for i in range(d.rng.randrange(20))],
    "most": _choose_among(0, 1, 100, 5000),
    "title": _choose_among("", "a title"),
    "a": lambda d: d.draw_matrix(),
    "b": lambda d: d.draw_matrix(),
    "costs": lambda d: d.draw_matrix(),
    "seconds": _choose_among(0.01, 0.02, 0, -1, math.nan),
    "work": _choose_among(1, 100, 1000, 20_000),
    "threads": _choose_among(1, 2, 0, -3, 2**31 - 1),
    "mapper": _draw_mapper,
    "objective": _choose_among(
        "auto", "hop-bytes", "congestion", "time", "congestion-soft", "x"
    ),
    "text": _choose_among(*MACHINES, "torus:4x4+down:99", "torus:0", "x:3"),
    "traffic": lambda d: [_draw_traffic(d) for _ in range(d.rng.randrange(3))],
    "extents": lambda d: [
        d.rng.choice((0, 1, 2, 3, 4, 2**31)) for _ in range(d.rng.randrange(4))
    ],
    "grid": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "tile": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "cells": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(5))],
    "atoms": _choose_among(0, 1, 100, 1000),
    "width": _choose_among(16.0, 30.0, 0.0, -1.0, math.nan, math.inf),
    "degree": _choose_among(0, 1, 3, 6, 100),
    "kind": _choose_among("routes", "disjoint", "least-loaded", "last", "x"),
    "multicasts": lambda d: [
        (d.rng.randrange(18), d.draw_numbers()) for _ in range(d.rng.randrange(3))
    ],
    "name": lambda d: d.rng.choice(
        [one["name"] for one in _core.schedules()] + ["time", "chain(segment=0)", "x"]
    ),
    "schedule": lambda d: d.rng.choice([one["name"] for one in _core.schedules()]),
    "operation": _choose_among(
        "bcast", "allgather", "alltoall", "scatter", "reduce", "scan", "x"
    ),
    "method": _choose_among(
        "standard", "fastest-edge-first", "channel-aware", "random", "x"
    ),
    "strategy": _choose_among("direct", "mesh", "grid", "hypercube", "x"),
    "collective": _choose_among("bcast", "reduce", "scatter", "gather", "x"),
    "order": lambda d: d.rng.choice(("dm", "cm", "bdm", "bcm", d.draw_numbers())),
    "group": _choose_among("column", "row", "orthogonalization", "x"),
    "lines": lambda d: d.rng.choice(
        (
            [(1e-6, 1e-9, None)],
            [(1e-6, 1e-9, 100), (1e-6, 1e-9, None)],
            [],
            [(math.nan, -1, 5)],
        )
    ),
    "progress": _choose_among(None, lambda work: True, lambda work: False),
    "data": _choose_among(
        b"", b"3 2\n2 3\n1\n1\n", b"0 1\n1 0\n", b"%%MatrixMarket\n1 1 1\n", b"\xff"
    ),
}
