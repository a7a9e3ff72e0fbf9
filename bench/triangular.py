# SPDX-License-Identifier: BSD-3-Clause
"""Triangular grids: four orders on consecutive slots, and placements for all groups.

Usage: ``PYTHONPATH=bench python -m triangular [--rows 23,47] [--figure FILE]``. Prints
Markdown. Machine and sizes are from H. M. Aktulga et al., Euro-Par 2012: Hopper,
message sizes in units of those of 23 rows, congestion per unit of capacity.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from published.triangular import HOPPER, PROBLEMS, UNIT
from topoloom import Allocation, Judgement, Machine, judge, place
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import triangular_grid, triangular_messages
from topoloom.graphs.phases import add_phases

ORDERS = ("dm", "bdm", "cm", "bcm")
GROUPS = ("column", "row", "orthogonalization")
MAPPER = "auto(effort=fast)"
CAPACITY = 9.4e9 / UNIT  # per link along x or z
FRAGMENTS = 4


@dataclass(frozen=True)
class Result:
    """Results of one order of one grid on one allocation, by group."""

    rows: int
    ragged: bool
    order: str
    block: list[Judgement]
    placed: list[Judgement]


def measure(machine: Machine, rows: int, ragged: bool, order: str) -> Result:
    """Place the phases of one order for minimum congestion, summed over the phases."""
    sizes = {n: unknowns / n for n, unknowns in PROBLEMS.values()}
    size = round(UNIT * round(sizes[rows] / sizes[23], 1))
    nodes = -(-rows * (rows + 1) // 2 // machine.slots_per_node)
    where = (
        fragmented_allocation(machine, nodes, FRAGMENTS, 1)
        if ragged
        else Allocation(machine, list(range(nodes)))
    )
    phases = [triangular_messages(rows, order, group, size) for group in GROUPS]
    graph = add_phases(phases)
    block = place(graph, where, mapper="block").placement
    placed = place(
        graph, where, mapper=MAPPER, objective="congestion", phases=phases
    ).placement
    return Result(
        rows,
        ragged,
        order,
        [judge(phase, where, block) for phase in phases],
        [judge(phase, where, placed) for phase in phases],
    )


def compute_congestion(judgements: list[Judgement]) -> list[float]:
    """Return the congestion of every group in the paper's units."""
    return [it.congestion_max * CAPACITY for it in judgements]


def format_table(results: list[Result]) -> str:
    """Format D, T and X of every group, a line per order and mapper."""
    lines = [
        "| rows | nodes | order | placed | columns D, T, X | rows D, T, X "
        "| orthogonalization D, T, X | sum of X |",
        "| ---: | --- | --- | --- | --- | --- | --- | ---: |",
    ]
    for result in results:
        nodes = f"in {FRAGMENTS} pieces" if result.ragged else "consecutive"
        ways = (
            ("in order", result.block),
            ("for congestion", result.placed),
        )
        for way, judgements in ways:
            cells = [
                f"{it.dilation_average:.1f}, {it.traffic_average / UNIT:.1f}, {x:.1f}"
                for it, x in zip(
                    judgements, compute_congestion(judgements), strict=True
                )
            ]
            total = sum(compute_congestion(judgements))
            name = result.order.upper()
            words = (result.rows, nodes, name, way, *cells, f"{total:.1f}")
            lines.append(f"| {' | '.join(map(str, words))} |")
    return "\n".join(lines)


def draw(results: list[Result], file: Path) -> None:
    """Draw the orders of five rows, and below the sums of congestion."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from topoloom.figure.style import AFTER, BEFORE, SETTINGS, TEXT

    cases = sorted({(it.rows, it.ragged) for it in results})
    with pyplot.rc_context(SETTINGS):
        page = pyplot.figure(figsize=(8.4, 4.8), layout="constrained")
        above, below = page.subfigures(2, 1, height_ratios=(1, 1.25))
        for panel, order in zip(above.subplots(1, 4), ORDERS, strict=True):
            cells = np.array(triangular_grid(5, order))
            column = np.full((5, 5), np.nan)
            column[cells[:, 0], cells[:, 1]] = cells[:, 1]
            panel.imshow(column, cmap="Pastel1", vmin=0, vmax=8)
            for rank, (i, j) in enumerate(cells):
                weight = "bold" if i == j else "normal"
                panel.text(j, i, str(rank), ha="center", va="center", weight=weight)
            panel.set_title(order.upper())
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
        panels = np.atleast_1d(below.subplots(1, len(cases)))
        for panel, (rows, ragged) in zip(panels, cases, strict=True):
            of_case = [it for it in results if (it.rows, it.ragged) == (rows, ragged)]
            for way, color, shift in (("block", BEFORE, -0.2), ("placed", AFTER, 0.2)):
                bottom = np.zeros(len(of_case))
                places = np.arange(len(of_case)) + shift
                for group, alpha in zip(GROUPS, (1, 0.65, 0.3), strict=True):
                    number = GROUPS.index(group)
                    heights = np.array(
                        [compute_congestion(getattr(it, way))[number] for it in of_case]
                    )
                    label = f"{group}, {'in order' if way == 'block' else 'placed'}"
                    panel.bar(
                        places,
                        heights,
                        0.36,
                        bottom,
                        color=color,
                        alpha=alpha,
                        label=label,
                    )
                    bottom += heights
            panel.set_xticks(range(len(of_case)), [it.order.upper() for it in of_case])
            panel.tick_params(length=0)
            where = f"{FRAGMENTS} pieces" if ragged else "consecutive nodes"
            panel.set_title(f"{rows} rows, {where}")
        panels[0].set_ylabel("sum of congestion", color=TEXT)
        handles, labels = panels[0].get_legend_handles_labels()
        below.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=2,
            frameon=False,
            fontsize=8,
        )
        extra = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 110}
        page.savefig(file, facecolor="w", **extra)
        pyplot.close(page)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("triangular", description=__doc__)
    parser.add_argument(
        "--rows", default="23,47", help="rows of the grid, out of 23, 47, 95 and 191"
    )
    parser.add_argument("--figure", type=Path, help="SVG to draw")
    args = parser.parse_args()
    machine = Machine(HOPPER)
    results = [
        measure(machine, int(rows), ragged, order)
        for rows in args.rows.split(",")
        for ragged in (False, True)
        for order in ORDERS
    ]
    print(format_table(results))
    if args.figure is not None:
        draw(results, args.figure)


if __name__ == "__main__":
    main()
