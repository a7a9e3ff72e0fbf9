# SPDX-License-Identifier: BSD-3-Clause
"""Finds over which links published traffic of triangular grids is averaged.

Usage: ``PYTHONPATH=bench python -m traffic_links PUBLISHED.csv [--tries 300]``. Prints
Markdown. H. M. Aktulga et al., Euro-Par 2012, publish dilation, traffic and congestion
of jobs on unknown nodes. Every job gets many allocations here. The ones nearest to its
dilation and congestion show the traffic for each set of links.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from published.table import Key, read_published
from published.triangular import (
    GROUPS,
    HOPPER,
    HYBRID,
    PROBLEMS,
    ROUTERS,
    SOURCE,
    TABLES,
    THREADED,
    UNIT,
    compute_message_size,
)
from topoloom import Allocation, Judgement, Machine, judge, place
from topoloom.graphs import hybrid_rows, triangular_messages

Floats = NDArray[np.float64]
NEAREST = 12
BLOCKS = ((1, 1, 1), (2, 2, 2), (1, 2, 2), (2, 2, 4), (1, 2, 8), (1, 2, 24), (4, 4, 4))


class Links:
    """Links between routers, and sets of them."""

    def __init__(self, machine: Machine) -> None:
        self.ends = machine.link_ends().astype(np.int64)
        self.capacity = machine.bandwidth() / machine.bandwidth().max()
        key = self.ends @ [machine.link_count, 1]
        back = self.ends @ [1, machine.link_count]
        order = np.argsort(key)
        self.reverse = order[np.searchsorted(key, back, sorter=order)]

    def means(self, loads: Floats, both: Floats, nodes: NDArray[np.uint32]) -> Floats:
        """Return average loads for every set; `both`: loads of columns and of rows."""
        total, loaded = loads.sum(), loads > 0
        if total == 0:
            return np.full(len(SETS), np.nan)
        ours = np.isin(self.ends, nodes // 2)
        width = np.where(self.capacity < 1, 1, 2)
        numbers = [
            loaded.sum(),
            (loaded | loaded[self.reverse]).sum(),
            (both > 0).sum(),
            ours[:, 0].sum(),
            ours.all(axis=1).sum(),
            (loaded * width).sum(),
        ]
        weighted = (loads / self.capacity).sum() / numbers[0]
        found = [total / number if number else np.nan for number in numbers]
        return np.array([*found, weighted])


SETS = (
    "loaded",
    "loaded, and their reverse",
    "loaded by columns or rows",
    "out of the job's routers",
    "between the job's routers",
    "loaded, counted twice along x and z, where they are double",
    "loaded, the load divided by the capacity",
)


def allocate(machine: Machine, nodes: int, rng: np.random.Generator) -> Allocation:
    """Allocate nodes in a given order from any start, skipping nodes of other jobs."""
    block, axes = BLOCKS[rng.integers(len(BLOCKS))], rng.permutation(3)
    where, width = np.indices(ROUTERS).reshape(3, -1), np.array(block)[:, None]
    inside, outside = where % width, where // width
    order = np.lexsort((*inside[axes], *outside[axes]))
    free = np.repeat(2 * order, 2) + np.tile((0, 1), len(order))
    run, busy = rng.choice([1, 2, 8, 32, 64]), rng.choice([0, 0, 0.05, 0.2, 0.5])
    free = free[np.repeat(rng.random(len(free)), run)[: len(free)] >= busy]
    first = rng.integers(len(free) - nodes)
    return Allocation(machine, free[first : first + nodes])


def list_jobs() -> Iterator[tuple[str, str, Machine, str, int, str]]:
    """List (table, row, machine, problem, rows of the grid, order) of the jobs."""
    hopper, hybrid = Machine(HOPPER), Machine(HYBRID)
    for table, (problems, orders) in TABLES.items():
        for problem, order in product(problems, orders):
            n = PROBLEMS[problem][0]
            yield table, f"{problem} {order.upper()}", hopper, problem, n, order
    for problem in ("test_4560", "test_18336"):
        n = hybrid_rows(PROBLEMS[problem][0], 6)
        yield THREADED, problem, hybrid, problem, n, "bcm"


def compute_misfit(it: Judgement, hops: float, congestion: float) -> float:
    """Return the sum of logarithmic differences to the published values."""
    ours = it.congestion_max * 9.4e9 / UNIT
    near = abs(log((it.dilation_average + 0.05) / (hops + 0.05)))
    return near + abs(log((ours + 1) / (congestion + 1)))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("traffic_links", description=__doc__)
    parser.add_argument("values", type=Path, help="CSV of published values")
    parser.add_argument("--tries", type=int, default=300, help="allocations per job")
    args = parser.parse_args()
    published = read_published(args.values)
    rng = np.random.default_rng(1)
    off: list[Floats] = []
    for table, row, machine, problem, n, order in list_jobs():
        links = Links(machine)
        printed = {
            group: [
                float(published[Key(SOURCE, table, row, f"{name} {column}")])
                for name in "DTX"
            ]
            for column, group in GROUPS.items()
        }
        size = round(UNIT * compute_message_size(problem, n))
        graphs = [triangular_messages(n, order, group, size) for group in printed]
        nodes = -(-graphs[0].rank_count // machine.slots_per_node)
        found = []
        for _ in range(args.tries):
            where = allocate(machine, nodes, rng)
            slots = place(graphs[0], where, mapper="block").placement
            its = [judge(graph, where, slots) for graph in graphs]
            apart = sum(
                compute_misfit(it, hops, congestion)
                for it, (hops, _, congestion) in zip(its, printed.values(), strict=True)
            )
            loads = [np.asarray(it.loads) / UNIT for it in its]
            means = [links.means(each, sum(loads), where.nodes) for each in loads]
            found.append((apart, means))
        found.sort(key=lambda each: each[0])
        for number, (_, traffic, _) in enumerate(printed.values()):
            near = np.array([means[number] for _, means in found[:NEAREST]])
            near = near[~np.isnan(near).any(axis=1) & (near > 0).all(axis=1)]
            if traffic > 0 and len(near):
                off.append(np.log(np.median(near, axis=0) / traffic))
    print_differences(np.array(off))


def print_differences(off: Floats) -> None:
    """Print the differences between published traffic and the means over each set."""
    print(
        "| mean over links that are | off by a factor of | over print | within 25 % |"
    )
    print("| --- | ---: | ---: | ---: |")
    for name, each in zip(SETS, off.T, strict=True):
        near = round(100 * (abs(each) < log(1.25)).mean())
        typical, bias = exp(abs(each).mean()), exp(each.mean())
        print(f"| {name} | {typical:.2f} | {bias:.2f} | {near} % |")


if __name__ == "__main__":
    main()
