# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern`: make a communication graph, or import one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from topoloom.cli import completions
from topoloom.cli.options.files import (
    AsJson,
    Partial,
    output_option,
    suggest_partial,
)
from topoloom.cli.options.messages import Bytes, MaybeGrid, MaybeRanks, Root
from topoloom.cli.options.programs import Collectives, GpusPerNode
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option


def command(
    context: click.Context,
    name: Annotated[
        str,
        Argument(
            metavar="NAME",
            help="'import', or from: list patterns.",
            autocompletion=completions.patterns,
        ),
    ],
    file: Annotated[
        str | None,
        Argument(metavar="FILE", help="File to import, only with 'import'."),
    ] = None,
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
            help="Cells of molecular-dynamics; default: 16 angstrom wide.",
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
    amount: Bytes = "1024",
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
    kind: Annotated[
        str | None,
        Option("--format", metavar="NAME", help="Format to import; default: detected."),
    ] = None,
    collectives: Collectives = "expand",
    gpus_per_node: GpusPerNode = 8,
    partial: Partial = False,
    as_json: AsJson = False,
) -> None:
    """Make a communication graph: bytes from rank to rank.

    Ranks of a grid are numbered in row-major order, as in MPI_Cart. 'import' reads
    Matrix Market, METIS, .npz, dense text matrices, Open MPI monitoring output (a file,
    a directory, or 'prof/phase_1_*.prof'), GOAL, and traces of AI jobs: HLO text of
    XLA, dumps of PyTorch's flight recorder, Kineto traces, output of the NCCL
    Inspector, and Chakra's .et. Traces of all ranks are given by a directory or a glob
    pattern. A summary of the graph is always printed.

    \b
    Examples:
      topoloom pattern stencil3d --grid 8x8x8 --bytes 1024 -o p.npz
      topoloom pattern stencil --grid 16x8x4x2 --open --bytes 64KiB -o p.npz
      topoloom pattern random-geometric -n 1000 --average-degree 6 --seed 3 -o p.npz
      topoloom pattern bruck --ranks 64 --phases -o p.npz
      topoloom pattern triangular --rows 23 --order bcm --phases -o p.npz
      topoloom pattern triangular --rows 23 --groups row --phases --levels -o p.npz
      topoloom pattern molecular-dynamics --cells 7x7x5 -o p.npz
      topoloom pattern import matrix.mtx -o p.npz
      topoloom pattern import p.npz               look at a graph
      topoloom pattern import step.hlo -o p.npz
      topoloom pattern import step.hlo --collectives nccl --gpus-per-node 4 -o p.npz
      topoloom pattern nccl-tree --ranks 64 --bytes 1MiB -o p.npz
      topoloom pattern import 'dumps/nccl_trace_rank_*' --partial -o p.npz
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.graphs.patterns import PATTERNS
    from topoloom.tasks.pattern import generate_pattern, import_pattern

    if name == "import":
        if file is None:
            raise Error("nothing to import; write: topoloom pattern import FILE")
        if with_phases:
            raise Error(
                "--phases is for generated patterns; imported phases are always written"
            )
        _check_import_options(context, file, kind, collectives)
        with suggest_partial():
            made = import_pattern(
                file,
                kind,
                collectives=collectives,
                partial=partial,
                gpus_per_node=gpus_per_node,
            )
    elif file is not None:
        raise Error(f"'{file}' is unexpected; only 'import' takes a FILE")
    else:
        request = _make_request(
            name,
            {"grid": grid, "ranks": ranks, "rows": rows, "cells": cells},
            amount,
            periodic=periodic,
            root=root,
            degree=degree,
            order=order,
            threads=threads,
            groups=groups.split(","),
            levels=levels,
            seed=seed,
            proxies=proxies,
            gpus_per_node=gpus_per_node,
        )
        known = PATTERNS[name]
        phased = ["with_phases"] if known.phases is not None else []
        if with_phases and "groups" in known.reads:
            phased.append("levels")
        _check_pattern_options(context, name, [known.size, *known.reads, *phased])
        made = generate_pattern(name, request, with_phases)
    if output is not None:
        made.save(output)
    if as_json:
        print_json(made.document(str(output) if output else None))
    else:
        _print_result(name if file is None else file, made.facts(), output, made.losses)


def _check_import_options(
    context: click.Context, file: str, kind: str | None, collectives: str
) -> None:
    """Raise an error for options that an import does not use."""
    from topoloom.graphs.profile import BY_NCCL
    from topoloom.tasks.pattern import is_trace

    used = ["kind"]
    if is_trace(file, kind):
        used += ["collectives", "partial"]
        if collectives == BY_NCCL:
            used.append("gpus_per_node")
    else:
        _check_graph_options(context, file, kind)
    _check_pattern_options(context, "import", used)


def _check_graph_options(context: click.Context, file: str, kind: str | None) -> None:
    """Raise an error for options of traces if the file is a graph."""
    from topoloom._core import Error
    from topoloom.tasks.pattern import import_pattern

    for option in ("collectives", "partial", "gpus_per_node"):
        if _is_given(context, option):
            import_pattern(file, kind)  # report errors in the file first
            raise Error(
                f"{file} is a graph, but --{option.replace('_', '-')} is for traces of "
                "jobs; leave it out"
            )


def _is_given(context: click.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _check_pattern_options(
    context: click.Context, name: str, reads: Sequence[str]
) -> None:
    """Raise an error for options that the pattern does not use."""
    from topoloom._core import Error

    takes = {"amount" if read == "bytes" else read for read in reads}
    always = {"name", "file", "output", "as_json", "with_phases"}
    options = {
        str(option.name): "/".join(option.opts[:1] + option.secondary_opts[:1])
        for option in context.command.params
    }
    for option, spelled in options.items():
        if option not in takes | always and _is_given(context, option):
            known = [text for each, text in options.items() if each in takes]
            raise Error(
                f"{spelled} is not an option of {name}, which takes {', '.join(known)}"
            )


def _make_request(
    name: str, sizes: dict[str, str | int | None], amount: str, **others: Any
) -> Any:
    from topoloom._core import Error, molecular_cells
    from topoloom.graphs.patterns import PATTERNS, Request, parse_grid
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.support.range_checks import check_int64
    from topoloom.support.units import parse_bytes

    if name not in PATTERNS:
        raise Error(describe_unknown_name("pattern", name, [*PATTERNS, "import"]))
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


def _print_result(
    title: str, facts: dict[str, Any], output: Path | None, losses: Sequence[str]
) -> None:
    from topoloom.cli.console import print_facts
    from topoloom.support.units import format_bytes

    rows = [
        ("ranks", f"{facts['ranks']:,}"),
        (
            "edges",
            f"{facts['edges']:,} (a rank sends to {facts['peers_average']:.1f} on "
            f"average, {facts['peers_max']} at most)",
        ),
        ("bytes", f"{format_bytes(facts['bytes'])} in {facts['messages']:,} messages"),
    ]
    if facts["proxied"]:
        rows.append(
            ("proxied", f"{facts['proxied']:,} ranks, whose data goes to a slot once")
        )
    if facts["phases"] > 1:
        rows.append(("phases", f"{facts['phases']:,}"))
    if facts["self_bytes"]:
        rows.append(("to itself", f"{format_bytes(facts['self_bytes'])}, not counted"))
    if pair := facts["heaviest"]:
        rows.append(
            (
                "heaviest",
                f"{pair['source']} → {pair['target']}: {format_bytes(pair['bytes'])}",
            )
        )
    rows += [("missing", loss) for loss in losses]
    print_facts(rows, title, [output])
