# SPDX-License-Identifier: BSD-3-Clause
"""Options for the run store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from topoloom.cli.parameters import Option

Store = Annotated[
    Path | None,
    Option(
        "--store",
        metavar="DIR",
        help="Directory of the run store.",
        show_default="$TOPOLOOM_STORE, or XDG data",
    ),
]


ProgramName = Annotated[
    str | None,
    Option(
        "--name",
        metavar="PROGRAM",
        help="Recognize the program by this name.",
    ),
]


StartsNew = Annotated[
    bool, Option("--new", help="Start anew instead of continuing what was interrupted.")
]


class RememberingOptions(NamedTuple):
    """Options for recordings of earlier runs."""

    now: Annotated[
        bool,
        Option("--now", help="Run twice: recorded, then placed."),
    ] = False
    like: Annotated[
        bool,
        Option("--like", help="Accept a recording with other arguments."),
    ] = False
    policy: Annotated[
        Path | None,
        Option(
            "--policy",
            metavar="FILE",
            help="Policy of the centre, or $TOPOLOOM_POLICY.",
        ),
    ] = None
