# SPDX-License-Identifier: BSD-3-Clause
"""Kumar 2005, chapter 3: all-to-all with combined messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import isqrt

from published.table import Ours
from topoloom import schedules

SOURCE = "Kumar 2005"
TABLE = "in text: 3 all-to-all"
#: QsNet below 288 bytes and above 2 KB, and between.
SMALL = schedules.CombiningCosts(alpha=11e-6, beta=8e-9)
LARGE = schedules.CombiningCosts(alpha=16e-6, beta=5e-9)


def rows() -> Iterator[Ours]:
    """Compute what we know of the chapter."""
    size = crossing(lambda m: over_mesh(1024, m))
    text = f"alpha/beta ({size:.0f} B for 11us, 8ns)"
    yield Ours(SOURCE, TABLE, "direct = 2-D mesh crossover message size", "value", text)
    for direct in (2, 3):
        row = f"Hypercube extra messages zeta={direct}"
        yield Ours(SOURCE, TABLE, row, "value", extra_messages(direct))
    degree = crossing(lambda d: over_grid(2048, d, 476))
    row = "3-D vs 2-D cross-over degree at 476 B, 2048 processors"
    note = "with 16 us and 5 ns/B; the source reads it from measured times"
    yield Ours(SOURCE, TABLE, row, "value", degree, note)
    yield from holes()


def crossing(difference: Callable[[float], float]) -> float:
    """Return where a linear function is 0."""
    start = difference(0.0)
    return start / (start - difference(1.0))


def over_mesh(ranks: int, size: float) -> float:
    """Return how much longer direct messages take than those of a mesh."""
    direct, mesh = (
        schedules.all_to_all_time(strategy, ranks, size, SMALL)
        for strategy in ("direct", "mesh")
    )
    return direct - mesh


def over_grid(ranks: int, degree: float, size: float) -> float:
    """Return how much longer a many-to-many takes on two axes than on three."""
    mesh, grid = (
        schedules.many_to_many_time(strategy, ranks, degree, size, LARGE)
        for strategy in ("mesh", "grid")
    )
    return mesh - grid


def extra_messages(direct: int) -> float:
    """Count the further messages of a hypercube with some dimensions direct."""
    count = schedules.CombiningCosts(alpha=1)
    some, none = (
        schedules.nic_all_gather_time("hypercube", 256, 1, count, direct=dimensions)
        for dimensions in (direct, 0)
    )
    return some - none


def holes() -> Iterator[Ours]:
    """Count the messages that holes of the mesh bring a rank."""
    square = {ranks: most_extra(ranks, 2) for ranks in range(3, 300)}
    two = [ranks for ranks, extra in square.items() if extra == 2]
    assert max(square.values()) == 2
    sides = (isqrt(ranks - 1) + 1 for ranks in two)
    known = (side * (side - 1) - 1 for side in sides)
    assert all(ranks == other for ranks, other in zip(two, known, strict=True))
    usual = max(extra for extra in square.values() if extra < 2)
    row = "2-D mesh holes: extra messages received"
    yield Ours(SOURCE, TABLE, row, "value", f" {usual} (2 only for P=s(s-1)-1)")
    cube = [most_extra(ranks, 3) for ranks in range(10, 300) if ranks not in (30, 31)]
    row = "3-D mesh holes: extra messages bound"
    note = "but 5 and 6 for 30 and 31 ranks"
    yield Ours(SOURCE, TABLE, row, "value", max(cube), note)


def most_extra(ranks: int, axes: int) -> int:
    """Count what comes to the worst rank from another plane before the last phase."""
    side = next(side for side in range(1, ranks) if side**axes >= ranks)
    plane = side ** (axes - 1)
    extra: Counter[int] = Counter()
    for rank in range(ranks):
        for receivers in schedules.virtual_mesh_receivers(ranks, axes, rank)[:-1]:
            extra.update(to for to in receivers if to // plane != rank // plane)
    return max(extra.values(), default=0)
