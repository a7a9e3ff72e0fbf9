# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom report`: placements on one page that opens in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli.options.files import AsJson, Pattern, output_option

if TYPE_CHECKING:
    from topoloom.placements.placement_file import PlacementFile
    from topoloom.report.data import Report, View

MAX_PLACEMENTS = 7


def command(
    placements: Annotated[
        list[Path],
        typer.Argument(
            metavar="PLACEMENT", help="Files written by 'topoloom map', all of one job."
        ),
    ],
    output: Annotated[Path, output_option("Write the page, such as report.html.")],
    pattern: Pattern = None,
    as_json: AsJson = False,
) -> None:
    """Show placements on one page, and what the launcher would do by default.

    The page is a single HTML file below 3 MB that fetches nothing: what was gained,
    the communication matrix before and after, the machine with its links by load and
    who loads them, a table of nodes, what is proven of all placements, and how each
    file was made. Without --pattern the graph is the one that the placement was made
    for.

    \b
    Examples:
      topoloom report x.json -o report.html
      topoloom report hop-bytes.json congestion.json -g p.npz -o report.html
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json
    from topoloom.report.page import save_report
    from topoloom.report.text import title_of

    report = _report(placements, pattern)
    inputs = [*placements, Path(report.graph_file)]
    if output.exists() and any(output.samefile(path) for path in inputs):
        raise Error(f"{output} is read for the page; name another file for it")
    save_report(output, report)
    before, after = report.views[0], report.views[report.best]
    said = title_of(before, after)
    size = output.stat().st_size
    if as_json:
        print_json(
            {
                "output": str(output),
                "bytes": size,
                "headline": said,
                "best": after.name,
                "views": [
                    {"name": view.name, "file": view.file or None, **view.values}
                    for view in report.views
                ],
            }
        )
        return
    print_facts([("gain", said), ("written", f"{output} ({size / 1e6:.2f} MB)")])


def _report(paths: list[Path], pattern: str | None) -> Report:
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.graphs.graph_file import load_graph
    from topoloom.graphs.phases import load_phases
    from topoloom.placements.placement_file import load_placement
    from topoloom.support.units import counted
    from topoloom.tasks.report import Made, report_of

    if len(paths) > MAX_PLACEMENTS:
        raise Error(
            f"{len(paths)} placements are more than a page shows: {MAX_PLACEMENTS}"
        )
    files = [load_placement(path) for path in paths]
    _check_same_job(paths, files)
    graph_file = pattern if pattern is not None else _recorded_graph(paths[0], files[0])
    graph = load_graph(graph_file)
    ranks = len(files[0].placement.slots)
    if ranks != graph.rank_count:
        raise Error(
            f"{paths[0]} places {counted(ranks, 'rank')}, but {graph_file} has "
            f"{graph.rank_count}"
        )
    made = [Made(file, str(path)) for path, file in zip(paths, files, strict=True)]
    report = report_of(
        graph, graph_file, made, load_phases(graph_file), command=command_line.get()
    )
    for view in report.views[1:]:
        _warn_if_changed(view, graph_file)
    return report


def _check_same_job(paths: list[Path], files: list[PlacementFile]) -> None:
    import numpy as np

    from topoloom._core import Error

    first = files[0]
    for path, file in zip(paths[1:], files[1:], strict=True):
        if file.machine.text != first.machine.text:
            what = f"for {file.machine.text}, not {first.machine.text}"
        elif len(file.placement.slots) != len(first.placement.slots):
            what = f"of {len(file.placement.slots)} ranks"
        elif not np.array_equal(file.allocation.slots, first.allocation.slots):
            what = "on other nodes"
        else:
            continue
        raise Error(
            f"{path} is a placement {what}; a page compares placements of one job, so "
            f"report it and {paths[0]} separately"
        )


def _recorded_graph(path: Path, file: PlacementFile) -> str:
    """Find the graph that a placement was made for: from here, or beside the file."""
    from topoloom._core import Error

    if not file.graph:
        raise Error(f"{path} does not say which pattern it is for; name it: -g GRAPH")
    for graph in (Path(file.graph), path.parent / file.graph):
        if graph.exists():
            return str(graph)
    raise Error(f"{path} was made for {file.graph}, which is not there; name it: -g")


def _warn_if_changed(view: View, graph_file: str) -> None:
    """Say where the pattern is not the one that the placement was made for."""
    from topoloom.cli.console import note

    assert view.made is not None
    made = view.made.values.get("hop_bytes")
    if made is not None and made != view.values["hop_bytes"]:
        note(
            f"topoloom: {view.file} records {made:,.0f} hop-bytes, but with "
            f"{graph_file} it has {view.values['hop_bytes']:,.0f}: it was made for "
            "another pattern"
        )
