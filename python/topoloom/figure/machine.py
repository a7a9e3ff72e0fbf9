# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a machine: its routers and switches, and its links by bandwidth.

What would be too many lines is two pictures: the machine with each of its parts as one
vertex, and one of the parts. Of a large grid the faces are drawn that a reader sees.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Machine, MachineText
from topoloom.figure.layout import layout
from topoloom.figure.links import Array
from topoloom.figure.network import Network, folded, network_of, within
from topoloom.figure.page import page
from topoloom.figure.parts import GRIDS, Parts, parts_of
from topoloom.figure.style import TEXT
from topoloom.machines.topology_forms import drawing_of
from topoloom.machines.topology_keys import write_topology
from topoloom.support.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: of bandwidths, the most frequent first; safe for the color-blind
COLORS = ("#7f9bb3", "#b35806", "#1b4f8a", "#5aae61", "#762a83", "#c51b7d")
MAX_LINES = 1_000  # in one picture, where there are parts
MAX_ROUTERS = 130  # of a grid that is drawn through and through
MAX_NAMES = 32


def draw_machine(
    path: str | Path, machine: Machine, hosts: tuple[str, ...] = ()
) -> None:
    """Draw a machine; small ones with the names of their nodes.

    Parameters
    ----------
    path
        Where to; the ending says the format: svg, png or pdf.
    machine
        What to draw; links that are down are left out.
    hosts
        The names of its nodes, if they have any.

    Raises
    ------
    topoloom.Error
        If the ending is none of these, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    topology = write_topology(MachineText(machine.text))
    network = network_of(machine, topology)
    ranked = _ranked(network)
    parts = parts_of(topology, network) if _is_crowded(topology, network) else None
    with page(path, (6.4 if parts is None else 11.0, 5.4)) as figure:
        figure.set_layout_engine("constrained")
        figure.suptitle(machine.name, fontsize=10, color=TEXT)
        if parts is None:
            axes = figure.add_subplot()
            coordinates = _draw(axes, topology, network, ranked)
            if len(hosts) == len(coordinates) <= MAX_NAMES:
                _write_names(axes, coordinates, hosts)
        else:
            _draw_parts(figure, parts, network, ranked)
        _explain(figure, ranked)


def _is_crowded(topology: dict[str, Any], network: Network) -> bool:
    if drawing_of(topology) in GRIDS:
        return len(network.nodes) > MAX_ROUTERS
    return len(network.ends) > MAX_LINES


def _has_an_inside(topology: dict[str, Any], vertices: int) -> bool:
    """Return whether only the faces of a grid are drawn."""
    grid = drawing_of(topology) in GRIDS and len(topology["size"]) > 2
    return grid and vertices > MAX_ROUTERS


def _draw_parts(
    figure: Figure, parts: Parts, network: Network, ranked: list[float]
) -> None:
    left, right = figure.subplots(1, 2)
    number = np.bincount(parts.part)
    shown = int(number.argmax())
    whole = folded(network, parts.part)
    _draw(left, parts.whole, whole, ranked, shown)
    chosen = parts.part == shown
    ends = chosen[network.ends]
    leaving = ends[:, 0] != ends[:, 1]
    seen = chosen.copy()
    if network.switched:  # with the switches above it
        seen[network.ends[leaving]] = True
    inside = within(network, seen)
    _draw(right, parts.inside, inside, ranked)
    count = _counted(int((whole.nodes > 0).sum()), parts.name)
    if network.switched:
        count += f", {_counted(int((whole.nodes == 0).sum()), 'switch')}"
    elif _has_an_inside(parts.whole, len(number)):
        count += ", of which the outer are drawn"
    _write_below(left, f"{count}; a line is {_spread(whole.cables)}")
    cables = [int(network.cables[mask].sum()) for mask in (ends.all(axis=1), leaving)]
    _write_below(
        right,
        f"the black {parts.name}: {_contents(network.nodes[chosen])}; "
        f"{_counted(cables[0], 'cable')} inside, {cables[1]:,} to others",
    )


def _contents(nodes: Array) -> str:
    """Say what vertices are that have these numbers of nodes."""
    routers, switches = int((nodes > 0).sum()), int((nodes == 0).sum())
    texts = [_counted(switches, "switch")] if switches else []
    if routers < nodes.sum():
        texts.append(_counted(routers, "router"))
    return ", ".join([*texts, _counted(int(nodes.sum()), "node")])


def _counted(number: int, what: str) -> str:
    plural = "es" if what.endswith("ch") else "s"  # branches, switches
    return f"{number:,} {what}{'' if number == 1 else plural}"


def _spread(cables: Array) -> str:
    least, most = int(cables.min()), int(cables.max())
    return _counted(most, "cable") if least == most else f"{least:,} to {most:,} cables"


def _write_below(axes: Axes, text: str) -> None:
    axes.text(0.5, -0.03, text, transform=axes.transAxes, ha="center", va="top")


def _draw(
    axes: Axes,
    topology: dict[str, Any],
    network: Network,
    ranked: list[float],
    marked: int | None = None,
) -> Array:
    """Draw a network, the lines of a marked vertex stronger; return the coordinates."""
    coordinates = layout(topology, network)
    seen = np.ones(len(coordinates), dtype=bool)
    if _has_an_inside(topology, len(coordinates)):
        seen = _faces(topology["size"])
    drawn = seen[network.ends].all(axis=1)
    ends = network.ends[drawn]
    lines, line = _lines(topology, coordinates, ends)
    rates = network.bandwidth[drawn][line]
    crossing = drawing_of(topology) not in GRIDS
    strong = crossing & (ends == marked).any(axis=1)[line]
    _draw_lines(axes, lines, rates, ranked, strong, crossing)
    _draw_vertices(
        axes, coordinates[seen], network.nodes[seen] > 0, network.height[seen]
    )
    if marked is not None:
        axes.plot(*coordinates[marked], "o", color=TEXT, markersize=4, zorder=3)
    axes.set_aspect("auto" if network.switched else "equal")
    axes.margins(0.06)
    axes.axis("off")
    return coordinates


def _faces(size: list[int]) -> Array:
    """Return what a reader sees of a grid: the front, the top and one side."""
    longest, middle, depth, *_ = np.argsort([-extent for extent in size], kind="stable")
    at = np.indices(size).reshape(len(size), -1)
    return np.asarray(
        (at[longest] == size[longest] - 1)
        | (at[middle] == size[middle] - 1)
        | (at[depth] == 0)
    )


def _lines(
    topology: dict[str, Any], coordinates: Array, ends: Array
) -> tuple[list[Array], Array]:
    """Make the lines to draw, and say for each which one it is of."""
    straight = coordinates[ends]
    number = np.arange(len(ends))
    drawing = drawing_of(topology)
    if drawing == "joined_axes":
        return list(_bows(straight)), number
    size = topology.get("size", [])
    if drawing not in GRIDS or len(size) < 2:
        return list(straight), number
    at = np.array(np.unravel_index(ends, size)).transpose(1, 2, 0)
    apart = np.abs(at[:, 0] - at[:, 1])
    near = apart.sum(axis=1) == 1
    # A link that closes an axis is cut off at both ends: it leads from the last
    # position to the first, and on other axes to where a twist shifts it.
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


def _bows(straight: Array) -> Array:
    """Bend lines to one side, so that they do not cover what is between."""
    along = np.linspace(0, 1, 9)[None, :, None]
    start, way = straight[:, :1], straight[:, 1:] - straight[:, :1]
    length = np.linalg.norm(way, axis=2, keepdims=True)
    # The longest ends short of the next row, which is a step of 1 away.
    high = 0.45 / np.sqrt(length * length.max(initial=1))
    aside = high * np.stack([-way[:, :, 1], way[:, :, 0]], axis=2)
    bows: Array = start + along * way + 4 * along * (1 - along) * aside
    return bows


def _ranked(network: Network) -> list[float]:
    """List the bandwidths of lines, that of the most cables first."""
    values, which = np.unique(network.bandwidth, return_inverse=True)
    counts = np.bincount(which.reshape(-1), weights=network.cables)
    ranked: list[float] = values[np.argsort(-counts, kind="stable")].tolist()
    return ranked


def _color(ranked: list[float], rate: float) -> str:
    return COLORS[min(ranked.index(rate), len(COLORS) - 1)]


def _draw_lines(
    axes: Axes,
    lines: list[Array],
    rates: Array,
    ranked: list[float],
    strong: Array,
    crossing: bool,
) -> None:
    """Draw lines in the colors of their bandwidths, the wider the more they carry.

    The more lines cross each other, the thinner and paler they are, but for strong
    ones.
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
            colors=[_color(ranked, rate) for rate in rates.tolist()],
            linewidths=width,
            alpha=alpha,
            zorder=1,
        )
    )


def _explain(figure: Figure, ranked: list[float]) -> None:
    """Explain below the picture which color means which bandwidth."""
    from matplotlib.lines import Line2D

    if ranked in ([], [1.0]):  # the description gives no bandwidths
        return
    labels = [
        Line2D([], [], color=_color(ranked, rate), label=format_bandwidth(rate))
        for rate in ranked[: len(COLORS)]
    ]
    figure.legend(
        handles=labels, loc="outside lower center", ncols=len(labels), frameon=False
    )


def _draw_vertices(axes: Axes, coordinates: Array, nodes: Array, height: Array) -> None:
    """Draw what has nodes as circles, and switches that have none as squares."""
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
