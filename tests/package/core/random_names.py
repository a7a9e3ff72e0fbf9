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


def _mapper(source: ArgumentSource) -> str:
    names = [one["name"] for one in _core.mappers()]
    return source.rng.choice(
        ("auto", "block", f"block,{source.rng.choice(names)}", *names)
    )


def _traffic(source: ArgumentSource) -> Any:
    rng = source.rng
    axes = [rng.randrange(3) for _ in range(rng.randrange(3))]
    return (
        axes,
        rng.choice(("ring", "all-to-all", "halving", "chain", "x")),
        2 ** rng.randrange(64),
    )


def _one_of(*values: Any) -> Callable[[ArgumentSource], Any]:
    return lambda source: source.rng.choice(values)


BY_NAME: dict[str, Callable[[ArgumentSource], Any]] = {
    "path": lambda d: d.path() if d.rng.random() < 0.8 else "written",
    "source": lambda d: d.rng.choice((d.path(), "0-3", "1,2", "n[1-4]", d.numbers())),
    "mesh": _one_of({"x": 2, "y": 4}, {"x": 16}, {}, {"x": 0}, {"x": -1}, {1: 2}),
    "hosts": _one_of((), ("a", "b"), ["a", "a"], "ab", [1]),
    "sizes": lambda d: [2**i for i in range(d.rng.randrange(20))],
    "times": lambda d: [1e-6 * 2**i for i in range(d.rng.randrange(20))],
    "most": _one_of(0, 1, 100, 5000),
    "title": _one_of("", "a title"),
    "a": lambda d: d.matrix(),
    "b": lambda d: d.matrix(),
    "costs": lambda d: d.matrix(),
    "seconds": _one_of(0.01, 0.02, 0, -1, math.nan),
    "work": _one_of(1, 100, 1000, 20_000),
    "threads": _one_of(1, 2, 0, -3, 2**31 - 1),
    "mapper": _mapper,
    "objective": _one_of(
        "auto", "hop-bytes", "congestion", "time", "congestion-soft", "x"
    ),
    "text": _one_of(*MACHINES, "torus:4x4+down:99", "torus:0", "x:3"),
    "traffic": lambda d: [_traffic(d) for _ in range(d.rng.randrange(3))],
    "extents": lambda d: [
        d.rng.choice((0, 1, 2, 3, 4, 2**31)) for _ in range(d.rng.randrange(4))
    ],
    "grid": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "tile": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "cells": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(5))],
    "atoms": _one_of(0, 1, 100, 1000),
    "width": _one_of(16.0, 30.0, 0.0, -1.0, math.nan, math.inf),
    "degree": _one_of(0, 1, 3, 6, 100),
    "kind": _one_of("routes", "disjoint", "least-loaded", "last", "x"),
    "multicasts": lambda d: [
        (d.rng.randrange(18), d.numbers()) for _ in range(d.rng.randrange(3))
    ],
    "name": lambda d: d.rng.choice(
        [one["name"] for one in _core.schedules()] + ["time", "chain(segment=0)", "x"]
    ),
    "schedule": lambda d: d.rng.choice([one["name"] for one in _core.schedules()]),
    "operation": _one_of(
        "broadcast", "all-gather", "all-to-all", "scatter", "reduce", "scan", "x"
    ),
    "method": _one_of("standard", "fastest-edge-first", "channel-aware", "random", "x"),
    "strategy": _one_of("direct", "mesh", "grid", "hypercube", "x"),
    "collective": _one_of("broadcast", "reduce", "scatter", "gather", "x"),
    "order": lambda d: d.rng.choice(("dm", "cm", "bdm", "bcm", d.numbers())),
    "group": _one_of("column", "row", "orthogonalization", "x"),
    "lines": lambda d: d.rng.choice(
        (
            [(1e-6, 1e-9, None)],
            [(1e-6, 1e-9, 100), (1e-6, 1e-9, None)],
            [],
            [(math.nan, -1, 5)],
        )
    ),
    "progress": _one_of(None, lambda work: True, lambda work: False),
    "data": _one_of(
        b"", b"3 2\n2 3\n1\n1\n", b"0 1\n1 0\n", b"%%MatrixMarket\n1 1 1\n", b"\xff"
    ),
}
