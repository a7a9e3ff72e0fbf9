# SPDX-License-Identifier: BSD-3-Clause
"""How simulated switches queue, route, and serve."""

from __future__ import annotations

from typing import Annotated

import typer

from topoloom.cli import complete

Router = Annotated[
    str,
    typer.Option(
        "--router",
        metavar="KIND",
        help="How switches queue: input-queued, or voq (virtual output queues: one for "
        "each output at each input).",
        autocompletion=complete.routers,
    ),
]
RoutingName = Annotated[
    str,
    typer.Option(
        "--routing",
        metavar="NAME",
        help="Among routes: own (the machine's), minimal-adaptive (the least loaded "
        "shortest one, switch by switch), valiant or ugal (dragonflies).",
        autocompletion=complete.routings,
    ),
]
ArbiterName = Annotated[
    str,
    typer.Option(
        "--arbiter",
        metavar="NAME",
        help="Who is served first: round-robin (in turns), age (the oldest packet) or "
        "random.",
        autocompletion=complete.arbiters,
    ),
]
AllocatorName = Annotated[
    str,
    typer.Option(
        "--allocator",
        metavar="NAME",
        help="How inputs and outputs are matched: islip or wavefront.",
        autocompletion=complete.allocators,
    ),
]
Iterations = Annotated[
    int,
    typer.Option("--iterations", metavar="N", help="Iterations of islip in a cycle."),
]
