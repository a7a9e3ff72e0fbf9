# SPDX-License-Identifier: BSD-3-Clause
"""Options for simulated switches."""

from __future__ import annotations

from typing import Annotated

from topoloom.cli import completions
from topoloom.cli.parameters import Option

Router = Annotated[
    str,
    Option(
        "--router",
        metavar="KIND",
        help="Queues of switches: input-queued, voq (virtual output queues, one per "
        "output at each input), output-queued (a buffer per pair of input and "
        "output), split-fanout or whole-fanout (a queue per input; its first packet "
        "is copied to outputs when each is free, or to all at once).",
        autocompletion=completions.routers,
    ),
]
SwitchName = Annotated[
    str | None,
    Option(
        "--switch",
        metavar="NAME|FILE",
        help="Switch model: a name, or a TOML file with a [switch].",
        show_default="the one of the machine, or a generic one",
        autocompletion=completions.switches,
    ),
]
RoutingName = Annotated[
    str,
    Option(
        "--routing",
        metavar="NAME",
        help="Routing: own (the machine's routes), minimal-adaptive (the least loaded "
        "shortest route, chosen at each switch), valiant or ugal (dragonflies).",
        autocompletion=completions.routings,
    ),
]
ArbiterName = Annotated[
    str,
    Option(
        "--arbiter",
        metavar="NAME",
        help="Arbiter: round-robin, age (oldest packet first) or random.",
        autocompletion=completions.arbiters,
    ),
]
AllocatorName = Annotated[
    str,
    Option(
        "--allocator",
        metavar="NAME",
        help="Allocator that matches inputs with outputs: islip or wavefront.",
        autocompletion=completions.allocators,
    ),
]
Iterations = Annotated[
    int,
    Option("--iterations", metavar="N", help="Iterations of islip in a cycle."),
]
