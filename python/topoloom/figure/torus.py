# SPDX-License-Identifier: BSD-3-Clause
"""Draws a torus of two or three dimensions, with links colored by load.

In two dimensions, the two directions of a link are drawn next to each other. In three
dimensions, the view is oblique, and the shortest axis is the depth. A link has the
color of its busier direction. Links that close a ring are drawn as stubs at both ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom.figure.links import AXES, Array, TorusLinks
from topoloom.figure.style import NEUTRAL, make_color_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from topoloom._core import Allocation

PANEL = 3.6  # panel size in inches
APART = 0.09  # distance between the lines of a link's two directions, in grid steps
DEPTH = (0.40, 0.27)  # step along the depth axis, as a vector on the page
SPREAD = 1.35  # factor on DEPTH for a torus with few layers


def draw_torus(
    axes: Axes, links: TorusLinks, busy: Array, norm: Any, allocation: Allocation
) -> LineCollection:
    """Draw the torus with the link loads of a placement."""
    from matplotlib.collections import LineCollection

    view = make_projection(links.shape)
    segments, values = _make_segments(links, busy, view)
    width = max(float(np.ptp(list_box_corners(links.shape) @ view, axis=0).max()), 1.0)
    per_step = 72 * PANEL / width
    flat = len(links.shape) == 2
    thick = float(np.clip(per_step * (0.17 if flat else 0.13), 2.0, 4.5))
    order = np.argsort(values, kind="stable")
    segments, values = segments[order], values[order]
    idle = values <= 0
    if len(values) <= 20_000:
        axes.add_collection(
            LineCollection(
                list(segments[idle]),
                colors=NEUTRAL,
                linewidths=0.35,
                zorder=1,
                clip_on=False,
            )
        )
    else:
        _draw_frame(axes, links.shape, view)
    share = np.asarray(norm(values[~idle]), dtype=float)
    lines = LineCollection(
        list(segments[~idle]),
        array=values[~idle],
        cmap=make_color_scale(),
        norm=norm,
        linewidths=0.5 + thick * (share if flat else share**1.6),
        # `share` may be empty, if all loads are 0.
        alpha=None if flat or not share.size else 0.55 + 0.45 * share,
        capstyle="round",
        zorder=2,
        clip_on=False,
    )
    axes.add_collection(lines)
    _draw_nodes(axes, links.shape, view, allocation, per_step)
    draw_outline(axes, links.shape, view)
    return lines


def make_projection(shape: tuple[int, ...]) -> Array:
    """Make the matrix ``(axes, 2)`` that projects coordinates to the page."""
    if len(shape) == 2:
        return np.array([[0.0, 1.0], [1.0, 0.0]]) if shape[1] >= shape[0] else np.eye(2)
    longest, middle, depth = np.argsort([-extent for extent in shape], kind="stable")
    view = np.zeros((3, 2))
    view[longest] = (1.0, 0.0)
    view[middle] = (0.0, 1.0)
    factor = SPREAD if shape[depth] <= 8 else 1.0
    view[depth] = np.array(DEPTH) * factor
    return view


def _make_segments(links: TorusLinks, busy: Array, view: Array) -> tuple[Array, Array]:
    start = links.start.astype(float)
    step = np.zeros_like(start)
    rows = np.arange(len(start))
    step[rows, links.axis] = np.where(links.forward, 1.0, -1.0)
    if len(links.shape) == 2:
        side = (step @ view)[:, ::-1] * np.array([1.0, -1.0]) * APART
        values = busy
        kept = rows
    else:
        side = np.zeros((len(start), 2))
        kept, values = _merge_directions(links, busy, step)
        start, step, side = start[kept], step[kept], side[kept]
    wraps = links.wraps[kept]
    a = start @ view + side
    b = (start + np.where(wraps[:, None], 0.45, 1.0) * step) @ view + side
    whole = np.stack([a, b], axis=1)
    # Draw a second stub at the other end of a link that closes a ring.
    arrival = _find_arrival(links, start[wraps], step[wraps])
    c = (arrival - 0.45 * step[wraps]) @ view + side[wraps]
    d = arrival @ view + side[wraps]
    stubs = np.stack([c, d], axis=1)
    return np.concatenate([whole, stubs]), np.concatenate([values, values[wraps]])


def _find_arrival(links: TorusLinks, start: Array, step: Array) -> Array:
    arrival: Array = np.mod(start + step, np.array(links.shape))
    return arrival


def _merge_directions(
    links: TorusLinks, busy: Array, step: Array
) -> tuple[Array, Array]:
    """Merge both directions of each link; return ids of + links, and larger loads."""
    shape = np.array(links.shape)
    lower = np.where(
        links.forward[:, None], links.start, np.mod(links.start + step, shape)
    )
    strides = np.cumprod([1, *links.shape[::-1]])[:-1][::-1]
    key = (lower.astype(np.int64) @ strides) * 3 + links.axis
    size = int(np.prod(shape)) * 3
    largest = np.zeros(size)
    np.maximum.at(largest, key, busy)
    kept = np.flatnonzero(links.forward)
    return kept, largest[key[kept]]


def list_box_corners(shape: tuple[int, ...]) -> Array:
    """List the corners of the bounding box of all routers."""
    far = np.array(shape) - 1
    bits = np.array(np.meshgrid(*[[0, 1]] * len(shape))).reshape(len(shape), -1).T
    ends: Array = bits * far
    return ends


def _draw_nodes(
    axes: Axes,
    shape: tuple[int, ...],
    view: Array,
    allocation: Allocation,
    per_step: float,
) -> None:
    machine = allocation.machine
    routers = {tuple(machine.coordinates(int(node))) for node in allocation.nodes}
    coordinates = np.array(sorted(routers), dtype=float)
    if len(routers) < np.prod(shape) or len(shape) == 2:
        points = coordinates @ view
        size = float(np.clip(per_step * (0.26 if len(shape) == 2 else 0.25), 1.8, 7.0))
        axes.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker="o",
            markersize=size,
            markerfacecolor="white",
            markeredgecolor="#333333",
            markeredgewidth=min(0.7, 0.2 * size),
            zorder=3 if len(shape) == 2 else 1.5,  # in 3-D, loads are drawn above nodes
        )


def _draw_frame(axes: Axes, shape: tuple[int, ...], view: Array) -> None:
    """Draw only the edges of the bounding box, for a torus with too many links."""
    ends = list_box_corners(shape)
    for i, a in enumerate(ends):
        for b in ends[i + 1 :]:
            if np.count_nonzero(a != b) == 1:
                line = np.array([a, b]) @ view
                axes.plot(line[:, 0], line[:, 1], color="#bbbbbb", lw=0.6, zorder=1)


def draw_outline(axes: Axes, shape: tuple[int, ...], view: Array) -> None:
    """Fit the page to the torus, and label the axes of the torus."""
    ends = list_box_corners(shape) @ view
    margin = 0.6 + 0.05 * float(np.ptp(ends, axis=0).max())
    low, high = ends.min(axis=0) - margin, ends.max(axis=0) + margin
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.axis("off")
    # Label the axes at small arrows in the corner.
    origin = low
    reach = 0.11 * float((high - low).max())
    for index in range(len(shape)):
        way = view[index] / np.hypot(*view[index]) * reach
        axes.annotate(
            "",
            xy=tuple(origin + way),
            xytext=tuple(origin),
            arrowprops={"arrowstyle": "->", "lw": 0.8, "color": "#555555"},
            annotation_clip=False,
        )
        beyond = origin + way * 1.22
        axes.text(
            beyond[0],
            beyond[1],
            AXES[index],
            fontsize=8,
            color="#555555",
            ha="center",
            va="center",
        )
