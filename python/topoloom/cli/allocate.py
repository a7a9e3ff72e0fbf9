# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom allocate`: a ragged allocation, as schedulers leave them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topoloom.cli.options import AsJson, MachineText, Seed


def command(
    machine: MachineText,
    nodes: Annotated[
        int,
        typer.Option("--nodes", "-N", metavar="N", help="Nodes that the job gets."),
    ],
    fragments: Annotated[
        int,
        typer.Option(
            "--fragments", metavar="N", help="Boxes, lines and planes it consists of."
        ),
    ] = 4,
    seed: Seed = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the nodes to FILE."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate a ragged allocation, to study mappers without a busy machine.

    The job gets boxes, lines and planes of a bigger machine, scattered as a
    scheduler scatters them. The file holds one node a line, as coordinates where the
    machine has them; --allocation of the other verbs reads it, and host lists too.

    \b
    Examples:
      topoloom allocate --machine torus:25x32x16 --nodes 512 --fragments 9 -o a.txt
      topoloom map p.npz --machine torus:25x32x16 --allocation a.txt -o x.json
    The same in one go:
      topoloom map p.npz --machine torus:25x32x16 --allocate 512 --fragments 9
    """
    from topoloom.allocation_file import save_allocation
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.problem import generate
    from topoloom.machine_file import load_machine_and_hosts

    the_machine, hosts = load_machine_and_hosts(machine)
    allocation = generate(the_machine, hosts, nodes, fragments, seed)
    if output is not None:
        save_allocation(
            output,
            allocation,
            f"{nodes} nodes in {fragments} fragments, seed {seed}",
            hosts,
        )
    ids = [int(node) for node in allocation.nodes]
    if as_json:
        print_json(
            {
                "machine": the_machine.text,
                "nodes": ids,
                "fragments": fragments,
                "seed": seed,
                "slots": allocation.slot_count,
                "output": output and str(output),
            }
        )
        return
    shown = ", ".join(map(str, ids[:12])) + (", ..." if len(ids) > 12 else "")
    rows = [
        ("nodes", f"{len(ids):,} of {the_machine.node_count:,}: {shown}"),
        ("slots", f"{allocation.slot_count:,}"),
    ]
    if output is not None:
        rows.append(("written", str(output)))
    print_facts(rows, f"allocation on {the_machine.name}")
