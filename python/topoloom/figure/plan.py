# SPDX-License-Identifier: BSD-3-Clause
"""Draws transfers of tasks: as arcs over the loads of ranks, or on the machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from topoloom._core import Allocation, Error, MachineText, Placement, Wiring
from topoloom.figure.layout import place_vertices
from topoloom.figure.links import Array
from topoloom.figure.network import find_routers, make_network
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, TEXT
from topoloom.machines.topology_keys import write_topology
from topoloom.support.units import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NUMBERED = 32  # maximum number of ranks that are labeled with number and load
MAX_RANKS = 4096


class Plan(Protocol):
    """A set of transfers, such as `topoloom._core.Balance`."""

    @property
    def plan(self) -> Array:
        """Transfers as rows of source, target and number of tasks."""

    @property
    def ends(self) -> Array:
        """The load of each rank after the transfers."""


def draw_plan(
    path: str | Path,
    loads: Array,
    plans: Mapping[str, Plan],
    where: tuple[Allocation, Placement] | None = None,
    unit: str = "tasks",
) -> None:
    """Draw plans for the same loads next to each other.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    loads : array of shape ``(ranks,)``
        Loads of the ranks before the transfers.
    plans
        One or more plans, by name of the balancer; the name may be empty.
    where
        Allocation and placement of the ranks; None draws the ranks in a line.
    unit
        Unit of the loads, as text.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, matplotlib is not installed, or there are more
        than 4,096 ranks.
    OSError
        If the file cannot be written.
    """
    if not plans:
        raise Error("there is no plan to draw")
    if len(loads) > MAX_RANKS:
        raise Error(
            f"a plan of {len(loads):,} ranks is too large to draw; "
            f"up to {MAX_RANKS:,} are"
        )
    width = 6.4 if where is None else 4.6
    with open_page(path, (width * len(plans), 3.4 if where is None else 4.6)) as figure:
        figure.set_layout_engine("constrained")
        for axes, (name, found) in zip(
            np.atleast_1d(figure.subplots(1, len(plans))), plans.items(), strict=True
        ):
            if where is None:
                _draw_line(axes, loads, found, unit)
            else:
                _draw_on_machine(axes, loads, found, *where)
            moved = counted(int(found.plan[:, 2].sum()), "task")
            title = f"{moved} in {counted(len(found.plan), 'message')}"
            axes.set_title(f"{name}: {title}" if name else title, loc="left")


def _draw_line(axes: Axes, loads: Array, found: Plan, unit: str) -> None:
    """Draw loads as bars, and transfers as arcs."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Path2D

    ranks = np.arange(len(loads))
    mean = loads.mean()
    axes.bar(ranks, loads, color=NEUTRAL, width=0.8)
    axes.axhline(mean, color=TEXT, linewidth=0.8, linestyle=":")
    top = float(loads.max()) or 1.0
    gap = 0.02 * top
    numbered = len(loads) <= MAX_NUMBERED
    for source, target, tasks in found.plan.tolist():
        start, end = (source, loads[source] + gap), (target, loads[target] + gap)
        over = max(start[1], end[1]) + (0.2 + 0.1 * abs(target - source)) * top
        control = ((source + target) / 2, over)
        arc = FancyArrowPatch(
            path=Path2D([start, control, end], [1, 3, 3]),
            arrowstyle="-|>",
            mutation_scale=9,
            color=AFTER,
            linewidth=1.2 if numbered else 0.5,
        )
        axes.add_patch(arc)
        if numbered:
            middle = (start[1] + 2 * control[1] + end[1]) / 4
            axes.text(control[0], middle + gap, f"{tasks}", ha="center", color=AFTER)
    axes.set_ylim(0, 1.5 * top)
    axes.set_ylabel(unit)
    axes.set_xlabel("rank")
    if numbered:
        axes.set_xticks(ranks)


def _draw_on_machine(
    axes: Axes, loads: Array, found: Plan, allocation: Allocation, placed: Placement
) -> None:
    """Draw nodes colored by surplus or deficit, and transfers as arrows."""
    machine = allocation.machine
    topology = write_topology(MachineText(machine.text))
    network, wiring = make_network(machine, topology), Wiring(machine)
    places = place_vertices(topology, network)
    home = find_routers(machine, wiring.vertex_count, topology)
    vertex = home[wiring.vertex][placed.slots // machine.slots_per_node]
    axes.plot(
        *places[network.ends].transpose(2, 1, 0), color=NEUTRAL, linewidth=0.5, zorder=0
    )
    moves = np.zeros((len(places), len(places)), np.int64)
    source, target, tasks = found.plan.T
    np.add.at(moves, (vertex[source], vertex[target]), tasks)
    np.fill_diagonal(moves, 0)
    for start, end in np.argwhere(moves).tolist():
        axes.annotate(
            "",
            places[end],
            places[start],
            arrowprops={
                "arrowstyle": "-|>,head_width=0.15,head_length=0.3",
                "color": TEXT,
                "linewidth": min(2.0, 0.5 + 0.2 * float(moves[start, end])),
                "shrinkA": 3,
                "shrinkB": 3,
                "connectionstyle": "arc3,rad=0.12",
            },
        )
    excess = np.bincount(vertex, loads - found.ends, len(places))
    size = float(np.clip(80 / np.sqrt(len(places)), 2.0, 7.0))
    for chosen, color, label in (
        (excess > 0, BEFORE, "too many"),
        (excess < 0, AFTER, "too few"),
        (excess == 0, "white", "balanced"),
    ):
        axes.plot(
            *places[chosen].T,
            linestyle="none",
            marker="o",
            markersize=size,
            markerfacecolor=color,
            markeredgecolor="#333333",
            markeredgewidth=0.4,
            label=label,
            zorder=2,
        )
    axes.legend(
        frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0, 0), ncols=3
    )
    axes.set_aspect("auto" if network.has_switches else "equal")
    axes.margins(0.06)
    axes.axis("off")
