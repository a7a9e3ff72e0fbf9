# SPDX-License-Identifier: BSD-3-Clause
"""Draws an allocation on its machine, with one color per connected component.

A torus of two or three dimensions is drawn as in `topoloom.figure.torus`, with the
links inside the allocation. Other machines are drawn as arrays of nodes: larger tori by
coordinates, other networks in one block per switch.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Allocation, Machine
from topoloom.figure.page import open_page
from topoloom.figure.style import NEUTRAL
from topoloom.figure.torus import draw_outline, list_box_corners, make_projection
from topoloom.nodes.hosts import format_allocated_share
from topoloom.support.units import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

#: Colors of the largest components; color-blind people can tell them apart (Okabe,
#: Ito).
COLORS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8a7a00",
)
OTHER_COLOR = "#333333"  # color of all other components
MAX_DOTS = 40_000  # maximum number of drawn routers outside the allocation


def draw_allocation(path: str | Path, allocation: Allocation) -> None:
    """Draw an allocation on its machine.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    allocation
        The allocation to draw.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, or matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    machine = allocation.machine
    components = np.array(allocation.components(), dtype=np.int64)
    sizes = np.bincount(components)
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    colors = np.minimum(rank, len(COLORS))[components]
    with open_page(path, (7.0, 6.2)) as figure:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        if len(machine.shape) in (2, 3):
            _draw_torus(axes, allocation, colors)
        else:
            _draw_cells(axes, allocation, colors)
        axes.set_title(
            f"{format_allocated_share(allocation)} of {machine.name.partition(';')[0]}",
            loc="left",
        )
        _draw_legend(axes, np.sort(sizes)[::-1])


def _draw_legend(axes: Axes, sizes: Ints) -> None:
    from matplotlib.lines import Line2D

    def make_entry(color: str, label: str) -> Line2D:
        return Line2D([], [], marker="o", linestyle="none", color=color, label=label)

    entries = [
        make_entry(color, counted(int(size), "node"))
        for color, size in zip(COLORS, sizes, strict=False)
    ]
    rest = sizes[len(COLORS) :]
    if len(rest):
        entries.append(
            make_entry(
                OTHER_COLOR, f"{len(rest):,} more: {counted(int(rest.sum()), 'node')}"
            )
        )
    axes.legend(
        handles=entries,
        title=counted(len(sizes), "component"),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
    )


def _draw_torus(axes: Axes, allocation: Allocation, colors: Ints) -> None:
    from matplotlib.collections import LineCollection

    shape = tuple(allocation.machine.shape)
    view = make_projection(shape)
    routers = int(np.prod(shape))
    width = max(float(np.ptp(list_box_corners(shape) @ view, axis=0).max()), 1.0)
    size = float(np.clip(72 * 4.6 / width * 0.42, 1.6, 11.0))
    cells, first = np.unique(_find_routers(allocation), return_index=True)
    colors = colors[first]
    if routers <= MAX_DOTS:
        empty = np.setdiff1d(np.arange(routers), cells)
        points = np.array(np.unravel_index(empty, shape)).T @ view
        axes.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker="o",
            markersize=0.3 * size,
            markerfacecolor=NEUTRAL,
            markeredgewidth=0,
            zorder=1,
        )
    palette = np.array([*COLORS, OTHER_COLOR])
    starts, ends = _find_internal_links(cells, shape)
    joined = np.stack([starts @ view, ends @ view], axis=1)
    joined_colors = palette[colors[np.searchsorted(cells, _find_index(starts, shape))]]
    axes.add_collection(
        LineCollection(
            list(joined),
            colors=list(joined_colors),
            linewidths=0.22 * size,
            alpha=0.5,
            zorder=2,
        )
    )
    at = np.array(np.unravel_index(cells, shape)).T
    # Draw cells with low coordinates on the depth axis last: they are in front.
    depth = np.argsort(np.array(shape), kind="stable")[0] if len(shape) == 3 else 0
    order = np.argsort(-at[:, depth], kind="stable")
    points = at[order] @ view
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=size**2,
        c=list(palette[colors[order]]),
        edgecolors="white",
        linewidths=0.12 * size,
        zorder=3,
    )
    draw_outline(axes, shape, view)


