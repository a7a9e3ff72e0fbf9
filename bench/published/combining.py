# SPDX-License-Identifier: BSD-3-Clause
"""Kumar 2005, chapter 3: alltoall with combined messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import isqrt

from published.table import Ours
from topoloom import Allocation, Machine, schedules
from topoloom.model import load_model
from topoloom.schedules.choose import RankSlots, rank_schedules
from topoloom.schedules.joint_search import make_block_order

SOURCE = "Kumar 2005"
TABLE = "in text: 3 all-to-all"
QSNET = load_model("qsnet").model
#: Costs of QsNet: for messages below 288 bytes and above 2 KB, and for those between.
SMALL, LARGE = (
    schedules.CombiningCosts(alpha=alpha, beta=beta)
    for alpha, beta, _ in QSNET.lines[:2]
)
#: A 4-ary 5-tree with four processors per node.
MACHINE = "fattree:4:4:4:4:4,bandwidth=340MB/s+node:4"


def compute_values() -> Iterator[Ours]:
    """Compute the values of the chapter."""
    size = find_zero(lambda m: compute_excess_over_mesh(1024, m))
    row = "direct = 2-D mesh crossover message size"
    yield Ours(SOURCE, TABLE, row, "value", size, stated="1375")
    for direct in (2, 3):
        row = f"Hypercube extra messages zeta={direct}"
        yield Ours(SOURCE, TABLE, row, "value", count_extra_messages(direct))
    degree = find_zero(lambda d: compute_excess_over_grid(2048, d, 476))
    row = "3-D vs 2-D cross-over degree at 476 B, 2048 processors"
    note = "by the equations, with 16 us and 5 ns/B; the source measured it"
    yield Ours(SOURCE, TABLE, row, "value", degree, note)
    yield from compute_alltoalls()
    yield from count_hole_messages()


def compute_alltoalls() -> Iterator[Ours]:
    """Compute the alltoalls of the text on its machine, four processes per node."""
    short, long = (
        rank_schedules_of_alltoall(2048, 76),
        rank_schedules_of_alltoall(1024, 8192),
    )
    note = (
        f"the best, {short[0].name}; direct messages take "
        f"{1e3 * find_time(short, 'at-once'):.1f} ms, and MPI took 55"
    )
    row = "MPI vs best strategy 76 B, 2048 processors"
    yield Ours(SOURCE, TABLE, row, "value", 1e3 * short[0].cost.time, note, stated="32")
    row = "8 KB AAPC 1024 processors total / CPU"
    note = f"of {long[0].name}, {1e3 * long[0].cost.cpu:.0f} ms of it CPU; without the "
    note += "contention of adaptive routes"
    yield Ours(SOURCE, TABLE, row, "value", 1e3 * long[0].cost.time, note, stated="800")


def rank_schedules_of_alltoall(ranks: int, size: int) -> list[schedules.RankedSchedule]:
    """Rank the schedules of an alltoall with four processes per node."""
    machine = Machine(MACHINE)
    allocation = Allocation(machine, range(ranks // 4))
    call = schedules.Call("alltoall", ranks, size)
    slots = RankSlots(allocation, make_block_order(call, allocation))
    return rank_schedules(call, QSNET, slots)


def find_time(found: list[schedules.RankedSchedule], name: str) -> float:
    """Return the seconds of a schedule by name."""
    return next(one.cost.time for one in found if one.name == name)


def find_zero(difference: Callable[[float], float]) -> float:
    """Return the zero of a linear function."""
    start = difference(0.0)
    return start / (start - difference(1.0))


def compute_excess_over_mesh(ranks: int, size: float) -> float:
    """Return the time of direct messages minus the time of a mesh."""
    direct, mesh = (
        schedules.alltoall_time(strategy, ranks, size, SMALL)
        for strategy in ("direct", "mesh")
    )
    return direct - mesh


def compute_excess_over_grid(ranks: int, degree: float, size: float) -> float:
    """Return the time of a many-to-many on two axes minus that on three."""
    mesh, grid = (
        schedules.many_to_many_time(strategy, ranks, degree, size, LARGE)
        for strategy in ("mesh", "grid")
    )
    return mesh - grid


def count_extra_messages(direct: int) -> float:
    """Count the additional messages of a hypercube with some direct dimensions."""
    call = schedules.Call("allgather", 256, 1)
    some, none = (
        call.schedule(f"hypercube-direct(direct={dimensions})").cost(QSNET).messages
        for dimensions in (direct, 0)
    )
    return some - none


def count_hole_messages() -> Iterator[Ours]:
    """Count the additional messages per rank due to holes of the mesh."""
    square = {ranks: count_most_extra_messages(ranks, 2) for ranks in range(3, 300)}
    two = [ranks for ranks, extra in square.items() if extra == 2]
    assert max(square.values()) == 2
    sides = (isqrt(ranks - 1) + 1 for ranks in two)
    known = (side * (side - 1) - 1 for side in sides)
    assert all(ranks == other for ranks, other in zip(two, known, strict=True))
    usual = max(extra for extra in square.values() if extra < 2)
    row = "2-D mesh holes: extra messages received"
    yield Ours(SOURCE, TABLE, row, "value", usual, stated="1")
    cube = [
        count_most_extra_messages(ranks, 3)
        for ranks in range(10, 300)
        if ranks not in (30, 31)
    ]
    row = "3-D mesh holes: extra messages bound"
    note = "but 5 and 6 for 30 and 31 ranks"
    yield Ours(SOURCE, TABLE, row, "value", max(cube), note)


def count_most_extra_messages(ranks: int, axes: int) -> int:
    """Return the maximum number of messages from other planes before the last phase."""
    side = next(side for side in range(1, ranks) if side**axes >= ranks)
    plane = side ** (axes - 1)
    extra: Counter[int] = Counter()
    for rank in range(ranks):
        for receivers in schedules.virtual_mesh_receivers(ranks, axes, rank)[:-1]:
            extra.update(to for to in receivers if to // plane != rank // plane)
    return max(extra.values(), default=0)
