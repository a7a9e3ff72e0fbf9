# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern generate`: generate the communication graph of a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.messages import MaybeBytes, MaybeGrid, MaybeRanks, Root
from topoloom.cli.options.programs import GpusPerNode
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option

#: Default size of a message.
_BYTES = "1KiB"


def command(
    context: click.Context,
    name: Annotated[
        str,
        Argument(
            metavar="NAME",
            help="A name from 'topoloom list patterns'.",
            autocompletion=completions.patterns,
        ),
    ],
    output: Annotated[
        Path | None,
        output_option("Write the graph as .npz."),
    ] = None,
    grid: MaybeGrid = None,
    ranks: MaybeRanks = None,
    rows: Annotated[
        int | None,
        Option("--rows", metavar="N", help="Rows of a triangular grid."),
    ] = None,
    cells: Annotated[
        str | None,
        Option(
            "--cells",
            metavar="AxBxC",
            help="Cells of molecular-dynamics.",
            show_default="16 angstrom wide",
        ),
    ] = None,
    proxies: Annotated[
        bool,
        Option(
            "--proxies/--no-proxies",
            help="Whether molecular-dynamics sends a patch once to each slot, not to "
            "each compute.",
        ),
    ] = True,
    amount: MaybeBytes = None,
    periodic: Annotated[
        bool,
        Option("--periodic/--open", help="Whether the grid wraps around."),
    ] = True,
    root: Root = 0,
    degree: Annotated[
        float,
        Option(
            "--average-degree",
            metavar="D",
            help="Average number of neighbors, of random-geometric.",
        ),
    ] = 8.0,
    order: Annotated[
        str,
        Option(
            "--order",
            metavar="NAME",
            help="Order of the ranks of a triangular grid: dm, cm, bdm, bcm.",
            autocompletion=completions.complete_words("dm", "cm", "bdm", "bcm"),
        ),
    ] = "bcm",
    threads: Annotated[
        int,
        Option(
            "--threads-per-rank",
            metavar="N",
            help="Cores of a rank of a triangular grid: rows get fewer by the root.",
        ),
    ] = 1,
    groups: Annotated[
        str,
        Option(
            "--groups",
            metavar="NAME,...",
            help="Communication of a triangular grid, in this order: column, row, "
            "column-reduction, row-reduction, orthogonalization (a scatter), "
            "allreduce, gather.",
            autocompletion=completions.complete_word_list(
                "column",
                "row",
                "column-reduction",
                "row-reduction",
                "orthogonalization",
                "allreduce",
                "gather",
            ),
        ),
    ] = "column,row,orthogonalization",
    seed: Seed = 1,
    with_phases: Annotated[
        bool,
        Option(
            "--phases",
            help="Also write which round each message is sent in: of bruck, binomial, "
            "recursive-doubling, nccl-alltoall; or in which group: of triangular.",
        ),
    ] = False,
    levels: Annotated[
        bool,
        Option(
            "--levels",
            help="With --phases: each level of a group's trees is a separate phase.",
        ),
    ] = False,
    gpus_per_node: GpusPerNode = None,
    as_json: AsJson = False,
) -> None:
    """Generate the communication graph of a pattern.

    Ranks of a grid are numbered in row-major order, as in MPI_Cart. 'topoloom list
    patterns' names the size that each pattern needs; an option that the pattern does
    not use is refused. Messages have 1 KiB by default. A summary of the graph is always
    printed.

    \b
    Examples:
      topoloom pattern generate stencil2d --grid 8x8 --bytes 64KiB -o p.npz
      topoloom pattern generate stencil --grid 16x8x4x2 --open -o p.npz
      topoloom pattern generate random-geometric -n 1000 --average-degree 6
      topoloom pattern generate bruck --ranks 64 --phases -o p.npz
      topoloom pattern generate triangular --rows 23 --order bcm --phases -o p.npz
      topoloom pattern generate triangular --rows 23 --groups row \\
          --phases --levels
      topoloom pattern generate molecular-dynamics --cells 7x7x5 -o md.npz
      topoloom pattern generate nccl-tree --ranks 64 --bytes 1MiB -o p.npz
    """
    from topoloom.cli.output.graph import print_made_graph
    from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
    from topoloom.tasks.graphs.pattern import generate_pattern

    request = _make_request(
        name,
        {"grid": grid, "ranks": ranks, "rows": rows, "cells": cells},
        amount or _BYTES,
        periodic=periodic,
        root=root,
        degree=degree,
        order=order,
        threads=threads,
        groups=groups.split(","),
        levels=levels,
        seed=seed,
        proxies=proxies,
        gpus_per_node=gpus_per_node or GPUS_PER_NODE,
    )
    _check_options(context, name, with_phases)
    made = generate_pattern(name, request, with_phases)
    print_made_graph(made, name, output, as_json)


def _check_options(context: click.Context, name: str, with_phases: bool) -> None:
    """Raise an error for options that the pattern does not use."""
    from topoloom._core import Error
    from topoloom.cli.options.given import list_given_options, spell_options
    from topoloom.graphs.patterns import PATTERNS

    pattern = PATTERNS[name]
    takes = {"amount" if read == "bytes" else read for read in pattern.reads}
    takes.add(pattern.size)
    if pattern.phases is not None:
        takes.add("with_phases")
    if with_phases and "groups" in takes:
        takes.add("levels")
    always = {"output", "as_json", "with_phases"}
    for option, spelled in list_given_options(context).items():
        if option not in takes | always:
            known = [
                text for each, text in spell_options(context).items() if each in takes
            ]
            raise Error(
                f"{spelled} is not an option of {name}, which takes {', '.join(known)}"
            )


def _make_request(
    name: str, sizes: dict[str, str | int | None], amount: str, **others: Any
) -> Any:
    from topoloom._core import Error, molecular_cells
    from topoloom.graphs.patterns import PATTERNS, Request, parse_grid
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.support.parameter_error import check_int64
    from topoloom.support.units import parse_bytes

    if name not in PATTERNS:
        raise Error(describe_unknown_name("pattern", name, PATTERNS))
    kind = PATTERNS[name].size
    size = sizes[kind]
    if size is None and kind != "cells":
        example = {"grid": "8x8x8", "ranks": 64, "rows": 23}[kind]
        raise Error(f"{name} needs --{kind}, such as --{kind} {example}")
    request: dict[str, Any] = {"ranks": 0, "bytes": parse_bytes(amount), **others}
    if size is None:
        request[kind] = molecular_cells()
    elif isinstance(size, str):
        request[kind] = parse_grid(size)
    else:
        check_int64(f"--{kind}", size, 1)
        request[kind] = size
    check_int64("--seed", others["seed"], 0)
    check_int64("--root", others["root"], 0)
    check_int64("--threads-per-rank", others["threads"], 1)
    return Request(**request)
