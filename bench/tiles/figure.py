# SPDX-License-Identifier: BSD-3-Clause
"""Figure of a grid colored by node, in block order and by the mapper `tile`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import topoloom
from topoloom.figure.style import SETTINGS

EXTENTS = (12, 12)
Lines = list[list[tuple[int, int]]]

#: (mapper, cores per node)
PANELS = (("block", 8), ("tile", 8), ("tile", 7))
#: Node colors; adjacent nodes get different colors, if possible.
COLORS = ("#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69")


def map_cells_to_nodes(mapper: str, cores: int) -> tuple[NDArray[np.int64], int]:
    """Return the node of every cell, and the number of inter-node messages."""
    cells = EXTENTS[0] * EXTENTS[1]
    nodes = -(-cells // cores)
    machine = topoloom.load_machine(f"tree:{nodes}+node:{cores}")
    graph = topoloom.graphs.stencil(list(EXTENTS), points=5, periodic=False, bytes=1)
    allocation = topoloom.Allocation.whole(machine)
    placement = topoloom.place(graph, allocation, mapper).placement
    judged = topoloom.judge(graph, allocation, placement)
    node = np.asarray(placement.slots).astype(np.int64) // cores
    return node.reshape(EXTENTS), int(judged.inter_node_bytes)


def draw(file: Path) -> None:
    """Draw all panels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Line

    def make_patch(outlines: Lines, **look: object) -> PathPatch:
        # A compound path, which takes a tenth of the bytes.
        return PathPatch(Line.make_compound_path(*map(Line, outlines)), **look)

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(
            1, 3, figsize=(7.2, 2.9), layout="constrained"
        )
        for panel, (mapper, cores) in zip(panels, PANELS, strict=True):
            node, leaving = map_cells_to_nodes(mapper, cores)
            colors = color_nodes(node)
            for number, color in enumerate(COLORS):
                if (colors == number).any():
                    panel.add_patch(
                        make_patch(outline_cells(colors == number), fc=color, lw=0)
                    )
            panel.add_patch(
                make_patch(outline_nodes(node), fill=False, ec="#333333", lw=1.5)
            )
            what = f"{mapper}, {cores} cores per node"
            panel.set_title(f"{what}\n{leaving} messages leave")
            panel.set(xlim=(-0.1, EXTENTS[1] + 0.1), ylim=(EXTENTS[0] + 0.1, -0.1))
            panel.set_aspect("equal")
            panel.set_axis_off()
        extra = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 110}
        picture.savefig(file, facecolor="w", **extra)
        pyplot.close(picture)


def outline_cells(chosen: NDArray[np.bool_]) -> Lines:
    """Return the outlines of the chosen cells."""
    return [
        [(c, r), (c + 1, r), (c + 1, r + 1), (c, r + 1)]
        for r, c in np.argwhere(chosen).tolist()
    ]


def outline_nodes(node: NDArray[np.int64]) -> Lines:
    """Return the borders between nodes, and the frame."""
    rows, columns = node.shape
    around = np.pad(node, 1, constant_values=-1)
    across = np.argwhere(around[:, 1:] != around[:, :-1])
    down = np.argwhere(around[1:] != around[:-1])
    sides = [[(c, r - 1), (c, r)] for r, c in across.tolist() if 0 < r <= rows]
    return sides + [[(c - 1, r), (c, r)] for r, c in down.tolist() if 0 < c <= columns]


def color_nodes(node: NDArray[np.int64]) -> NDArray[np.int64]:
    """Color each node with the first color that no neighboring node has."""
    count = int(node.max()) + 1
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b in ((node[1:], node[:-1]), (node[:, 1:], node[:, :-1])):
        for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
            beside[x].add(y)
            beside[y].add(x)
    chosen: dict[int, int] = {}
    for one in range(count):
        taken = {chosen.get(other) for other in beside[one]}
        # Start at another color each time, so that all colors are used.
        turns = [(one + i) % len(COLORS) for i in range(len(COLORS))]
        chosen[one] = next((c for c in turns if c not in taken), one % len(COLORS))
    return np.array([chosen[one] for one in range(count)])[node]
