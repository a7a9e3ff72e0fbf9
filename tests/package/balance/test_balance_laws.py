# SPDX-License-Identifier: BSD-3-Clause
"""Laws for all balancers: no task is lost, and final loads are within the guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import topoloom as tl

#: Balancers whose final loads are the floor or ceiling of the mean.
EXACT = (
    "alias(remainder=exact)",
    "qwalk",
    "diffusion",
    "diffusion(order=2,neighbors=ring)",
    "laplacian",
)
LOADS = st.lists(st.integers(0, 50), min_size=1, max_size=40)


def apply_plan(loads: list[int], plan: np.ndarray) -> np.ndarray:
    """Compute the loads after each move of a plan."""
    ends = np.array(loads)
    for source, target, tasks in plan.tolist():
        assert source != target
        assert tasks > 0
        ends[source] -= tasks
        ends[target] += tasks
    return ends


@given(loads=LOADS)
@pytest.mark.parametrize("method", EXACT)
def test_final_loads_are_the_floor_or_ceiling_of_the_mean(
    method: str, loads: list[int]
) -> None:
    found = tl.tasks.balance(loads, method=method)
    ends = apply_plan(loads, found.plan)
    assert ends.tolist() == found.ends.tolist()
    assert ends.sum() == sum(loads)
    assert ends.min() >= sum(loads) // len(loads)
    assert ends.max() <= -(-sum(loads) // len(loads))


@given(loads=LOADS, data=st.data())
@pytest.mark.parametrize("receives", [0, 1, 2])
@pytest.mark.parametrize("text", ["torus:4x4x4", "tree:5:8,distance=1:10"])
def test_near_partners_reaches_floor_or_ceiling_with_the_fewest_hops(
    text: str, receives: int, loads: list[int], data: st.DataObject
) -> None:
    machine = tl.load_machine(text)
    allocation = tl.Allocation.whole(machine)
    slots = data.draw(st.permutations(range(40)))[: len(loads)]
    where = {"allocation": allocation, "placement": tl.Placement(allocation, slots)}
    method = f"transport(receives={receives})"
    near = tl.tasks.balance(loads, method=method, **where)
    ends = apply_plan(loads, near.plan)
    assert ends.min() >= sum(loads) // len(loads)
    assert ends.max() <= -(-sum(loads) // len(loads))
    assert near.rounds <= 1
    if receives:
        assert near.measures["max_receives"] <= receives
    if receives == 0:
        other = tl.tasks.balance(loads, method="curve", **where)
        assert count_moved_hops(near.plan, slots, machine) <= count_moved_hops(
            other.plan, slots, machine
        )
        assert near.measures["tasks"] == near.least["tasks"]


def count_moved_hops(plan: np.ndarray, slots: list[int], machine: tl.Machine) -> int:
    """Sum the distances of moved tasks."""
    return sum(
        tasks * machine.distance(slots[source], slots[target])
        for source, target, tasks in plan.tolist()
    )


@given(loads=LOADS)
def test_the_alias_method_meets_its_guarantees(loads: list[int]) -> None:
    found = tl.tasks.balance(loads, method="alias")
    ends, ceiling = apply_plan(loads, found.plan), -(-sum(loads) // len(loads))
    assert ends.max() <= ceiling
    assert ends.min() >= (ceiling - 2 if sum(loads) % len(loads) else ceiling)
    assert found.measures["max_receives"] <= 1
    assert found.measures["messages"] <= len(loads) - 1
    assert found.rounds <= 1


@given(loads=LOADS)
@pytest.mark.parametrize("method", ["alias", "alias(remainder=exact)", "qwalk"])
def test_no_measure_is_below_its_proven_bound(method: str, loads: list[int]) -> None:
    found = tl.tasks.balance(loads, method=method)
    for name, least in found.least.items():
        assert found.measures[name] >= least


def test_plans_consist_of_integer_arrays() -> None:
    found = tl.tasks.balance([4, 0, 2], method="alias")
    assert found.plan.dtype == found.ends.dtype == np.int64
    assert found.plan.shape == (1, 3)
    assert tl.tasks.balance([1, 1]).plan.shape == (0, 3)
