# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the pages on schedules on fat trees and on multicast trees.

Usage: ``python docs/schedule_pictures.py docs`` writes `contention-free.svg`,
`step-bandwidths.svg` and `multicast-trees.svg` there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import topoloom
from topoloom import schedules
from topoloom.figure.page import open_page as chart
from topoloom.figure.style import AFTER, BEFORE, SETTINGS
from topoloom.model import load_model
from topoloom.tasks.collectives.steps import find_contention

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAT_TREE = "fattree:4:4"
SCHEDULE = "k-shift(k=4)"
#: Those of QsNet; the latency is that of table 2.8 for 16 nodes.
CABLES = "bandwidth=340MB/s,latency=19ns"
#: Without this one, 15 nodes are left.
MISSING = 5
TORUS = (4, 4)
#: How far a node of the next switch is from its neighbor.
GAP = 0.8


@contextmanager
def open_page(file: Path, height: float) -> Iterator[Figure]:
    """Open a picture; write it to the file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture = pyplot.figure(figsize=(9.0, height), layout="constrained")
        yield picture
        for panel in picture.axes:
            panel.axis("off")
        picture.savefig(file, facecolor="w", metadata={"Date": None})
        pyplot.close(picture)


def across(node: int) -> float:
    """Where a node of the fat tree is drawn."""
    return node + GAP * (node // 4)


def draw_bandwidths(file: Path) -> None:
    """Draw bandwidth by distance of shifts and prefix sends on QsNet."""
    model = load_model("qsnet").model
    with chart(file, (9.0, 4.6)) as picture:
        picture.set_layout_engine("constrained")
        panels = picture.subplots(2, 2, sharey=True)
        for row, tree in zip(panels, ("4:4:4", "4:4:4:4"), strict=True):
            machine = topoloom.Machine(f"fattree:{tree},{CABLES}")
            allocation = topoloom.Allocation.whole(machine)
            for panel, steps in zip(row, ("shift", "prefix"), strict=True):
                found = find_contention(allocation, steps, model=model, size=256 * 1024)
                rates = [rate / 1e6 for rate in found.rates["any ascent"]]
                distances = range(1, len(rates) + 1)
                panel.plot(distances, rates, color=AFTER, linewidth=1.1)
                panel.set_title(f"{steps}, {found.ranks} nodes", loc="left")
                panel.set_ylim(0, 660)
        for panel in panels[1]:
            panel.set_xlabel("distance")
        for panel in panels[:, 0]:
            panel.set_ylabel("MB/s")


def draw_step_bandwidths(file: Path) -> None:
    """Draw each step of k-shift: senders above, receivers below."""
    machine = topoloom.Machine(FAT_TREE)
    whole = list(range(machine.node_count))
    ragged = [node for node in whole if node != MISSING]
    with open_page(file, 3.6) as picture:
        rows = picture.subplots(2, 4)
        for row, nodes in zip(rows, (whole, ragged), strict=True):
            steps = schedules.Step.of_schedule(SCHEDULE, len(nodes))
            for panel, step in zip(row, steps, strict=True):
                draw_step(panel, machine, step, nodes)


def draw_step(
    panel: Axes,
    machine: topoloom.Machine,
    step: schedules.Step,
    nodes: list[int],
) -> None:
    """Color messages that enter a switch from two switches."""
    sources: dict[int, set[int]] = {}
    messages = [(nodes[a], nodes[b]) for a, b in step.messages]
    for source, target in messages:
        if source // 4 != target // 4:
            sources.setdefault(target // 4, set()).add(source // 4)
    for source, target in messages:
        crosses = source // 4 != target // 4
        meets = crosses and len(sources[target // 4]) > 1
        panel.plot(
            [across(source), across(target)],
            [1, 0],
            "--" if meets else "-",
            color=BEFORE if meets else AFTER if crosses else "#cccccc",
            linewidth=1.4 if meets else 0.8,
        )
    for there, fill in ((True, "#333333"), (False, "white")):
        xs = [across(node) for node in range(16) if (node in nodes) == there]
        for y in (0, 1):
            panel.plot(xs, [y] * len(xs), "o", ms=3.4, mfc=fill, mec="#333333", mew=0.6)
    for switch in range(4):
        ends = [across(4 * switch) - 0.3, across(4 * switch + 3) + 0.3]
        for edge in (-0.12, 1.12):
            panel.plot(ends, [edge, edge], color="#333333", linewidth=2.2)
    by = (step.messages[0][1] - step.messages[0][0]) % len(nodes)
    name = f"+{by}" if 2 * by < len(nodes) else f"\N{MINUS SIGN}{len(nodes) - by}"
    found = schedules.meetings_any_ascent(machine, step, nodes)
    panel.set_title(f"{name}: {'messages meet' if found.places else 'free'}")
    panel.set_ylim(-0.3, 1.3)


def draw_trees(file: Path) -> None:
    """Draw the loads of many trees on a fat tree, and the disjoint ones of a torus."""
    with open_page(file, 4.4) as picture:
        (above,), (below,) = picture.subfigures(2, 1, squeeze=False)
        machine = topoloom.Machine(FAT_TREE)
        everyone = list(range(16))
        for panel, kind in zip(
            above.subplots(1, 2), ("last", "least-loaded"), strict=True
        ):
            trees = schedules.spanning_trees(
                machine, kind, [(root, everyone) for root in everyone]
            )
            draw_loads(panel, machine, schedules.tree_loads(machine, trees))
            panel.set_title(f"16 trees, {kind} parents")
        torus = topoloom.Machine("torus:" + "x".join(map(str, TORUS)))
        trees = schedules.spanning_trees(torus, "disjoint", [(0, everyone)])
        for number, (panel, tree) in enumerate(
            zip(below.subplots(1, len(trees)), trees, strict=True), 1
        ):
            draw_on_torus(panel, torus, tree)
            panel.set_title(f"disjoint tree {number} of a torus")


def draw_loads(
    panel: Axes, machine: topoloom.Machine, loads: tuple[list[int], list[int]]
) -> None:
    """Draw cables as wide as the trees that go up and down through them."""
    place = {node: (across(node), 0.0) for node in range(16)}
    for switch in range(4):
        place[16 + switch] = (across(4 * switch) + 1.5, 1.0)
        place[20 + switch] = (across(4 * switch) + 1.5, 2.4)
    for link in range(0, machine.link_count, 2):
        child, parent = machine.link_ends(link)
        if child < 16:
            width, color = 0.6, "#bbbbbb"
        else:
            trees = loads[0][link] + loads[0][link + 1]
            width, color = 0.3 + trees / 4, AFTER if trees else "#bbbbbb"
        xs, ys = zip(place[child], place[parent], strict=True)
        panel.plot(xs, ys, color=color, linewidth=width, solid_capstyle="round")
    for vertex, (x, y) in place.items():
        mark = "o" if vertex < 16 else "s"
        panel.plot(x, y, mark, color="#333333", ms=3.4 if vertex < 16 else 9, zorder=3)
        if vertex >= 20:
            panel.text(
                x, y + 0.28, f"{loads[1][vertex]} trees", ha="center", fontsize=8
            )
    panel.set(ylim=(-0.3, 3.1))


def draw_on_torus(
    panel: Axes,
    torus: topoloom.Machine,
    tree: schedules.SpanningTree,
) -> None:
    """Draw a tree; links round the end come in from outside."""
    for link in tree.links.tolist():
        start, end = (torus.coordinates(at) for at in torus.link_ends(link))
        step = [
            (b - a + 1) % extent - 1
            for a, b, extent in zip(start, end, TORUS, strict=True)
        ]
        length = (
            1.0 if [b - s for b, s in zip(end, step, strict=True)] == start else 0.6
        )
        panel.annotate(
            "",
            xy=(end[1], end[0]),
            xytext=(end[1] - length * step[1], end[0] - length * step[0]),
            arrowprops={
                "arrowstyle": "-|>",
                "color": AFTER,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )
    for node in range(torus.node_count):
        y, x = torus.coordinates(node)
        color = BEFORE if node == tree.root else "#333333"
        panel.plot(x, y, "o", color=color, ms=6 if node == tree.root else 3.4, zorder=3)
    panel.set(xlim=(-0.8, TORUS[1] - 0.2), ylim=(TORUS[0] - 0.2, -0.8), aspect="equal")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_step_bandwidths(folder / "contention-free.svg")
    draw_bandwidths(folder / "step-bandwidths.svg")
    draw_trees(folder / "multicast-trees.svg")
