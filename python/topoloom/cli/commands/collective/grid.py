# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective grid`: measure off-node traffic along axes of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, PlacementFile, output_option
from topoloom.cli.options.messages import Channels, Grid, MaybeBytes
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.tasks.collectives.grid import GridTraffic
    from topoloom.tasks.collectives.tiles import TileTimes


def command(
    placement: PlacementFile,
    grid: Grid,
    amount: MaybeBytes = None,
    channels: Channels = 1,
    latency: Annotated[
        str | None,
        Option(
            "--latency",
            metavar="TIME",
            help="Latency of a message.",
            show_default="the machine's, or 1us",
        ),
    ] = None,
    bandwidth: Annotated[
        str | None,
        Option(
            "--bandwidth",
            metavar="RATE",
            help="Bandwidth of a channel between nodes.",
            show_default="the machine's, or 10GB/s",
        ),
    ] = None,
    inner_bandwidth: Annotated[
        str | None,
        Option(
            "--inner-bandwidth",
            metavar="RATE",
            help="Bandwidth of a message inside a node.",
            show_default="12GB/s, or its share of the machine's memory",
        ),
    ] = None,
    reading: Annotated[
        str,
        Option(
            "--reading",
            metavar="NAME",
            help="Model of pipelines; the description explains each.",
            autocompletion=completions.complete_words("counted", "printed"),
        ),
    ] = "counted",
    fastest_tile: Annotated[
        str | None,
        Option(
            "--fastest-tile",
            metavar="COLLECTIVE",
            help="Compare all tiles instead, sorted by the time of pipelined, "
            "bcast, scatter or gather.",
            autocompletion=completions.tile_times,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement in the first of --fastest-tile."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure off-node traffic along the axes of a process grid.

    Programs on grids communicate along all rows and columns at once. The more ranks of
    a node have their next neighbor on another node, the more messages share the node's
    channels. Results are compared with block order. Messages have
    1 MiB by default. Inter-node speeds are
    computed for the first two nodes of the allocation. Intra-node speed is the copy
    bandwidth of a core, or a share of the memory bandwidth. Assumed speeds are marked.

    \b
    external links  concurrent messages that leave a node: the maximum over nodes
                    for each axis, and the sum over axes
    pipelined       seconds of a bcast along the chains of every axis, one axis
                    after the other, with the best segment size
    binomial        seconds along binomial trees; scatter and gather have --bytes
                    for every rank of a line

    --reading selects the model of pipelines:

    \b
    counted         messages that leave a node along an axis share its channels
    printed         the equation as printed in the source: C channels make each
                    inter-node message C times as fast

    \b
    Examples:
      topoloom map p.npz --machine fattree:4:4+node:4 -o x.json
      topoloom collective grid x.json --grid 4x16
      topoloom collective grid x.json --grid 4x4x4 --bytes 64KiB --channels 2
      topoloom collective grid x.json --grid 8x8 --fastest-tile scatter -o y.json
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.graphs.patterns import parse_grid
    from topoloom.placements.placement_file import load_placement, save_placement
    from topoloom.support.parameter_error import check_int64
    from topoloom.support.units import parse_bandwidth, parse_bytes, parse_latency
    from topoloom.tasks.collectives.grid import measure_grid
    from topoloom.tasks.collectives.line_speeds import LineSpeeds
    from topoloom.tasks.collectives.tiles import rank_tiles

    check_int64("--channels", channels, 1)
    size = parse_bytes(amount or "1MiB")
    check_int64("--bytes", size, 1)
    speeds = LineSpeeds(
        latency=None if latency is None else parse_latency(latency),
        bandwidth=None if bandwidth is None else parse_bandwidth(bandwidth),
        inner_bandwidth=None
        if inner_bandwidth is None
        else parse_bandwidth(inner_bandwidth),
        channels=channels,
    )
    file, extents = load_placement(placement), parse_grid(grid)
    if fastest_tile is not None:
        tiles = rank_tiles(
            file, extents, speeds, size, fastest_tile, reading, str(placement)
        )
        if output is not None:
            save_placement(output, tiles.place_ranks())
        if as_json:
            print_json(tiles.document())
        else:
            _print_tiles(grid, tiles)
            _print_facts(tiles)
        return
    if output is not None:
        raise Error(
            "-o writes the tile of --fastest-tile; add --fastest-tile COLLECTIVE"
        )
    found = measure_grid(file, extents, speeds, size, str(placement), reading)
    if as_json:
        print_json(found.document())
    else:
        _print_result(grid, found)
        _print_facts(found)


def _print_facts(traffic: GridTraffic | TileTimes) -> None:
    from topoloom.cli.console import print_facts

    reading = [("reading", traffic.reading)] if traffic.reading != "counted" else []
    print_facts([("speeds", traffic.speeds), *reading])


def _print_tiles(grid: str, tiles: TileTimes) -> None:
    from topoloom.cli.console import print_table
    from topoloom.tasks.collectives.tiles import COLLECTIVES

    rows = [
        [
            "x".join(map(str, one.tile)),
            str(one.traffic.external_links),
            *(_format_time(getattr(one.traffic, key)) for key in COLLECTIVES.values()),
        ]
        for one in tiles.tiles
    ]
    headings = ["tile", "external links", *COLLECTIVES]
    title = (
        f"{grid} grid on {tiles.file.machine.name}, fastest {tiles.collective} first"
    )
    print_table(headings, rows, title=title, keep=["tile", tiles.collective])


def _print_result(grid: str, traffic: GridTraffic) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import format_bytes

    columns = {"block": traffic.block, traffic.file.mapper: traffic.placed}
    shown = list(columns.values())
    by_axis = zip(*(one.external_links_by_axis for one in shown), strict=True)
    rows = [
        [f"external links, axis {axis}", *map(str, links), ""]
        for axis, links in enumerate(by_axis, start=1)
    ]
    for name, key, write in (
        ("external links", "external_links", str),
        ("pipelined bcast", "pipelined_seconds", _format_time),
        ("  in segments of", "segment_bytes", format_bytes),
        ("binomial bcast", "binomial_bcast_seconds", _format_time),
        ("binomial scatter", "binomial_scatter_seconds", _format_time),
        ("binomial gather", "binomial_gather_seconds", _format_time),
    ):
        values = [getattr(one, key) for one in shown]
        saved = (
            ""
            if key == "segment_bytes"
            else format_percent(gain(values[0], values[-1]))
        )
        rows.append([name, *map(write, values), saved])
    headings = ["", "block (default)", *list(columns)[1:], "gain"]
    print_table(
        headings,
        rows,
        title=f"{grid} grid on {traffic.file.machine.name}",
        keep=["", headings[-2], "gain"],
    )


def _format_time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
