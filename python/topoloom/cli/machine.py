# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine`: show a machine, or write its description."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options import AsJson


def command(
    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help="torus:8x8x8, mesh:4x4, tree:4:8:2, graph:..., a file, a name from "
            "'topoloom list machines', or 'detect'.",
            autocompletion=complete.machines,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a description to edit (.toml), or a file for Scotch (.tgt), "
            "SimGrid (.xml) or METIS (.graph).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a machine: nodes, slots, links, shape, distances.

    \b
    A machine is a short text:
      torus:8x8x8                         512 nodes, rings in three dimensions
      torus:8x8x8,wrap=110                the last axis is open
      torus:17x8x24,nodes=2               two nodes per router
      torus:8x8,bandwidth=9.4GB/s,bandwidth.y=half,latency=1.3us
      mesh:4x4x4                          no wrap-around links
      tree:4:8:2,distance=1:10:100        bottom-up: 4 in a group, 8 groups, 2
      graph:4+1:0-4,1-4,2-4,3-4           four nodes on one switch
      torus:8x8x8+node:16:2,distance=1:2  nodes of 2 sockets with 16 slots each
    or a TOML file that says the same with names and units; -o writes one.
    The word 'detect' is the node that you are on, or the machine of your batch job.
    Files of Slurm, ibnetdiscover, hwloc, NCCL, Scotch, SimGrid, Cray systems, Tofu,
    Amazon, Google and Oracle are known by their content, METIS graphs by the suffix
    .graph: see 'topoloom list formats'.

    \b
    Examples:
      topoloom machine torus:8x8x8
      topoloom machine torus:8x8x8 -o m.toml && topoloom machine m.toml
      topoloom machine detect -o here.toml
      topoloom machine topology.conf -o cluster.tgt
    """
    from topoloom.cli.console import print_facts, print_json
    from topoloom.described_allocation import described_allocation
    from topoloom.discover.torus_places import drop_vacant
    from topoloom.hostlist import compress_hostlist
    from topoloom.machine_file import load_described, save_machine

    the_machine, described = load_described(machine)
    facts = _facts(the_machine)
    if described.hosts:
        facts["hosts"] = compress_hostlist(drop_vacant(described.hosts))
    if described.allocated:
        given = described_allocation(the_machine, described)
        facts["allocation"] = compress_hostlist(given.hosts or ())
        facts["allocated_slots"] = given.allocation.slot_count
    if output is not None:
        save_machine(output, the_machine, described.hosts, described.allocated)
    if as_json:
        print_json({**facts, "output": output and str(output)})
        return
    rows = [
        (name.replace("_", " "), _cell(value))
        for name, value in facts.items()
        if value not in (None, [], "")
    ]
    if output is not None:
        rows.append(("written", str(output)))
    print_facts(rows, the_machine.name)


def _facts(machine: Any) -> dict[str, Any]:
    shape = [int(extent) for extent in machine.shape]
    return {
        "machine": machine.text,
        "nodes": machine.node_count,
        "slots": machine.slot_count,
        "slots_per_node": machine.slots_per_node,
        "links": machine.link_count,
        "shape": shape,
        "wraps": [bool(wrap) for wrap in machine.wraps] if shape else [],
        **{key: value for key, value in machine.summary().items() if key not in _SHOWN},
    }


_SHOWN = {
    "machine",
    "text",
    "nodes",
    "slots",
    "slots_per_node",
    "links",
    "shape",
    "network",
}


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        sign = ", " if value and isinstance(value[0], bool) else " x "
        return sign.join(_cell(item) for item in value)
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."
