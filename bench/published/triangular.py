# SPDX-License-Identifier: BSD-3-Clause
"""Triangular grids on Hopper: H. M. Aktulga et al., Euro-Par 2012."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from published.table import Ours
from topoloom import Allocation, Judgement, Machine, judge, place
from topoloom.graphs import hybrid_rows, triangular_grid, triangular_messages

SOURCE = "Aktulga 2012"
#: Counted are the links between routers alone.
HOPPER = (
    "torus:17x8x24,nodes=2,hosts=free,bandwidth=9.4GB/s,bandwidth.y=half+node:6:2:2"
)
#: Rows of the grid and unknowns, by test problem (Table 1).
PROBLEMS = {
    "test_276": (23, 4.66e7),
    "test_1128": (47, 1.60e8),
    "test_4560": (95, 4.82e8),
    "test_18336": (191, 1.30e9),
}
TABLES = {
    "Table 3": (("test_276", "test_1128"), ("dm", "bdm", "cm", "bcm")),
    "Table 4": (("test_4560", "test_18336"), ("dm", "cm", "bcm")),
}
GROUPS = {"C_col": "column", "C_row": "row"}
#: Bytes of a message that counts as 1, so that sizes are whole with one decimal.
UNIT = 10
UNKNOWN = "which nodes the job had is not known; ours: 0, 1, 2, ..."


def rows() -> Iterator[Ours]:
    """Yield the values of Figure 4 and of Tables 1 and 3 to 5."""
    for name, (n, unknowns) in PROBLEMS.items():
        table = "Table 1 (test problems 10B)"
        yield Ours(SOURCE, table, name, "n_p", len(triangular_grid(n, "bcm")))
        piece = float(f"{unknowns / n:.1e}")
        yield Ours(SOURCE, table, name, "n/n_d", piece)
    hopper = Machine(HOPPER)
    for table, (names, orders) in TABLES.items():
        for name, order in product(names, orders):
            n = PROBLEMS[name][0]
            row = f"{name} {order.upper()}"
            yield from _measured(table, row, name, hopper, n, order)
    # A rank has 6 of a node's 24 cores.
    hybrid = Machine(HOPPER.partition("+")[0] + "+node:4")
    for name in ("test_4560", "test_18336"):
        table = "Table 5 (multi-threaded BCM)"
        n = hybrid_rows(PROBLEMS[name][0], 6)
        yield from _measured(table, name, name, hybrid, n, "bcm")
    for order in ("dm", "cm", "bdm", "bcm"):
        table = "Figure 4 (orderings for nd=5, rows separated by |)"
        yield Ours(SOURCE, table, order.upper(), "grid", _figure(order))


def measure(machine: Machine, n: int, order: str, group: str, size: float) -> Judgement:
    """Judge the groups of one kind on the first nodes, messages of the given units."""
    nodes = -(-n * (n + 1) // 2 // machine.slots_per_node)
    allocation = Allocation(machine, list(range(nodes)))
    graph = triangular_messages(n, order, group, round(UNIT * size))
    placement = place(graph, allocation, mapper="block").placement
    return judge(graph, allocation, placement)


def _measured(
    table: str, row: str, problem: str, machine: Machine, n: int, order: str
) -> Iterator[Ours]:
    first_rows, first_unknowns = PROBLEMS["test_276"]
    size = round(PROBLEMS[problem][1] / n / (first_unknowns / first_rows), 1)
    capacity = 9.4e9 / UNIT  # of a link along x or z, in messages of size 1
    for column, group in GROUPS.items():
        fits = (n + 1) // 2 <= machine.slots_per_node
        in_a_node = order == "bcm" and group == "column" and fits
        note = "" if in_a_node else UNKNOWN
        it = measure(machine, n, order, group, size)
        for name, value in (
            ("D", round(it.dilation_average, 1)),
            ("T", round(it.traffic_average / UNIT)),
            ("X", round(it.congestion_max * capacity)),
        ):
            yield Ours(SOURCE, table, row, f"{name} {column}", value, note)


def _figure(order: str) -> str:
    grid = [["." for _ in range(5)] for _ in range(5)]
    for rank, (row, column) in enumerate(triangular_grid(5, order), start=1):
        grid[row][column] = str(rank)
    if order in ("dm", "cm"):  # printed without the empty half
        return "|".join(" ".join(c for c in line if c != ".") for line in grid)
    return "|".join(" ".join(line) for line in grid)
