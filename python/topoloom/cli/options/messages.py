# SPDX-License-Identifier: BSD-3-Clause
"""Options for messages: ranks, grids, sizes, costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from topoloom.cli import completions
from topoloom.cli.parameters import Argument, Option

_GRID: Any = Option(
    "--grid",
    metavar="AxBxC",
    help="Process grid; ranks are numbered in row-major order, as in MPI_Cart.",
)
_RANKS: Any = Option("--ranks", "-n", metavar="N", help="Number of ranks.")

Grid = Annotated[str, _GRID]
MaybeGrid = Annotated[str | None, _GRID]
Ranks = Annotated[int, _RANKS]
MaybeRanks = Annotated[int | None, _RANKS]
_BYTES: Any = Option(
    "--bytes",
    metavar="SIZE",
    help="Size of a message, or of a moved task: 1024, 64KiB, 1.5MB; 'collective "
    "measure' takes several, with commas.",
)
Bytes = Annotated[str, _BYTES]
MaybeBytes = Annotated[str | None, _BYTES]
Model = Annotated[
    str | None,
    Option(
        "--model",
        metavar="MODEL",
        help="Message costs: a name from 'topoloom list models' or a file of 'topoloom "
        "model fit'.",
        autocompletion=completions.models,
    ),
]
ModelName = Annotated[
    str,
    Argument(
        metavar="MODEL",
        help="A name from 'topoloom list models', or a file of 'topoloom model fit'.",
        autocompletion=completions.models,
    ),
]
RoundTrip = Annotated[
    bool,
    Option(
        "--round-trip",
        help="Measured times are round trips; else one way, half of that.",
    ),
]
Root = Annotated[
    int,
    Option("--root", metavar="RANK", help="Root of trees and of rooted collectives."),
]
Channels = Annotated[
    int,
    Option(
        "--channels", metavar="N", help="Number of concurrent messages at full speed."
    ),
]


def method_option(autocompletion: Callable[[str], list[str]]) -> Option:
    """Make the option that selects a method among those of the command's help."""
    return Option(
        "--method",
        metavar="METHOD",
        help="Method; the description explains each.",
        autocompletion=autocompletion,
    )
