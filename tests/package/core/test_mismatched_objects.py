# SPDX-License-Identifier: BSD-3-Clause
"""Objects made for one machine or allocation cannot be used with another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from topoloom import Allocation, CommGraph, Error, Machine, Placement, judge
from topoloom.graphs import ring
from topoloom.placements import objective_value, predicted_time
from topoloom.schedules import Schedule, spanning_trees, tree_loads

MACHINES = [
    "torus:4x4",
    "mesh:4x4",
    "torus:4x4+down:15",
    "torus:2x8",
    "ring:32",
    "mesh:2",
]
USES: list[Callable[[CommGraph, Allocation, Placement], object]] = [
    judge,
    lambda g, a, p: objective_value(g, a, p, objective="hop-bytes"),
    lambda g, a, p: objective_value(g, a, p, objective="congestion"),
    predicted_time,
    lambda g, a, p: Schedule("ring", "allgather", 2, 8).cost_on(a, p),
]


@pytest.mark.parametrize("made", MACHINES)
@pytest.mark.parametrize("used", MACHINES)
def test_tree_loads_require_the_machine_of_the_trees(made: str, used: str) -> None:
    trees = spanning_trees(Machine(made), "routes", [(0, [1]), (1, [0])])
    if made == used:
        assert sum(tree_loads(Machine(used), trees)[0]) == 2
    else:
        with pytest.raises(Error, match="a tree was made for another machine"):
            tree_loads(Machine(used), trees)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", MACHINES)
@pytest.mark.parametrize("used", MACHINES)
def test_evaluations_require_the_machine_of_the_placement(
    use: Callable[[CommGraph, Allocation, Placement], object], made: str, used: str
) -> None:
    machine, other = Machine(made), Machine(used)
    placement = Placement(Allocation.whole(machine), [0, 1])
    if made == used:
        use(ring(2), Allocation.whole(other), placement)
    else:
        with pytest.raises(Error, match="placement was made for another machine"):
            use(ring(2), Allocation.whole(other), placement)


@pytest.mark.parametrize("use", USES)
def test_evaluations_require_the_allocation_of_the_placement(
    use: Callable[[CommGraph, Allocation, Placement], object],
) -> None:
    machine = Machine("torus:4x4")
    placement = Placement(Allocation(machine, [5, 2]), [2, 5])
    use(ring(2), Allocation(machine, [1, 2, 5]), placement)
    with pytest.raises(Error, match="slot 5 of rank 1 is not part of this one"):
        use(ring(2), Allocation(machine, [1, 2, 6]), placement)
