# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom export`: a placement in the words of mpirun, srun and other launchers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topoloom.cli.options import AsJson, output_option

CoresPerSlot = Annotated[
    int,
    typer.Option(
        "--cores-per-slot",
        metavar="N",
        help="Cores that each slot stands for, for ranks with N threads.",
    ),
]
Bind = Annotated[
    str | None,
    typer.Option(
        "--bind",
        metavar="core|pu",
        help="Bind each rank to the core of its slot, or to one hardware thread of it. "
        "Needs a machine that tells its CPUs: from hwloc, 'detect', or node.cpus.",
    ),
]
Hosts = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="HOSTS",
        help="Host names of the allocation's nodes, in its order: n[001-064,070].",
    ),
]


def command(
    placement: Annotated[
        Path, typer.Argument(metavar="PLACEMENT", help="JSON, as 'map' writes it.")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="openmpi-rankfile, hostfile, mpich-rankmap, mpich-hostfile, "
            "mpich-rank-order, slurm-hostfile, list or bindings.",
        ),
    ],
    hosts: Hosts = None,
    cores_per_slot: CoresPerSlot = 1,
    bind: Bind = None,
    output: Annotated[
        Path | None,
        output_option("Default: print it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a placement as a file that a launcher reads.

    Host names come from the allocation (a host list keeps its names), the machine or
    --hosts; without these, node 7 is called n7. openmpi-rankfile names cores; the
    formats for other launchers name hosts, whose cores the launcher fills in rank
    order, unless --bind adds CPUs (mpich-hostfile, slurm-hostfile).

    \b
    Examples:
      topoloom export x.json --to openmpi-rankfile -o ranks.txt
      mpirun --rankfile ranks.txt -n 64 ./app
      topoloom export x.json --to slurm-hostfile --hosts "$SLURM_JOB_NODELIST" -o h
      SLURM_HOSTFILE=h srun -m arbitrary -n 64 ./app
    Or let topoloom do it:
      topoloom run --machine torus:4x4x4 --allocation 'n[00-63]' -- mpirun -n 64 ./app
    """
    import re
    import sys

    from topoloom.cli.console import note, print_json
    from topoloom.cli.placed import load_placed
    from topoloom.files import write_text
    from topoloom.launch.formats import find_format, use, what_is_lost

    target = find_format(to)
    placed = load_placed(placement, hosts, cores_per_slot, bind)
    text = target.write(placed)
    loss = what_is_lost(target, placed)
    if output is not None:
        write_text(output, text)
    # Not the end of SLURM_HOSTFILE.
    how = re.sub(r"\bFILE\b", lambda _: str(output or "FILE"), use(target, placed))
    if as_json:
        print_json(
            {
                "to": target.NAME,
                "output": output and str(output),
                "text": text,
                "use": how,
                "note": loss,
            }
        )
        return
    if output is None:
        sys.stdout.write(text)
    else:
        print(f"use it:  {how}")
    if loss is not None:
        note(f"note: {loss}")
