# SPDX-License-Identifier: BSD-3-Clause
"""Triangular grids on Hopper: H. M. Aktulga et al., Euro-Par 2012."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from published.table import Ours
from topoloom import Allocation, Judgement, Machine, judge, place
from topoloom.graphs import (
    hybrid_rows,
    triangular_grid,
    triangular_levels,
    triangular_messages,
)

SOURCE = "Aktulga 2012"
ROUTERS = (17, 8, 24)
#: Hopper; only links between routers limit the bandwidth.
HOPPER = (
    "torus:17x8x24,nodes=2,hosts=free,bandwidth=9.4GB/s,bandwidth.y=half+node:6:2:2"
)
#: Four ranks per node, each on 6 of 24 cores.
HYBRID = HOPPER.partition("+")[0] + "+node:4"
#: Rows of the grid, and unknowns, by test problem (Table 1).
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
THREADED = "Table 5 (multi-threaded BCM)"
GROUPS = {"C_col": "column", "C_row": "row"}
#: Measured times with dm, from which other orders are predicted: total seconds, share
#: of communication, seconds of columns and of rows (Tables 2 to 4).
DIAGONALS = {
    "test_276": (211, 0.24, {"column": 19, "row": 21}),
    "test_1128": (410, 0.47, {"column": 89, "row": 78}),
    "test_4560": (567, 0.56, {"column": 145, "row": 125}),
    "test_18336": (1260, 0.80, {"column": 500, "row": 400}),
}
#: Messages of an iteration in sequence, by group.
STEPS = {
    "column": ("column", "column-reduction"),
    "row": ("row", "row-reduction"),
    "orthogonalization": ("orthogonalization", "gather"),
}
#: Bytes of a message of size 1; sizes with one decimal are then whole bytes.
UNIT = 10
NODES = (
    "which nodes the job had is not known; of 24 orders of nodes tried, ours come "
    "nearest to the printed D and X"
)
AT_LEAST = (
    "a loaded link has at least 2 messages here, so that no mean over loaded links "
    "comes to less"
)
RELATIVE = (
    "the time measured with dm, times the ratio of our loads of the busiest link over "
    "all levels; which nodes the job had is not known"
)
IN_NODE = f"{RELATIVE}, and what stays inside a router costs nothing"
OF_LOADS = "ours of our loads of the busiest link; ranks also wait for each other"


def compute_values() -> Iterator[Ours]:
    """Yield the values of Figure 4, of Tables 1 to 5, and of the text."""
    for name, (n, _) in PROBLEMS.items():
        table = "Table 1 (test problems 10B)"
        yield Ours(SOURCE, table, name, "n_p", len(triangular_grid(n, "bcm")))
    for table, (names, orders) in TABLES.items():
        for name, order in product(names, orders):
            row = f"{name} {order.upper()}"
            yield from _measure_group_values(table, row, HOPPER, name, order)
            if order != "dm":
                yield from _compute_times(table, row, HOPPER, name, order)
    for name in ("test_4560", "test_18336"):
        yield from _measure_group_values(THREADED, name, HYBRID, name, "bcm")
        yield from _compute_times(THREADED, name, HYBRID, name, "bcm")
    yield from _compute_speedups()
    yield from _compute_shares()
    for order in ("dm", "cm", "bdm", "bcm"):
        table = "Figure 4 (orderings for nd=5, rows separated by |)"
        yield Ours(SOURCE, table, order.upper(), "grid", _format_order(order))


def measure(machine: Machine, n: int, order: str, group: str, size: float) -> Judgement:
    """Score the messages of one kind of groups on the job's nodes; `size` in units."""
    where = allocate_job(machine, n)
    graph = triangular_messages(n, order, group, round(UNIT * size))
    return judge(graph, where, place(graph, where, mapper="block").placement)


