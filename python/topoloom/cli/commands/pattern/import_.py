# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern import`: convert a graph file or the trace of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from topoloom.cli import completions
from topoloom.cli.options.files import (
    AsJson,
    Partial,
    output_option,
    suggest_partial,
)
from topoloom.cli.options.programs import Collectives, GpusPerNode
from topoloom.cli.parameters import Argument, Option


def command(
    context: click.Context,
    file: Annotated[
        str,
        Argument(
            metavar="FILE",
            help="A graph of another program; for a trace also a directory or a glob "
            "pattern with the files of all ranks.",
        ),
    ],
    output: Annotated[
        Path | None,
        output_option("Write the graph as .npz."),
    ] = None,
    kind: Annotated[
        str | None,
        Option(
            "--format",
            metavar="NAME",
            help="Format of FILE.",
            show_default="detected",
            autocompletion=completions.graph_formats,
        ),
    ] = None,
    scale: Annotated[
        float | None,
        Option(
            "--scale",
            metavar="X",
            help="Multiply the values of FILE and round them to bytes, for fractions "
            "and other units.",
            show_default="values are bytes",
        ),
    ] = None,
    collectives: Collectives = "expand",
    gpus_per_node: GpusPerNode = None,
    partial: Partial = False,
    as_json: AsJson = False,
) -> None:
    """Convert a graph file or the trace of a job.

    Graphs: edge lists (source target bytes [messages], also CSV), Matrix Market,
    METIS, .npz, dense text matrices, DIMACS, GML, GraphML, GOAL, and Open MPI
    monitoring output (a file, a directory, or 'prof/phase_1_*.prof').

    Traces of MPI programs: OTF2 of Score-P, Paraver, dumpi2ascii of SST, SimGrid's
    time-independent ones, Pajé, and IPM's XML.

    Traces of AI jobs: HLO text of XLA, dumps of PyTorch's flight recorder, Kineto
    traces, output of the NCCL Inspector, and Chakra's .et. Only for traces:
    --collectives, --gpus-per-node and --partial.

    \b
    Examples:
      topoloom pattern import matrix.mtx -o p.npz
      topoloom pattern import traffic.csv --scale 1024 -o p.npz
      topoloom pattern import step.hlo -o p.npz
      topoloom pattern import step.hlo --collectives nccl \\
          --gpus-per-node 4 -o p.npz
      topoloom pattern import 'dumps/nccl_trace_rank_*' --partial -o p.npz
    """
    from topoloom.cli.output.graph import print_made_graph
    from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
    from topoloom.tasks.graphs.pattern import import_pattern

    _check_options(context, file, kind, collectives)
    with suggest_partial():
        made = import_pattern(
            file,
            kind,
            collectives=collectives,
            partial=partial,
            gpus_per_node=gpus_per_node or GPUS_PER_NODE,
            scale=scale,
        )
    print_made_graph(made, file, output, as_json)


def _check_options(
    context: click.Context, file: str, kind: str | None, collectives: str
) -> None:
    """Raise an error for options of traces that are not used."""
    from topoloom._core import Error
    from topoloom.cli.options.given import list_given_options
    from topoloom.graphs.profile import BY_NCCL
    from topoloom.tasks.graphs.pattern import import_pattern, is_trace

    given = list_given_options(context)
    if is_trace(file, kind):
        if "gpus_per_node" in given and collectives != BY_NCCL:
            raise Error(
                "--gpus-per-node is for the messages of NCCL; add --collectives nccl"
            )
        return
    for name in ("collectives", "partial", "gpus_per_node"):
        if name in given:
            import_pattern(file, kind)  # report errors in the file first
            raise Error(
                f"{file} is a graph, but {given[name]} is for traces of jobs; leave it "
                "out"
            )
