# SPDX-License-Identifier: BSD-3-Clause
"""The option that selects the simulator of messages."""

from __future__ import annotations

from typing import Annotated

from topoloom.cli import completions
from topoloom.cli.parameters import Option

SimulatorName = Annotated[
    str | None,
    Option(
        "--with",
        metavar="SIMULATOR",
        help="Simulator: simgrid, SMPI of SimGrid (Debian's package libsimgrid-dev); "
        "or switches, the built-in packet-level simulator.",
        autocompletion=completions.simulators,
    ),
]
