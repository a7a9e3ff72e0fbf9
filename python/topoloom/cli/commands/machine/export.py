# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine export`: write a machine for editors and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.machines import MachineArgument


def command(
    machine: MachineArgument,
    output: Annotated[
        Path,
        output_option(
            "Write a description to edit (.toml), or a file for Scotch (.tgt), SimGrid "
            "(.xml) or METIS (.graph)."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a machine as TOML, or for Scotch, SimGrid or METIS.

    The suffix of the output file selects the format. Only TOML preserves all data; for
    other formats, a line says what the file omits or assumes.

    \b
    Examples:
      topoloom machine export torus:8x8x8 -o m.toml
      topoloom machine export torus:8x8x8,bandwidth=10GB/s -o m.xml
      topoloom machine export topology.conf -o cluster.graph
    """
    from topoloom.cli.console import note, print_facts, print_json
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    shown = load_shown_machine(machine)
    losses = shown.save(output)
    for line in losses:
        note(f"topoloom: {line}")
    if as_json:
        text = shown.machine.text
        print_json({"machine": text, "output": str(output), "losses": losses})
    else:
        print_facts([], shown.title(), [output])
