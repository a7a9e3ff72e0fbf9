# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine import`: convert a file of another program to a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Partial
from topoloom.cli.options.machines import WriteDescription
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.importers.machine_description import GivenSpeeds, Selection
    from topoloom.tasks.machines.shown_machine import ShownMachine


def command(
    file: Annotated[
        str,
        Argument(
            metavar="FILE",
            help="A file in a format from 'topoloom list formats'; with --node, any "
            "machine.",
            autocompletion=completions.machines,
        ),
    ],
    node: Annotated[
        list[str] | None,
        Option(
            "--node",
            metavar="[HOSTS=]FILE",
            help="Internal structure of nodes: hwloc XML, a machine file, or "
            "+node:8:2. May be repeated for different hosts.",
        ),
    ] = None,
    partial: Partial = False,
    network: Annotated[
        str | None,
        Option(
            "--network",
            metavar="RATE",
            help="Total bandwidth of a node's NICs in each direction, if the file has "
            "no link speeds: 400Gbit/s, 200GB/s.",
        ),
    ] = None,
    nvlink: Annotated[
        str | None,
        Option(
            "--nvlink",
            metavar="RATE",
            help="NVLink bandwidth per GPU in each direction, for nodes of Kubernetes.",
        ),
    ] = None,
    xgmi: Annotated[
        str | None,
        Option(
            "--xgmi",
            metavar="RATE",
            help="Bandwidth of an xGMI link of AMD's GPUs in each direction.",
            show_default="that of the GPU",
        ),
    ] = None,
    topology: Annotated[
        str | None,
        Option(
            "--topology",
            metavar="TOPOLOGY",
            help="Topology of Slurm's topology.yaml [default: the cluster's default].",
        ),
    ] = None,
    part: Annotated[
        str | None,
        Option(
            "--part",
            metavar="PART",
            help="Switch, ring or torus of Slurm, to read only it and what is below "
            "it.",
        ),
    ] = None,
    output: WriteDescription = None,
    as_json: AsJson = False,
) -> None:
    """Convert a file of another program to a machine description.

    Files of Slurm, ibnetdiscover, hwloc, NCCL, RCCL, nvidia-smi, amd-smi, Scotch,
    SimGrid, Cray systems, Tofu, Amazon, Google, Oracle and Kubernetes are recognized by
    content, METIS graphs by the suffix .graph: see 'topoloom list formats'.

    Other commands also read these files as machines. Import a file to add what it does
    not contain: the nodes inside, with --node, or speeds. Without -o, the machine is
    only shown. Remarks name what was assumed.

    \b
    Examples:
      topoloom machine import topology.conf -o cluster.toml
      topoloom machine import topology.conf --node node.xml -o cluster.toml
      topoloom machine import topology.conf \\
          --node 'gpu[1-4]=gpu.xml' --node cpu.xml
      topoloom machine import nodes.json --partial --network 1600Gbit/s
    """
    from topoloom.cli.output.shown_machine import print_machine
    from topoloom.importers.machine_description import Selection
    from topoloom.support.units import parse_bandwidth

    xgmi_rate = 0 if xgmi is None else parse_bandwidth(xgmi)
    shown = _load_machine(
        file,
        node or [],
        partial,
        _parse_speeds(network, nvlink),
        Selection(topology or "", part or "", xgmi_rate),
    )
    if output is not None:
        shown.save(output)
    print_machine(shown, as_json, output)


def _parse_speeds(network: str | None, nvlink: str | None) -> GivenSpeeds:
    from topoloom.importers.machine_description import GivenSpeeds
    from topoloom.support.units import parse_bandwidth

    return GivenSpeeds(
        None if network is None else parse_bandwidth(network),
        None if nvlink is None else parse_bandwidth(nvlink),
    )


def _load_machine(
    file: str,
    node_files: list[str],
    partial: bool,
    speeds: GivenSpeeds,
    selection: Selection,
) -> ShownMachine:
    """Load the machine, and print remarks about omitted parts."""
    from topoloom._core import Error
    from topoloom.cli.console import note
    from topoloom.machines.machine_file import IncompleteFileError
    from topoloom.support.units import counted
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    try:
        shown = load_shown_machine(
            file, node_files, partial=partial, speeds=speeds, selection=selection
        )
    except IncompleteFileError as error:
        for line in error.lines:
            note(f"topoloom: {line}")
        count = counted(len(error.lines), "node")
        raise Error(
            f"{file}: {count} cannot be located; --partial uses the others"
        ) from None
    for line in shown.described.missing:
        note(f"topoloom: left out: {line}")
    return shown
