# SPDX-License-Identifier: BSD-3-Clause
"""Draws a machine: routers, switches, and links colored by bandwidth.

A machine with too many links is drawn in two pictures: one has a vertex for each part,
the other shows the inside of one part. For a large grid, only the visible faces are
drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Machine, MachineText
from topoloom.figure.layout import place_vertices
from topoloom.figure.links import Array
from topoloom.figure.network import (
    DrawnNetwork,
    fold_parts,
    make_network,
    select_vertices,
)
from topoloom.figure.page import open_page
from topoloom.figure.parts import GRIDS, DrawnParts, find_parts
from topoloom.figure.style import TEXT
from topoloom.machines.topology_forms import get_drawing
from topoloom.machines.topology_keys import write_topology
from topoloom.support.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: colors of bandwidths, for the most frequent first; color-blind people can tell them
#: apart
COLORS = ("#7f9bb3", "#b35806", "#1b4f8a", "#5aae61", "#762a83", "#c51b7d")
MAX_LINES = 1_000  # maximum number of lines in one picture of a machine that has parts
MAX_ROUTERS = 130  # larger grids show only their faces
MAX_NAMES = 32


def draw_machine(
    path: str | Path, machine: Machine, hosts: tuple[str, ...] = ()
) -> None:
    """Draw a machine; if it is small, with the names of nodes.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    machine
        The machine to draw; links that are down are omitted.
    hosts
        Names of the nodes; empty if unknown.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    topology = write_topology(MachineText(machine.text))
    network = make_network(machine, topology)
    ranked = _rank_bandwidths(network)
    parts = find_parts(topology, network) if _is_crowded(topology, network) else None
    with open_page(path, (6.4 if parts is None else 11.0, 5.4)) as figure:
        figure.set_layout_engine("constrained")
        figure.suptitle(machine.name, fontsize=10, color=TEXT)
        if parts is None:
            axes = figure.add_subplot()
            coordinates = _draw_network(axes, topology, network, ranked)
            if len(hosts) == len(coordinates) <= MAX_NAMES:
                _write_names(axes, coordinates, hosts)
        else:
            _draw_parts(figure, parts, network, ranked)
        _draw_legend(figure, ranked)


def _is_crowded(topology: dict[str, Any], network: DrawnNetwork) -> bool:
    if get_drawing(topology) in GRIDS:
        return len(network.nodes) > MAX_ROUTERS
    return len(network.ends) > MAX_LINES


def _hides_inside(topology: dict[str, Any], vertices: int) -> bool:
    """Return whether only the faces of a grid are drawn."""
    grid = get_drawing(topology) in GRIDS and len(topology["size"]) > 2
    return grid and vertices > MAX_ROUTERS


def _draw_parts(
    figure: Figure, parts: DrawnParts, network: DrawnNetwork, ranked: list[float]
) -> None:
    left, right = figure.subplots(1, 2)
    number = np.bincount(parts.part)
    shown = int(number.argmax())
    whole = fold_parts(network, parts.part)
    _draw_network(left, parts.whole, whole, ranked, shown)
    chosen = parts.part == shown
    ends = chosen[network.ends]
    leaving = ends[:, 0] != ends[:, 1]
    seen = chosen.copy()
    if network.has_switches:  # add the switches above the part
        seen[network.ends[leaving]] = True
    inside = select_vertices(network, seen)
    _draw_network(right, parts.inside, inside, ranked)
    count = _format_count(int((whole.nodes > 0).sum()), parts.name)
    if network.has_switches:
        count += f", {_format_count(int((whole.nodes == 0).sum()), 'switch')}"
    elif _hides_inside(parts.whole, len(number)):
        count += ", of which the outer are drawn"
    _write_below(left, f"{count}; a line is {_describe_cables(whole.cables)}")
    cables = [int(network.cables[mask].sum()) for mask in (ends.all(axis=1), leaving)]
    _write_below(
        right,
        f"the black {parts.name}: {_describe_contents(network.nodes[chosen])}; "
        f"{_format_count(cables[0], 'cable')} inside, {cables[1]:,} to others",
    )