def allocate_job(machine: Machine, n: int) -> Allocation:
    """Allocate the nodes of a grid: blocks of 2x2x2 routers along x, then y, then z.

    The other node of the first router belongs to another job, so that columns of two
    nodes need a link.
    """
    x, y, z = (range(0, extent, 2) for extent in ROUTERS)
    inside = list(product(range(2), repeat=3))
    routers = [
        (i + a, j + b, k + c)
        for k, j, i in product(z, y, x)
        for c, b, a in inside
        if i + a < ROUTERS[0]
    ]
    nodes = [
        2 * ((i * ROUTERS[1] + j) * ROUTERS[2] + k) + half
        for i, j, k in routers
        for half in range(2)
    ]
    count = -(-n * (n + 1) // 2 // machine.slots_per_node)
    return Allocation(machine, nodes[1 : 1 + count])


def compute_message_size(problem: str, n: int) -> float:
    """Return the size of a message in units of test_276's messages."""
    first_rows, first_unknowns = PROBLEMS["test_276"]
    return round(PROBLEMS[problem][1] / n / (first_unknowns / first_rows), 1)


def predict_load(
    machine: Machine, problem: str, n: int, order: str, group: str
) -> float:
    """Sum the busiest link's load over the levels of the trees, down and up."""
    where = allocate_job(machine, n)
    size = round(100 * UNIT * compute_message_size(problem, n))
    levels = [
        level
        for what in STEPS[group]
        for level in triangular_levels(n, order, what, size)
    ]
    slots = place(levels[0], where, mapper="block").placement
    return sum(judge(level, where, slots).congestion_max for level in levels)


@cache
def _predict_load(text: str, problem: str, order: str, group: str) -> float:
    n = _count_rows(text, problem)
    return predict_load(Machine(text), problem, n, order, group)


def _count_rows(machine: str, problem: str) -> int:
    n = PROBLEMS[problem][0]
    return hybrid_rows(n, 6) if machine == HYBRID else n


def _measure_group_values(
    table: str, row: str, text: str, problem: str, order: str
) -> Iterator[Ours]:
    machine, n = Machine(text), _count_rows(text, problem)
    size = compute_message_size(problem, n)
    capacity = 9.4e9 / UNIT  # per link along x or z, in messages of size 1
    for column, group in GROUPS.items():
        it = measure(machine, n, order, group, size)
        for name, value in (
            ("D", round(it.dilation_average, 1)),
            ("T", round(it.traffic_average / UNIT)),
            ("X", round(it.congestion_max * capacity)),
        ):
            split = (text, name, order, group) == (HOPPER, "T", "bcm", "column")
            note = AT_LEAST if split else NODES
            yield Ours(SOURCE, table, row, f"{name} {column}", value, note, within=0.2)


def _compute_times(
    table: str, row: str, text: str, problem: str, order: str
) -> Iterator[Ours]:
    for column, group in GROUPS.items():
        ours = round(_scale_seconds(text, problem, order, group), 1)
        note = IN_NODE if group == "column" else RELATIVE
        yield Ours(SOURCE, table, row, f"t_comm {column}", ours, note, within=0.2)


def _scale_seconds(text: str, problem: str, order: str, group: str) -> float:
    """Return measured seconds with dm, scaled by the ratio of predicted loads."""
    of_diagonals = _predict_load(HOPPER, problem, "dm", group)
    measured = DIAGONALS[problem][2][group]
    return measured * _predict_load(text, problem, order, group) / of_diagonals


def _predict_communication_seconds(problem: str, order: str) -> float:
    """Predict the total seconds of communication from those with dm."""
    total, share, _ = DIAGONALS[problem]
    ours, of_diagonals = (
        sum(_predict_load(HOPPER, problem, each, group) for group in STEPS)
        for each in (order, "dm")
    )
    return total * share * ours / of_diagonals


def _compute_speedups() -> Iterator[Ours]:
    table = "Table 2 (single-threaded)"
    best = 0.0
    for order, problem in product(("bdm", "cm", "bcm"), PROBLEMS):
        if order == "bdm" and problem not in TABLES["Table 3"][0]:
            continue
        total, share, _ = DIAGONALS[problem]
        sent = _predict_communication_seconds(problem, order)
        took = total * (1 - share) + sent
        best = max(best, total / took)
        name, note = order.upper(), IN_NODE
        gain = round(total / took, 2)
        part = round(100 * sent / took)
        column = f"{name} speed-up"
        yield Ours(SOURCE, table, column, problem, gain, note, within=0.2)
        yield Ours(SOURCE, table, f"{name} comm %", problem, part, note, within=0.2)
    table = "in text: machine and run"
    up_to = "overall speed-up, up to"
    yield Ours(SOURCE, table, up_to, "value", round(best, 2), IN_NODE, within=0.2)


def _compute_shares() -> Iterator[Ours]:
    """Yield the groups' shares of the largest run's communication, with dm."""
    sent = [_predict_load(HOPPER, "test_18336", "dm", group) for group in STEPS]
    for name, part in zip(
        ("column share of communication", "row share", "orthogonalisation share"),
        sent,
        strict=True,
    ):
        share = round(100 * part / sum(sent))
        table = "in text: machine and run"
        yield Ours(SOURCE, table, name, "value", share, OF_LOADS, within=0.2)


def _format_order(order: str) -> str:
    grid = [["." for _ in range(5)] for _ in range(5)]
    for rank, (row, column) in enumerate(triangular_grid(5, order), start=1):
        grid[row][column] = str(rank)
    if order in ("dm", "cm"):  # print omits the empty half
        return "|".join(" ".join(c for c in line if c != ".") for line in grid)
    return "|".join(" ".join(line) for line in grid)
