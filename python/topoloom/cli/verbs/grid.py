# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom grid`: off-node traffic along the axes of a process grid."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.cli.options.files import AsJson, PlacementFile
from topoloom.cli.options.messages import Bytes, Channels, Grid

if TYPE_CHECKING:
    from topoloom._core import NodeMap


def command(
    placement: PlacementFile,
    grid: Grid,
    amount: Bytes = "1MiB",
    channels: Channels = 1,
    latency: Annotated[
        str | None,
        typer.Option(
            "--latency",
            metavar="TIME",
            help="Latency of a message.",
            show_default="the machine's, or 1us",
        ),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(
            "--bandwidth",
            metavar="RATE",
            help="Bandwidth of a channel between nodes.",
            show_default="the machine's, or 10GB/s",
        ),
    ] = None,
    inner_bandwidth: Annotated[
        str | None,
        typer.Option(
            "--inner-bandwidth",
            metavar="RATE",
            help="Bandwidth inside a node.",
            show_default="the machine's memory, or 50GB/s",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure off-node traffic along the axes of a process grid, and of block order.

    Programs on grids talk along rows and columns, all of them at once. The more ranks
    of a node have their next neighbor on another node, the more messages share its
    channels. Speeds are those of the machine between the first two nodes of the
    allocation, unless options say others; a line says which are assumed.

    \b
    external links  messages that leave a node at once: the most of any node, by axis,
                    and their sum
    pipelined       seconds of a broadcast down the chains of every axis, one axis
                    after the other, in the best segments
    binomial        seconds along binomial trees; scatter and gather have --bytes for
                    every rank of a line

    \b
    Examples:
      topoloom grid x.json --grid 64x128
      topoloom grid x.json --grid 16x16x8 --bytes 64KiB --channels 2 --json
    """
    from topoloom._core import Error, nearest_extents
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.verbs.pattern import parse_grid
    from topoloom.placements.placement_file import load_placement
    from topoloom.support.checks import at_least
    from topoloom.support.units import parse_bandwidth, parse_bytes, parse_latency
    from topoloom.tasks.grid_links import LineSpeeds

    at_least("--channels", channels, 1)
    extents = parse_grid(grid)
    size = parse_bytes(amount)
    at_least("--bytes", size, 1)
    given = LineSpeeds(
        latency=None if latency is None else parse_latency(latency),
        bandwidth=None if bandwidth is None else parse_bandwidth(bandwidth),
        inner_bandwidth=None
        if inner_bandwidth is None
        else parse_bandwidth(inner_bandwidth),
        channels=channels,
    )
    placed = load_placement(placement)
    slots = placed.placement.slots
    if prod(extents) != len(slots):
        near = "x".join(map(str, nearest_extents(extents, len(slots))))
        raise Error(
            f"a grid of {grid} does not have the {len(slots)} cells of the ranks that "
            f"{placement} places; the nearest that has is {near}"
        )
    machine = placed.allocation.machine
    links, speeds = given.on(placed.allocation)
    default = placed.allocation.slots[: len(slots)]
    found = {
        name: _facts(_node_map(extents, by_rank, machine), links, size)
        for name, by_rank in (("block", default), (placed.mapper, slots))
    }
    document = {
        "machine": machine.text,
        "grid": extents,
        "bytes": size,
        "speeds": speeds,
        "mapper": placed.mapper,
        "block": found["block"],
        **found[placed.mapper],
    }
    if as_json:
        print_json(document)
    else:
        _print(grid, machine, found)
        print_facts([("speeds", speeds)])


def _node_map(extents: list[int], slots: Any, machine: Any) -> NodeMap:
    import numpy as np

    from topoloom._core import NodeMap

    # Nodes without ranks have no lines: numbered anew, they are not listed.
    _, nodes = np.unique(slots // machine.slots_per_node, return_inverse=True)
    return NodeMap(extents, nodes.astype(np.uint32))


def _facts(node_map: NodeMap, links: Any, size: int) -> dict[str, Any]:
    segment = node_map.best_segment(links, size)
    return {
        "external_links_by_axis": [max(axis) for axis in node_map.leaving],
        "external_links": node_map.external_links,
        "segment_bytes": segment,
        "pipelined_s": node_map.pipelined_time(links, size, segment),
        **{
            f"binomial_{name}_s": node_map.binomial_time(name, links, size)
            for name in ("broadcast", "scatter", "gather")
        },
    }


def _print(grid: str, machine: Any, found: dict[str, dict[str, Any]]) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import gain, percent
    from topoloom.support.units import format_bytes

    facts = list(found.values())
    by_axis = zip(*(fact["external_links_by_axis"] for fact in facts), strict=True)
    rows = [
        [f"external links, axis {axis}", *map(str, links), ""]
        for axis, links in enumerate(by_axis, start=1)
    ]
    for name, key, write in (
        ("external links", "external_links", str),
        ("pipelined broadcast", "pipelined_s", _time_text),
        ("  in segments of", "segment_bytes", format_bytes),
        ("binomial broadcast", "binomial_broadcast_s", _time_text),
        ("binomial scatter", "binomial_scatter_s", _time_text),
        ("binomial gather", "binomial_gather_s", _time_text),
    ):
        values = [fact[key] for fact in facts]
        saved = "" if key == "segment_bytes" else percent(gain(values[0], values[-1]))
        rows.append([name, *map(write, values), saved])
    columns = ["", "block (default)", *list(found)[1:], "gain"]
    print_table(columns, rows, title=f"{grid} grid on {machine.name}")


def _time_text(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
