# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs share, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete


def _writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before a long search, not after it."""
    from topoloom.support.files import check_writable

    if path is not None:
        check_writable(path)
    return path


def _drawable(path: Path | None) -> Path | None:
    from topoloom.figure.page import check_figure

    if path is not None:
        check_figure(path)
    return path


def output_option(text: str, *names: str) -> Any:
    """Describe an option that names a file to write: -o, unless `names` say else."""
    return typer.Option(
        *(names or ("--output", "-o")),
        metavar="FILE",
        help=text,
        callback=_writable,
        readable=False,
    )


def figure_option(text: str, name: str = "--figure") -> Any:
    """Describe an option that names a figure to draw."""
    return typer.Option(
        name, metavar="FILE", help=text, callback=_drawable, readable=False
    )


GraphFile = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Communication graph: .npz from record or pattern, Matrix Market, METIS, "
        "dense text, Open MPI monitoring output (file or directory).",
    ),
]
Mpicc = Annotated[
    str | None,
    typer.Option(
        "--mpicc",
        metavar="COMPILER",
        help="mpicc of the program's MPI; default: the one beside its launcher.",
    ),
]
MachineText = Annotated[
    str,
    typer.Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        help="torus:8x8x8, mesh:4x4, tree:4:8:2,distance=1:10:100, a file in a format "
        "from 'topoloom list formats', a name from 'topoloom list machines', or "
        "'detect'; +node:8:2 behind it puts other nodes into it.",
        autocompletion=complete.machines,
    ),
]
MaybeMachineText = Annotated[str | None, MachineText.__metadata__[0]]
AllocationText = Annotated[
    str | None,
    typer.Option(
        "--allocation",
        "-a",
        metavar="FILE|HOSTS",
        help="Where the job may run: a file (hosts, node ids or coordinates, one a "
        "line) or a host list such as 'n[001-064,070]'. Unless the machine names its "
        "hosts, digits at the end of a name are the node id. Default: all nodes.",
    ),
]
Allocate = Annotated[
    int | None,
    typer.Option(
        "--allocate",
        metavar="NODES",
        help="Instead of --allocation: a generated ragged allocation of NODES nodes.",
    ),
]
Fragments = Annotated[
    int | None,
    typer.Option(
        "--fragments",
        metavar="N",
        help="Pieces that --allocate leaves the job.",
        show_default="4, or fewer nodes or routers",
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", help="Same seed, same result."),
]
Seconds = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="TIME", help="Stop searching after this time, e.g. 10s, 2min."
    ),
]
Work = Annotated[
    int | None,
    typer.Option(
        "--work",
        metavar="N",
        help="Stop after evaluating N candidates; unlike --time, repeatable.",
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        "--threads", metavar="N", help="Threads to search with; 0 means all cores."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")
]
Figure = Annotated[Path | None, figure_option("Draw the result: .svg, .png, .pdf.")]
Effort = Annotated[
    str | None,
    typer.Option(
        "--effort",
        metavar="EFFORT",
        help="How long the auto mapper searches: fast, default or best.",
        autocompletion=complete.efforts,
    ),
]
Imbalance = Annotated[
    float | None,
    typer.Option(
        "--imbalance",
        metavar="X",
        help="Where ranks outnumber slots, a slot may hold (1 + X) times its share of "
        "their load; 0.03 means 3 %.",
    ),
]
Capacities = Annotated[
    Path | None,
    typer.Option(
        "--capacities",
        metavar="FILE",
        help="The load that each allocated slot may hold, one number a line; ranks "
        "then share slots.",
    ),
]
ObjectiveName = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="What to minimize: hop-bytes, congestion, congestion-soft, time, a mix as "
        "'weighted(hop-bytes=1;congestion=2)', or auto: time, or hop-bytes where "
        "bandwidths are unknown or messages short.",
        autocompletion=complete.objectives,
    ),
]
Background = Annotated[
    list[str] | None,
    typer.Option(
        "--background",
        metavar="FILE",
        help="What others send meanwhile: loads of links, from 'topoloom judge "
        "--loads', or another job's GRAPH,PLACEMENT; may be given several times.",
    ),
]
LauncherName = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help="Who will start the ranks, and so which slots of a larger allocation they "
        "get: slurm deals them to the nodes in turn, openmpi and mpich fill one node "
        "after the other.",
        autocompletion=complete.launchers,
    ),
]
RanksPerNode = Annotated[
    int | None,
    typer.Option(
        "--ranks-per-node",
        metavar="N",
        help="The most ranks on a node; the job then uses as few nodes as it needs.",
    ),
]
CoresPerRank = Annotated[
    int,
    typer.Option(
        "--cores-per-rank",
        metavar="N",
        help="Slots that each rank takes, one after the other: its place is the first.",
    ),
]
MemoryPerRank = Annotated[
    str | None,
    typer.Option(
        "--memory-per-rank",
        metavar="SIZE",
        help="A node holds as many ranks as its memory does, such as 8GB; for machines "
        "that tell it.",
    ),
]
