# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine draw`: draw the nodes, switches and links of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli.options.files import AsJson, figure_option
from topoloom.cli.options.machines import MachineArgument


def command(
    machine: MachineArgument,
    output: Annotated[Path, figure_option("Write the drawing", "--output", "-o")],
    as_json: AsJson = False,
) -> None:
    """Draw the nodes, switches and links of a machine.

    Colors tell links of different bandwidths apart. Small machines are drawn with the
    names of nodes, large ones as an overview and one of its parts.

    \b
    Examples:
      topoloom machine draw torus:8x8 -o torus.svg
      topoloom machine draw frontier -o frontier.png
    """
    from topoloom.cli.console import print_facts, print_json
    from topoloom.figure import draw_machine
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    shown = load_shown_machine(machine)
    draw_machine(output, shown.machine, shown.described.hosts)
    if as_json:
        print_json({"machine": shown.machine.text, "output": str(output)})
    else:
        print_facts([], shown.title(), [output])