def _find_routers(allocation: Allocation) -> Ints:
    machine = allocation.machine
    per_router = machine.node_count // int(np.prod(machine.shape))
    routers: Ints = allocation.nodes.astype(np.int64) // per_router
    return routers


def _find_index(at: Ints, shape: tuple[int, ...]) -> Ints:
    index: Ints = np.ravel_multi_index(tuple(at.T), shape)
    return index


def _find_internal_links(cells: Ints, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
    """List the pairs of neighboring cells, except those that close a ring."""
    at = np.array(np.unravel_index(cells, shape)).T
    starts, ends = [], []
    for axis, extent in enumerate(shape):
        start = at[at[:, axis] + 1 < extent]
        end = start.copy()
        end[:, axis] += 1
        held = np.isin(_find_index(end, shape), cells)
        starts.append(start[held])
        ends.append(end[held])
    return np.concatenate(starts), np.concatenate(ends)


def _draw_cells(axes: Axes, allocation: Allocation, colors: Ints) -> None:
    from matplotlib.colors import to_rgb

    machine = allocation.machine
    rows, columns = (
        _fold_axes(machine)
        if len(machine.shape) > 3
        else _place_blocks(_number_runs(machine))
    )
    image = np.ones((int(rows.max()) + 1, int(columns.max()) + 1, 3))
    image[rows, columns] = to_rgb(NEUTRAL)
    palette = np.array([to_rgb(color) for color in (*COLORS, OTHER_COLOR)])
    nodes = allocation.nodes.astype(np.int64)
    image[rows[nodes], columns[nodes]] = palette[colors]
    axes.imshow(image, interpolation="nearest")
    axes.axis("off")


def _fold_axes(machine: Machine) -> tuple[Ints, Ints]:
    """Draw the first axes vertically and the others horizontally, with gaps."""
    shape = list(machine.shape)
    routers = int(np.prod(shape))
    per_router = machine.node_count // routers
    node = np.arange(machine.node_count)
    at = [*np.unravel_index(node // per_router, shape), node % per_router]
    shape = [*shape, per_router]
    # Make the array roughly square, at least as wide as high.
    half = max(
        axes
        for axes in range(len(shape))
        if np.prod(shape[:axes]) ** 2 <= machine.node_count
    )

    def compute_positions(axes: list[Any], extents: list[int]) -> Ints:
        position = np.zeros(len(node), dtype=np.int64)
        step = 1
        for coordinate, extent in zip(reversed(axes), reversed(extents), strict=True):
            position += coordinate * step
            step = step * extent + (1 if extent > 1 else 0)
        return position

    return compute_positions(at[:half], shape[:half]), compute_positions(
        at[half:], shape[half:]
    )


def _number_runs(machine: Machine) -> Ints:
    """Assign a number to each run of consecutive nodes whose distances are minimal."""
    apart = np.array([machine.hops(n, n + 1) for n in range(machine.node_count - 1)])
    if len(apart) == 0:
        return np.zeros(1, dtype=np.int64)
    blocks: Ints = np.concatenate([[0], np.cumsum(apart > apart.min())])
    return blocks


def _place_blocks(block_of_node: Ints) -> tuple[Ints, Ints]:
    """Place blocks of nodes in nearly square rectangles, with gaps."""
    sizes = np.bincount(block_of_node)
    largest = int(sizes.max())
    side = int(np.ceil(np.sqrt(largest)))
    wide = next((w for w in range(side, 2 * side) if largest % w == 0), side)
    high = -(-largest // wide)
    across = int(np.ceil(np.sqrt(len(sizes) * (high + 1) / (wide + 1))))
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    index = np.arange(len(block_of_node)) - first[block_of_node]
    rows = block_of_node // across * (high + 1) + index // wide
    columns = block_of_node % across * (wide + 1) + index % wide
    return rows, columns
