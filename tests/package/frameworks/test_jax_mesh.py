# SPDX-License-Identifier: BSD-3-Clause
"""The assignment of mesh axes to the dimensions of a torus is that of JAX."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Machine, load_machine
from topoloom.frameworks.jax_mesh import assign_axes, find_jax_order
from topoloom.graphs.axes import parse_traffic
from topoloom.tasks.axes import map_axes

#: Assignments that create_device_mesh of JAX 0.10.2 returned: torus, mesh, parts, and
#: whether it required allow_split_physical_axes.
RETURNED = [
    ((4, 4, 16), (16, 16), [[1, 4], [1, 4], [16, 1]], False),
    ((4, 4), (2, 2, 4), [[1, 1, 4], [2, 2, 1]], True),
    ((8, 8), (2, 2, 16), [[1, 1, 8], [2, 2, 2]], True),
    ((4, 4, 4), (4, 8, 2), [[1, 2, 2], [1, 4, 1], [4, 1, 1]], True),
    ((4, 4, 4), (2, 8, 4), [[1, 1, 4], [1, 4, 1], [2, 2, 1]], True),
    ((8, 8, 16), (4, 16, 16), [[1, 8, 1], [4, 2, 1], [1, 1, 16]], True),
    ((4, 8, 12), (12, 8, 4), [[1, 1, 4], [1, 8, 1], [12, 1, 1]], False),
    ((4, 8, 12), (6, 8, 8), [[1, 4, 1], [1, 1, 8], [6, 2, 1]], True),
    ((16, 16, 1), (8, 4, 8), [[1, 2, 8], [8, 2, 1], [1, 1, 1]], True),
]


@pytest.mark.parametrize(("torus", "mesh", "parts", "is_split"), RETURNED)
def test_axes_are_assigned_as_jax_returned(
    torus: tuple[int, ...],
    mesh: tuple[int, ...],
    parts: list[list[int]],
    is_split: bool,
) -> None:
    assert assign_axes(torus, mesh) == (parts, is_split)


@given(
    st.lists(st.sampled_from((1, 2, 4, 6, 8)), min_size=1, max_size=3),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_parts_multiply_to_dimensions_and_axes(
    torus: list[int], places: list[int]
) -> None:
    mesh = [1] * 4
    size, prime = prod(torus), 2
    for place in [*places, *places]:
        while size % prime and size > 1:
            prime += 1
        if size > 1:
            mesh[place] *= prime
            size //= prime
    assigned = assign_axes(torus, mesh)
    assert [prod(part) for part in assigned.parts] == torus
    assert [prod(part) for part in zip(*assigned.parts, strict=True)] == mesh
    whole = all(sum(one > 1 for one in part) <= 1 for part in assigned.parts)
    assert assigned.is_split or whole


def test_the_default_of_a_mesh_is_the_order_of_jax() -> None:
    """Devices are those of the reshape and transposition by which JAX makes a mesh."""
    mesh = {"tp": 4, "ep": 8, "dp": 2}
    machine = load_machine("tpu-v4-cube")
    traffic = parse_traffic("tp=1GB,ep=4GB,dp=1GB", mesh)
    mapped = map_axes(Allocation.whole(machine), mesh, traffic)
    # (dp, ep, tp) is (2, 8, 4): tp is x, ep is y and half of z.
    devices = np.arange(64).reshape(4, 4, 2, 2)  # x, y, z along dp and ep
    in_jax = devices.transpose(2, 1, 3, 0).reshape(2, 8, 4)
    ranks = mapped.orders.device_of_rank(mapped.orders.given)
    assert np.array_equal(ranks.reshape(2, 8, 4), in_jax)
    assert mapped.is_split_by_jax
    assert mapped.document()["allow_split_physical_axes"]
    best = mapped.orders.best.total
    assert best <= min(mapped.orders.given.total, mapped.orders.nested.total)
    recorded = map_axes(Allocation.whole(machine), mesh, traffic, recorded=True)
    given_ranks = recorded.orders.device_of_rank(recorded.orders.given)
    assert given_ranks.tolist() == list(range(64))


def test_jax_requires_a_box_of_chips_in_order() -> None:
    machine = Machine("torus:4x4")
    box = [5, 6, 9, 10]
    for slots, is_box in ((box, True), (box[::-1], False), ([0, 1, 2, 5], False)):
        found = find_jax_order(Allocation(machine, slots), {"tp": 2, "dp": 2})
        assert (found is not None) == is_box
    tree = Allocation.whole(Machine("tree:2:2"))
    assert find_jax_order(tree, {"tp": 2, "dp": 2}) is None