def _describe_contents(nodes: Array) -> str:
    """Describe the numbers of switches, routers and nodes."""
    routers, switches = int((nodes > 0).sum()), int((nodes == 0).sum())
    texts = [_format_count(switches, "switch")] if switches else []
    if routers < nodes.sum():
        texts.append(_format_count(routers, "router"))
    return ", ".join([*texts, _format_count(int(nodes.sum()), "node")])


def _format_count(number: int, what: str) -> str:
    plural = "es" if what.endswith("ch") else "s"  # branches, switches
    return f"{number:,} {what}{'' if number == 1 else plural}"


def _describe_cables(cables: Array) -> str:
    least, most = int(cables.min()), int(cables.max())
    return (
        _format_count(most, "cable")
        if least == most
        else f"{least:,} to {most:,} cables"
    )


def _write_below(axes: Axes, text: str) -> None:
    axes.text(0.5, -0.03, text, transform=axes.transAxes, ha="center", va="top")


def _draw_network(
    axes: Axes,
    topology: dict[str, Any],
    network: DrawnNetwork,
    ranked: list[float],
    marked: int | None = None,
) -> Array:
    """Draw a network, with thicker lines at a marked vertex; return the coordinates."""
    coordinates = place_vertices(topology, network)
    seen = np.ones(len(coordinates), dtype=bool)
    if _hides_inside(topology, len(coordinates)):
        seen = _find_faces(topology["size"])
    drawn = seen[network.ends].all(axis=1)
    ends = network.ends[drawn]
    lines, line = _make_lines(topology, coordinates, ends)
    rates = network.bandwidth[drawn][line]
    crossing = get_drawing(topology) not in GRIDS
    strong = crossing & (ends == marked).any(axis=1)[line]
    _draw_lines(axes, lines, rates, ranked, strong, crossing)
    _draw_vertices(
        axes, coordinates[seen], network.nodes[seen] > 0, network.height[seen]
    )
    if marked is not None:
        axes.plot(*coordinates[marked], "o", color=TEXT, markersize=4, zorder=3)
    axes.set_aspect("auto" if network.has_switches else "equal")
    axes.margins(0.06)
    axes.axis("off")
    return coordinates


def _find_faces(size: list[int]) -> Array:
    """Return the visible faces of a grid: the front, the top and one side."""
    longest, middle, depth, *_ = np.argsort([-extent for extent in size], kind="stable")
    at = np.indices(size).reshape(len(size), -1)
    return np.asarray(
        (at[longest] == size[longest] - 1)
        | (at[middle] == size[middle] - 1)
        | (at[depth] == 0)
    )


def _make_lines(
    topology: dict[str, Any], coordinates: Array, ends: Array
) -> tuple[list[Array], Array]:
    """Make the lines to draw; also return which link each line belongs to."""
    straight = coordinates[ends]
    number = np.arange(len(ends))
    drawing = get_drawing(topology)
    if drawing == "joined_axes":
        return list(_bend_lines(straight)), number
    size = topology.get("size", [])
    if drawing not in GRIDS or len(size) < 2:
        return list(straight), number
    at = np.array(np.unravel_index(ends, size)).transpose(1, 2, 0)
    apart = np.abs(at[:, 0] - at[:, 1])
    near = apart.sum(axis=1) == 1
    # A link that closes an axis is drawn as stubs at both ends. In a twisted torus,
    # such a link also changes other coordinates.
    long = np.array(size) > 1
    axis = (long & (apart[~near] == np.array(size) - 1)).argmax(axis=1)
    strides = [int(np.prod(size[d + 1 :])) for d in range(len(size))]
    steps = coordinates[np.where(long, strides, 0)]
    out = 0.4 * (steps - coordinates[0])[axis]
    lines, order = list(straight[near]), [number[near]]
    for end in (0, 1):
        first = at[~near, end][np.arange(len(axis)), axis] == 0
        start = coordinates[ends[~near, end]]
        tip = start + np.where(first, -1.0, 1.0)[:, None] * out
        lines += list(np.stack([start, tip], axis=1))
        order.append(number[~near])
    return lines, np.concatenate(order)


