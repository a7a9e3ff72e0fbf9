# SPDX-License-Identifier: BSD-3-Clause
"""Options for files that commands read and write, and for JSON output."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

from topoloom.cli.parameters import Argument, Option


def _require_writable(path: Path | None) -> Path | None:
    """Raise an error before a long search if a file cannot be written."""
    if path is not None:
        from topoloom.support.files import check_writable

        check_writable(path)
    return path


def _require_page(path: Path | None) -> Path | None:
    if path is not None:
        from topoloom.support.files import check_page_name

        check_page_name(path)
    return path


def _require_directory(path: Path | None) -> Path | None:
    if path is not None:
        from topoloom.support.files import check_directory

        check_directory(path)
    return path


def _require_toml(path: Path | None) -> Path | None:
    """Raise an error for a suffix other than .toml, except for devices."""
    from topoloom._core import Error

    is_device = path is not None and path.exists() and not path.is_file()
    if path is not None and path.suffix != ".toml" and not is_device:
        raise Error(
            f"{path}: machine descriptions are written as .toml; 'topoloom machine "
            "export' writes other formats"
        )
    return _require_writable(path)


def _require_drawable(path: Path | None) -> Path | None:
    from topoloom.figure.page import check_figure_suffix

    if path is not None:
        check_figure_suffix(path)
    return path


def output_option(text: str, *names: str) -> Option:
    """Make an option for an output file, by default -o."""
    return Option(
        *(names or ("--output", "-o")),
        metavar="FILE",
        help=text,
        is_output=True,
        callback=_require_writable,
    )


def page_option(text: str, *names: str) -> Option:
    """Make an option for an output page, by default -o."""
    return Option(
        *(names or ("--output", "-o")),
        metavar="FILE",
        help=f"{text}: .html.",
        is_output=True,
        callback=_require_page,
    )


def description_option(text: str) -> Option:
    """Make an option -o for a machine description, which is written as TOML."""
    return Option(
        "--output",
        "-o",
        metavar="FILE",
        help=text,
        is_output=True,
        callback=_require_toml,
    )


def figure_option(text: str, *names: str) -> Option:
    """Make an option for an output figure, by default --figure."""
    return Option(
        *(names or ("--figure",)),
        metavar="FILE",
        help=f"{text}: .svg, .png or .pdf.",
        is_output=True,
        callback=_require_drawable,
    )


def format_option(autocompletion: Callable[[str], list[str]]) -> Option:
    """Make the option for the format of the result, which the command's help lists."""
    return Option(
        "--to",
        metavar="FORMAT",
        help="Format of the result; the description explains each.",
        autocompletion=autocompletion,
    )


GraphFile = Annotated[
    str,
    Argument(
        metavar="GRAPH",
        help="Communication graph: .npz from record or pattern, Matrix Market, METIS, "
        "dense text, GOAL, Open MPI monitoring output (file or directory).",
    ),
]
GraphOption = Annotated[
    str | None,
    Option(
        "--graph",
        "-g",
        metavar="GRAPH",
        help="Communication graph of the job, in a format that 'topoloom map' reads; "
        "of tasks also a table task,task,bytes.",
    ),
]
WriteGraph = Annotated[
    Path | None,
    output_option(
        "Write the messages as a communication graph with phases (.npz).",
        "--write-graph",
    ),
]
PlacementFile = Annotated[
    Path, Argument(metavar="PLACEMENT", help="A file written by 'topoloom map'.")
]
MaybePlacementFile = Annotated[
    str | None,
    Argument(
        metavar="PLACEMENT",
        help="A file written by 'topoloom map', or with --machine a rankfile, host "
        "file or other format of 'topoloom list exports', as FILE or FORMAT:FILE. "
        "Default: block order on --machine, the launcher's default.",
    ),
]
PlacementOption = Annotated[
    Path | None,
    Option(
        "--placement",
        metavar="PLACEMENT",
        help="Placement: a file of 'topoloom map'; map and compare also read rankfiles "
        "and host files.",
    ),
]
WritePlacement = Annotated[
    Path | None,
    output_option("Write the placement of the ranks.", "--write-placement"),
]
OutputDirectory = Annotated[
    Path | None,
    Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write the results into this directory.",
        callback=_require_directory,
    ),
]
Figure = Annotated[Path | None, figure_option("Draw the result")]
Partial = Annotated[
    bool,
    Option("--partial", help="Use the readable part of an incomplete file."),
]
AsJson = Annotated[
    bool,
    Option(
        "--json",
        help="Print only JSON on stdout; if stdout is the program's, one line of JSON "
        "on stderr.",
    ),
]


@contextlib.contextmanager
def suggest_partial() -> Iterator[None]:
    """Add a hint about --partial to errors that report incomplete traces."""
    from topoloom._core import Error
    from topoloom.graphs.traces.trace_formats import IncompleteTraceError

    try:
        yield
    except IncompleteTraceError as error:
        raise Error(f"{error}; --partial uses the readable part") from None
