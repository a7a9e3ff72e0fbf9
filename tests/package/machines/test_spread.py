# SPDX-License-Identifier: BSD-3-Clause
"""Host choices for a mesh are valid and no better than the bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom._core import Allocation, Machine
from topoloom.allocations.spread.host_mesh import HostMesh, make_host_mesh
from topoloom.allocations.spread.leaf_group_choice import choose_leaf_groups
from topoloom.allocations.spread.switch_levels import (
    group_leaves_by_switch,
    reduce_switches,
)
from topoloom.graphs.axes import parse_traffic
from topoloom.tasks.machines.choose_for_mesh import choose_for_mesh, list_leaf_groups
from topoloom.tasks.search import UNLIMITED, run_unmonitored


def count_leaves(mesh: HostMesh, leaf_of: tuple[int, ...]) -> list[int]:
    """For each kind of group, count the leaf groups of the widest one."""
    most = []
    for one in mesh.along:
        groups: dict[tuple[int, ...], set[int]] = {}
        for cell, leaf in enumerate(leaf_of):
            place, coordinates = cell, []
            for extent in mesh.extents:
                coordinates.append(place % extent)
                place //= extent
            fixed = (c for axis, c in enumerate(coordinates) if axis not in one.axes)
            groups.setdefault(tuple(fixed), set()).add(leaf)
        most.append(max(map(len, groups.values())))
    return most


@st.composite
def draw_job(draw: st.DrawFn) -> tuple[HostMesh, list[int]]:
    sizes = draw(st.sampled_from([(2, 2), (2, 3), (3, 2), (4, 2), (2, 2, 2), (5,)]))
    names = ("cp", "dp", "pp")[: len(sizes)]
    mesh = dict(zip(names, sizes, strict=True))
    weights = {name: float(draw(st.integers(1, 4))) for name in names}
    if draw(st.booleans()) and len(names) > 2:
        weights["cp+dp"] = 2.0
    weighted = draw(st.booleans())
    hosts = int(np.prod(sizes))
    leaves = 3 if hosts <= 6 else 2  # few, because every choice is tried
    free = draw(st.lists(st.integers(0, 6), min_size=1, max_size=leaves))
    missing = hosts - sum(free)
    if missing > 0:
        free[-1] += missing
    return make_host_mesh(mesh, 1, weights, weighted), free


@given(draw_job())
def test_chosen_hosts_are_free_and_costs_respect_the_bound(
    job: tuple[HostMesh, list[int]],
) -> None:
    mesh, free = job
    found = choose_leaf_groups(mesh, free)
    costs, least = [], np.full(len(mesh.along), 99)
    for leaf_of in product(range(len(free)), repeat=mesh.hosts):
        if all(leaf_of.count(leaf) <= most for leaf, most in enumerate(free)):
            most = count_leaves(mesh, leaf_of)
            costs.append(mesh.cost(most))
            least = np.minimum(least, most)
    assert found.least_cost <= min(costs) * (1 + 1e-9)
    assert (np.array(found.least) <= least).all()
    for one in (found.chosen, found.first, found.packed):
        used = np.bincount(one.leaf_of, minlength=len(free))
        assert (used <= free).all()
        assert list(one.most) == count_leaves(mesh, tuple(one.leaf_of))
        assert found.chosen.cost <= one.cost
    assert sum(found.chosen.segments()) == mesh.hosts


def test_fragmented_clusters_mostly_have_a_proven_best_choice() -> None:
    random = np.random.default_rng(5)
    mesh = make_host_mesh({"dp": 12, "pp": 8}, 1, {"dp": 1.0, "pp": 1.0})
    choices = [
        choose_leaf_groups(mesh, random.integers(4, 17, 12).tolist()) for _ in range(4)
    ]
    assert sum(one.proven for one in choices) >= 3
    assert all(one.chosen.cost <= 1.2 * one.least_cost for one in choices)
    gains = [one.packed.cost / one.chosen.cost for one in choices]
    assert min(gains) > 1.3


def test_axes_inside_hosts_are_ignored() -> None:
    mesh = make_host_mesh(
        {"tp": 4, "cp": 4, "dp": 6, "pp": 2}, 8, {"tp": 9, "cp": 2, "cp+dp": 1}
    )
    assert dict(zip(mesh.names, mesh.extents, strict=True)) == {
        "cp": 2,
        "dp": 6,
        "pp": 2,
    }
    assert [(one.name, one.axes) for one in mesh.along] == [
        ("cp", (0,)),
        ("cp+dp", (0, 1)),
    ]


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ({"tp": 6, "dp": 4}, "axis tp = 6 does not fit into hosts of 8 ranks"),
        ({"tp": 2, "dp": 2}, "a mesh of 4 ranks does not fill hosts of 8"),
    ],
)
def test_meshes_that_do_not_fill_hosts_are_refused(
    mesh: dict[str, int], words: str
) -> None:
    with pytest.raises(Error, match=words):
        make_host_mesh(mesh, 8, dict.fromkeys(mesh, 1.0))


def test_segments_can_have_six_two_and_two_hosts() -> None:
    machine = Machine("tree:8:4")
    free = Allocation(machine, [*range(6), 8, 9, 16, 17])
    _, choice, _ = choose_for_mesh(free, {"dp": 10}, (), UNLIMITED, run_unmonitored)
    assert choice.spreads.chosen.segments() == [6, 2, 2]
    assert choice.spreads.least == (3,)
    assert choice.spreads.proven


def test_among_equal_spreads_leaf_groups_share_switches() -> None:
    machine = Machine("tree:2:2:2:2")  # leaf groups of 2 hosts, 2 groups per switch
    free = Allocation(machine, [2, 3, 4, 5, 6, 7])
    chosen, choice, _ = choose_for_mesh(free, {"dp": 4}, (), UNLIMITED, run_unmonitored)
    assert choice.spreads.chosen.most == (2,)
    assert sorted(chosen.nodes.tolist()) == [4, 5, 6, 7]


@pytest.mark.parametrize("seed", range(3))
def test_fewer_upper_switches_need_no_more_leaf_groups(seed: int) -> None:
    random = np.random.default_rng(seed)
    free = random.integers(1, 5, 16)
    levels = [np.arange(16) // 4 * 4, np.arange(16) // 8 * 8]
    mesh = make_host_mesh({"dp": 4, "pp": 4}, 1, {"dp": 3.0, "pp": 1.0})
    slots = np.repeat(np.arange(16), free)
    start = random.permutation(slots)[: mesh.hosts]
    found = reduce_switches(mesh, start, free.tolist(), levels)
    assert (np.bincount(found, minlength=16) <= free).all()
    for one, other in zip(mesh.spreads(found), mesh.spreads(start), strict=True):
        assert (one == other).all()
    means = [
        sum(one.mean() for level in levels for one in mesh.spreads(level[leaf_of]))
        for leaf_of in (start, found)
    ]
    assert means[1] < means[0]


def test_only_trees_have_upper_switch_levels() -> None:
    tree = np.array([[0, 4, 6, 6], [4, 0, 6, 6], [6, 6, 0, 4], [6, 6, 4, 0]])
    assert [level.tolist() for level in group_leaves_by_switch(tree)] == [[0, 0, 2, 2]]
    line = abs(np.arange(4)[:, None] - np.arange(4))
    assert group_leaves_by_switch(line) == []


def test_hosts_are_listed_in_rank_order() -> None:
    """Each leaf group gets 4 hosts: both stages of half of the replicas."""
    machine = Machine("rails:8:4:4")
    free = Allocation(machine, np.arange(64))
    mesh = {"tp": 8, "pp": 2, "dp": 4}
    traffic = parse_traffic("pp=3GB,dp=1GB", mesh)
    chosen, choice, _ = choose_for_mesh(free, mesh, traffic, UNLIMITED, run_unmonitored)
    assert choice.document()["spreads"]["chosen"]["largest"] == {"pp": 1, "dp": 2}
    units = np.array(chosen.nodes).reshape(2, 4, 8) // 32
    assert (units[0] == units[1]).all()
    assert sorted(np.array(chosen.nodes)) == list(range(64))


def test_leaves_are_switches_racks_or_units() -> None:
    assert list_leaf_groups(Machine("tree:3:2")).tolist() == [6, 6, 6, 7, 7, 7]
    unlike = Machine("graph:3+3:0-3,1-3,2-4,3-5,4-5")
    assert list_leaf_groups(unlike).tolist() == [3, 3, 4]
    racks = list_leaf_groups(Machine("rails:72:2:1,rails=4,host=4"))
    assert np.bincount(racks - racks.min()).tolist() == [18, 18]
    with pytest.raises(Error, match="not attached to leaf switches"):
        list_leaf_groups(Machine("torus:4x4"))
