# SPDX-License-Identifier: BSD-3-Clause
"""What simulates messages, and its switches."""

from __future__ import annotations

from typing import Annotated

import typer

from topoloom.cli import complete

SIMULATOR_HELP = (
    "What simulates: simgrid, SMPI of SimGrid (Debian's package libsimgrid-dev); or "
    "switches, our own, packet by packet."
)
SwitchName = Annotated[
    str | None,
    typer.Option(
        "--switch",
        metavar="NAME|FILE",
        help="How switches are simulated: a name, or a TOML file with a [switch].",
        show_default="the machine's [switch]",
        autocompletion=complete.switches,
    ),
]
