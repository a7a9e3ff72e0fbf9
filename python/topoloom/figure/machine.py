# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a machine: its routers and switches, and its links by bandwidth.

Both directions of a link are one line. What has too many lines is drawn in part: of a
grid the faces that a reader sees, of a dragonfly one link between any two groups.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Machine, Wiring
from topoloom.figure.layout import layout
from topoloom.figure.links import Array
from topoloom.figure.page import page
from topoloom.figure.style import TEXT
from topoloom.formats.topology_keys import write_topology
from topoloom.units import format_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: of bandwidths, the most frequent first; safe for the color-blind
COLORS = ("#7f9bb3", "#b35806", "#1b4f8a", "#5aae61", "#762a83", "#c51b7d")
MOST_LINES = 12_000  # of a dragonfly; beyond, groups are drawn without their inside
MOST_ROUTERS = 130  # of a grid that is drawn through and through
MOST_NAMES = 32


def draw_machine(
    path: str | Path, machine: Machine, hosts: tuple[str, ...] = ()
) -> None:
    """Draw a machine; small ones with the names of their nodes.

    Parameters
    ----------
    path
        Where to; the ending says the format: svg, png or pdf.
    machine
        What to draw; what is marked down is drawn like all else.
    hosts
        The names of its nodes, if they have any.

    Raises
    ------
    topoloom.Error
        If the ending is none of these, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    topology = write_topology(machine.text.partition("+")[0])
    with page(path, (6.4, 5.4)) as figure:
        figure.set_layout_engine("constrained")
        wiring = Wiring(machine)
        axes = figure.add_subplot()
        _draw(axes, topology, wiring, hosts)
        _explain(figure, wiring)
        axes.set_title(machine.name, color=TEXT)
        axes.set_aspect("auto" if _is_switched(wiring) else "equal")
        axes.margins(0.06)
        axes.axis("off")


def _draw(
    axes: Axes, topology: dict[str, Any], wiring: Wiring, hosts: tuple[str, ...]
) -> None:
    places = layout(topology, wiring)
    ends, rates = cables(wiring)
    drawn = np.ones(len(ends), dtype=bool)
    seen = np.ones(len(places), dtype=bool)
    size = topology.get("size", [])
    if topology["kind"] == "dragonfly" and len(ends) > MOST_LINES:
        drawn = _one_for_two_groups(ends // (len(places) // size[0]))
    elif len(size) > 2 and len(places) > MOST_ROUTERS:
        seen = _faces(size)
        drawn = np.all(seen[ends], axis=1)
        further = sorted(size, reverse=True)[3:]
        if further:
            text = f"each point stands for {' x '.join(map(str, further))}"
            axes.text(0.5, -0.03, text, transform=axes.transAxes, ha="center")
    lines, cable = _lines(topology, places, ends[drawn])
    if topology["kind"] == "dragonfly" and not drawn.all():
        lines = list(_between_groups(places.reshape(size[0], -1, 2), ends[drawn]))
    _draw_lines(axes, lines, rates[drawn][cable], _ranked(wiring))
    _draw_vertices(axes, places[seen], _has_nodes(wiring)[seen])
    if len(hosts) == len(places) <= MOST_NAMES:
        _write_names(axes, places, hosts)


def cables(wiring: Wiring) -> tuple[Array, Array]:
    """Join both directions of links, and parallel ones.

    Returns
    -------
    ends : array ``(cables, 2)`` of vertices, the lower first
    bandwidth : the largest of the links that were joined, bytes per second
    """
    links = np.stack([wiring.link_from, wiring.link_to], axis=1).astype(np.int64)
    links.sort(axis=1)
    rate = np.asarray(wiring.bandwidth)
    order = np.lexsort((rate, links[:, 1], links[:, 0]))
    links, rate = links[order], rate[order]
    last = np.ones(len(links), dtype=bool)
    last[:-1] = (links[1:] != links[:-1]).any(axis=1)
    return links[last], rate[last]


def _one_for_two_groups(group: Array) -> Array:
    """Choose a cable between any two groups, and none inside."""
    _, first = np.unique(group, axis=0, return_index=True)
    chosen = np.zeros(len(group), dtype=bool)
    chosen[first] = True
    return np.asarray(chosen & (group[:, 0] != group[:, 1]))


def _between_groups(groups: Array, ends: Array) -> Array:
    """Make lines from the rim of a group to that of the other."""
    routers = groups.shape[1]
    centers = groups.mean(axis=1)
    radius = np.linalg.norm(groups[0, 0] - centers[0])
    start, stop = centers[ends[:, 0] // routers], centers[ends[:, 1] // routers]
    way = stop - start
    way *= radius / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    return np.stack([start + way, stop - way], axis=1)


def _has_nodes(wiring: Wiring) -> Array:
    nodes = np.zeros(wiring.vertex_count, dtype=bool)
    nodes[np.asarray(wiring.vertex)] = True
    return nodes


def _is_switched(wiring: Wiring) -> bool:
    return not _has_nodes(wiring).all()


def _faces(size: list[int]) -> Array:
    """Tell the places of a grid that a reader sees: the front, the top and one side."""
    longest, middle, depth, *further = np.argsort(
        [-extent for extent in size], kind="stable"
    )
    at = np.indices(size).reshape(len(size), -1)
    seen = (
        (at[longest] == size[longest] - 1)
        | (at[middle] == size[middle] - 1)
        | (at[depth] == 0)
    )
    for axis in further:
        seen &= at[axis] == 0
    return np.asarray(seen)


def _lines(
    topology: dict[str, Any], places: Array, ends: Array
) -> tuple[list[Array], Array]:
    """Make the lines to draw, and tell for each which cable it is of."""
    straight = places[ends]
    number = np.arange(len(ends))
    if topology["kind"] == "hyperx":
        return list(_bows(straight)), number
    size = topology.get("size", [])
    if topology["kind"] not in ("torus", "mesh", "twisted") or len(size) < 2:
        return list(straight), number
    at = np.array(np.unravel_index(ends, size)).transpose(1, 2, 0)
    apart = np.abs(at[:, 0] - at[:, 1])
    near = apart.sum(axis=1) == 1
    # A link that closes an axis is cut off at both ends: it leads from the last
    # position to the first, and on other axes to where a twist shifts it.
    axis = (apart[~near] == np.array(size) - 1).argmax(axis=1)
    steps = np.array([places[int(np.prod(size[d + 1 :]))] for d in range(len(size))])
    out = 0.4 * (steps - places[0])[axis]
    lines, order = list(straight[near]), [number[near]]
    for end in (0, 1):
        first = at[~near, end][np.arange(len(axis)), axis] == 0
        start = places[ends[~near, end]]
        tip = start + np.where(first, -1.0, 1.0)[:, None] * out
        lines += list(np.stack([start, tip], axis=1))
        order.append(number[~near])
    return lines, np.concatenate(order)


def _bows(straight: Array) -> Array:
    """Bend lines to one side, so that they do not cover what stands between."""
    along = np.linspace(0, 1, 9)[None, :, None]
    start, way = straight[:, :1], straight[:, 1:] - straight[:, :1]
    aside = np.stack([-way[:, :, 1], way[:, :, 0]], axis=2)
    bows: Array = start + along * way + 0.64 * along * (1 - along) * aside
    return bows


def _ranked(wiring: Wiring) -> list[float]:
    """List the bandwidths of links, the most frequent first."""
    values, counts = np.unique(wiring.bandwidth, return_counts=True)
    ranked: list[float] = values[np.argsort(-counts, kind="stable")].tolist()
    return ranked


def _color(ranked: list[float], rate: float) -> str:
    return COLORS[min(ranked.index(rate), len(COLORS) - 1)]


def _draw_lines(
    axes: Axes, lines: list[Array], rates: Array, ranked: list[float]
) -> None:
    """Draw lines in the colors of their bandwidths, the wider the more they carry."""
    from matplotlib.collections import LineCollection

    if not lines:
        return
    crowd = np.sqrt(len(lines))
    axes.add_collection(
        LineCollection(
            lines,
            colors=[_color(ranked, rate) for rate in rates.tolist()],
            linewidths=np.clip(24 / crowd, 0.4, 1.5)
            * np.clip(np.sqrt(rates / min(ranked)), 1, 2.5),
            alpha=float(np.clip(25 / crowd, 0.2, 0.9)),
            zorder=1,
        )
    )


def _explain(figure: Figure, wiring: Wiring) -> None:
    """Say below the picture which color stands for which bandwidth."""
    from matplotlib.lines import Line2D

    ranked = _ranked(wiring)
    if ranked in ([], [1.0]):  # the description gives no bandwidths
        return
    labels = [
        Line2D([], [], color=_color(ranked, rate), label=format_bandwidth(rate))
        for rate in ranked[: len(COLORS)]
    ]
    figure.legend(
        handles=labels, loc="outside lower center", ncols=len(labels), frameon=False
    )


def _draw_vertices(axes: Axes, places: Array, nodes: Array) -> None:
    """Draw what has nodes as circles, and switches that have none as squares."""
    size = float(np.clip(80 / np.sqrt(len(places)), 1.0, 6.0))
    for chosen, marker, face in ((nodes, "o", "white"), (~nodes, "s", "#444444")):
        axes.plot(
            *places[chosen].T,
            linestyle="none",
            marker=marker,
            markersize=size,
            markerfacecolor=face,
            markeredgecolor="#333333",
            markeredgewidth=min(0.7, 0.2 * size),
            zorder=2,
        )


def _write_names(axes: Axes, places: Array, hosts: tuple[str, ...]) -> None:
    for (x, y), name in zip(places, hosts, strict=True):
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