def _bend_lines(straight: Array) -> Array:
    """Bend lines to one side, so that they do not cover vertices between their ends."""
    along = np.linspace(0, 1, 9)[None, :, None]
    start, way = straight[:, :1], straight[:, 1:] - straight[:, :1]
    length = np.linalg.norm(way, axis=2, keepdims=True)
    # Even the longest line must stay below the next row, which is at distance 1.
    high = 0.45 / np.sqrt(length * length.max(initial=1))
    aside = high * np.stack([-way[:, :, 1], way[:, :, 0]], axis=2)
    bows: Array = start + along * way + 4 * along * (1 - along) * aside
    return bows


def _rank_bandwidths(network: DrawnNetwork) -> list[float]:
    """List the bandwidths, those with the most cables first."""
    values, which = np.unique(network.bandwidth, return_inverse=True)
    counts = np.bincount(which.reshape(-1), weights=network.cables)
    ranked: list[float] = values[np.argsort(-counts, kind="stable")].tolist()
    return ranked


def _choose_color(ranked: list[float], rate: float) -> str:
    return COLORS[min(ranked.index(rate), len(COLORS) - 1)]


def _draw_lines(
    axes: Axes,
    lines: list[Array],
    rates: Array,
    ranked: list[float],
    strong: Array,
    crossing: bool,
) -> None:
    """Draw lines with the colors and widths of their bandwidths.

    With many crossings, all lines except strong ones are thinner and paler.
    """
    from matplotlib.collections import LineCollection

    if not lines:
        return
    crowd = np.sqrt(len(lines))
    wider = np.clip(np.sqrt(rates / min(ranked)), 1, 2)
    if crossing:
        alpha = np.full(len(lines), np.clip(25 / crowd, 0.2, 0.9))
        width = wider * np.clip(14 / crowd, 0.4, 1.5)
    else:
        alpha = np.full(len(lines), 0.9)
        width = wider * np.clip(24 / crowd, 0.6, 1.5)
    if strong.any():
        alpha = np.where(strong, 0.9, 0.3 * alpha)
        width = np.where(strong, np.maximum(width, 1), np.minimum(width, 1))
    axes.add_collection(
        LineCollection(
            lines,
            colors=[_choose_color(ranked, rate) for rate in rates.tolist()],
            linewidths=width,
            alpha=alpha,
            zorder=1,
        )
    )


def _draw_legend(figure: Figure, ranked: list[float]) -> None:
    """Draw the legend of bandwidths below the picture."""
    from matplotlib.lines import Line2D

    if ranked in ([], [1.0]):  # bandwidths are unknown
        return
    labels = [
        Line2D([], [], color=_choose_color(ranked, rate), label=format_bandwidth(rate))
        for rate in ranked[: len(COLORS)]
    ]
    figure.legend(
        handles=labels, loc="outside lower center", ncols=len(labels), frameon=False
    )


def _draw_vertices(axes: Axes, coordinates: Array, nodes: Array, height: Array) -> None:
    """Draw vertices with nodes as circles, and switches without nodes as squares."""
    size = float(np.clip(80 / np.sqrt(len(coordinates)), 1.0, 6.0))
    in_rows = not nodes.all()
    for chosen, marker, face in ((nodes, "o", "white"), (~nodes, "s", "#444444")):
        fullest = np.unique(height[chosen], return_counts=True)[1].max(initial=1)
        widest = min(size, 280 / float(fullest)) if in_rows else size
        axes.plot(
            *coordinates[chosen].T,
            linestyle="none",
            marker=marker,
            markersize=max(1.0, widest),
            markerfacecolor=face,
            markeredgecolor="#333333",
            markeredgewidth=min(0.7, 0.2 * widest),
            zorder=2,
        )


def _write_names(axes: Axes, coordinates: Array, hosts: tuple[str, ...]) -> None:
    for (x, y), name in zip(coordinates, hosts, strict=True):
        axes.annotate(
            name,
            (x, y),
            xytext=(6 * np.sign(np.round(x, 6)), 9 * np.sign(np.round(y, 6))),
            textcoords="offset points",
            ha=("center", "left", "right")[int(np.sign(np.round(x, 6)))],
            va="center",
            fontsize=7,
            color=TEXT,
        )
