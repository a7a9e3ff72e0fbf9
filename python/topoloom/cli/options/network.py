# SPDX-License-Identifier: BSD-3-Clause
"""Options for simulated switches."""

from __future__ import annotations

from typing import Annotated

from topoloom.cli import complete
from topoloom.cli.parameters import Option

Router = Annotated[
    str,
    Option(
        "--router",
        metavar="KIND",
        help="How switches queue: input-queued, voq (virtual output queues: one for "
        "each output at each input), output-queued (a buffer for each such pair), or "
        "split-fanout and whole-fanout (a queue at each input, whose first packet is "
        "copied to outputs as they come free, or to all at once).",
        autocompletion=complete.routers,
    ),
]
SwitchName = Annotated[
    str | None,
    Option(
        "--switch",
        metavar="NAME|FILE",
        help="How switches are simulated: a name, or a TOML file with a [switch].",
        show_default="the machine's [switch]",
        autocompletion=complete.switches,
    ),
]
RoutingName = Annotated[
    str,
    Option(
        "--routing",
        metavar="NAME",
        help="Among routes: own (the machine's), minimal-adaptive (the least loaded "
        "shortest one, switch by switch), valiant or ugal (dragonflies).",
        autocompletion=complete.routings,
    ),
]
ArbiterName = Annotated[
    str,
    Option(
        "--arbiter",
        metavar="NAME",
        help="Who is served first: round-robin (in turns), age (the oldest packet) or "
        "random.",
        autocompletion=complete.arbiters,
    ),
]
AllocatorName = Annotated[
    str,
    Option(
        "--allocator",
        metavar="NAME",
        help="How inputs and outputs are matched: islip or wavefront.",
        autocompletion=complete.allocators,
    ),
]
Iterations = Annotated[
    int,
    Option("--iterations", metavar="N", help="Iterations of islip in a cycle."),
]
