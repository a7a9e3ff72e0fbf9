# SPDX-License-Identifier: BSD-3-Clause
"""Scheduler requests have the documented keys, and segments that reduce the time."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, strategies as st

from topoloom import Error
from topoloom._core import Allocation, Machine
from topoloom.graphs.axes import order_axes, parse_traffic
from topoloom.launch.scheduler_requests import (
    SCHEDULERS,
    TopologyRequest,
    can_request,
    format_request_lines,
)
from topoloom.nodes.hosts import list_nodes_of_hosts
from topoloom.tasks.machines.nested_segments import (
    HostGroups,
    count_fitting_hosts,
    list_nested_placements,
)
from topoloom.tasks.machines.segment_places import (
    list_segment_hosts,
    list_segment_places,
)
from topoloom.tasks.machines.segment_request import find_segment_request

SLICE = "kueue.x-k8s.io/podset-slice-"
SHAPE = TopologyRequest(hosts=12, gpus=4, segment=3, leaf=5, domain=True)
WHOLE, FREE = SHAPE._replace(segment=12), SHAPE._replace(segment=1)


def make_manifest(scheduler: str, shape: TopologyRequest) -> Any:
    return yaml.safe_load("\n".join(format_request_lines(scheduler, shape)))


def test_slurm_requests_have_segments_for_blocks_and_switches_for_trees() -> None:
    lines = format_request_lines("slurm", SHAPE)
    assert [line for line in lines if line.startswith("#SBATCH")] == [
        "#SBATCH --nodes=12",
        "#SBATCH --gpus-per-node=4",
        "#SBATCH --segment=3",
    ]
    assert lines[-1] == "##SBATCH --switches=4"  # a 3-host segment in each leaf of 5
    assert format_request_lines("slurm", FREE) == lines[:2]


@pytest.mark.parametrize(
    ("shape", "annotations"),
    [
        (
            SHAPE,
            {
                f"{SLICE}required-topology": "nvidia.com/gpu.clique",
                f"{SLICE}size": "3",
            },
        ),
        (
            WHOLE._replace(domain=False),
            {
                "kueue.x-k8s.io/podset-required-topology": (
                    "network.topology.nvidia.com/leaf"
                )
            },
        ),
        (FREE, {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}),
    ],
)
def test_kueue_requests_have_slice_annotations(
    shape: TopologyRequest, annotations: dict[str, str]
) -> None:
    template = make_manifest("kueue", shape)
    assert template["metadata"]["annotations"] == annotations
    (container,) = template["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 4}


@pytest.mark.parametrize(
    ("shape", "annotations"),
    [
        (
            SHAPE,
            {
                "kai.scheduler/segment-size": "3",
                "kai.scheduler/segment-topology-required-placement": (
                    "nvidia.com/gpu.clique"
                ),
            },
        ),
        (WHOLE, {"kai.scheduler/topology-required-placement": "nvidia.com/gpu.clique"}),
        (FREE, {"kai.scheduler/topology-preferred-placement": "nvidia.com/gpu.clique"}),
    ],
)
def test_kai_requests_have_segment_annotations(
    shape: TopologyRequest, annotations: dict[str, str]
) -> None:
    own = {"kai.scheduler/topology": "cluster-topology"}
    found = make_manifest("kai", shape)
    template = found.get("template", {"metadata": {"annotations": {}}})
    inside = template["metadata"]["annotations"]
    assert found["metadata"]["annotations"] | inside == own | annotations
    assert all(key.startswith("kai.scheduler/segment-") for key in inside)


UNDER = SHAPE._replace(hosts=24, segment=3, above=(6, 1))
INSIDE = SHAPE._replace(above=(12,))


def test_kueue_requests_have_nested_slices() -> None:
    own = make_manifest("kueue", UNDER)["metadata"]["annotations"]
    assert json.loads(own[f"{SLICE}required-topology-constraints"]) == [
        {"topology": "network.topology.nvidia.com/leaf", "size": 6},
        {"topology": "nvidia.com/gpu.clique", "size": 3},
    ]
    inside = make_manifest("kueue", INSIDE)["metadata"]["annotations"]
    assert inside["kueue.x-k8s.io/podset-required-topology"].endswith("com/leaf")
    assert inside[f"{SLICE}size"] == "3"


@pytest.mark.parametrize("scheduler", ["slurm", "kai", "volcano"])
def test_impossible_requests_are_refused(scheduler: str) -> None:
    with pytest.raises(Error, match=f"{scheduler} does not support segments of 3"):
        format_request_lines(scheduler, UNDER)


def test_one_switch_for_all_hosts_can_be_requested() -> None:
    assert "#SBATCH --consolidate-segments" in format_request_lines("slurm", INSIDE)
    kai = make_manifest("kai", INSIDE)["metadata"]["annotations"]
    assert kai["kai.scheduler/topology-required-placement"].endswith("com/leaf")
    job = make_manifest("volcano", INSIDE)["spec"]
    assert job["networkTopology"] == {"mode": "hard", "highestTierAllowed": 2}
    assert job["tasks"][0]["partitionPolicy"]["networkTopology"] == {
        "mode": "hard",
        "highestTierAllowed": 1,
    }


def test_segments_can_be_requested_at_a_higher_level() -> None:
    shape = SHAPE._replace(segment=1, above=(6,), domain=False)
    kueue = make_manifest("kueue", shape)["metadata"]["annotations"]
    assert kueue[f"{SLICE}required-topology"] == "network.topology.nvidia.com/spine"
    (task,) = make_manifest("volcano", shape)["spec"]["tasks"]
    assert task["partitionPolicy"]["networkTopology"]["highestTierAllowed"] == 2
    assert not can_request("slurm", shape)


def test_volcano_requests_have_partitions() -> None:
    spec = make_manifest("volcano", SHAPE)["spec"]
    (task,) = spec["tasks"]
    hard = {"mode": "hard", "highestTierAllowed": 1}
    assert task["partitionPolicy"] == {
        "totalPartitions": 4,
        "partitionSize": 3,
        "networkTopology": hard,
    }
    assert (spec["minAvailable"], task["replicas"]) == (12, 12)
    whole = make_manifest("volcano", WHOLE)["spec"]
    assert whole["networkTopology"] == hard
    assert "partitionPolicy" not in whole["tasks"][0]
    assert make_manifest("volcano", FREE)["spec"]["networkTopology"] == {"mode": "soft"}


def test_unknown_schedulers_are_refused_with_a_list_of_known_schedulers() -> None:
    with pytest.raises(Error, match="no scheduler 'kay'") as raised:
        format_request_lines("kay", SHAPE)
    assert all(name in str(raised.value) for name in SCHEDULERS)


def test_the_smallest_segment_that_contains_the_busy_axis_is_requested() -> None:
    """Hosts have 4 GPUs: tp fits a host, tp x ep fills four; dp has few bytes."""
    machine = Machine(
        "rails:72:8:1,rails=4,host=4,bandwidth=50GB/s,bandwidth.nvlink=900GB/s"
    )
    mesh = {"tp": 2, "ep": 8, "dp": 4}
    traffic = parse_traffic("tp=9GB,ep=8GB,dp=1MB", mesh)
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic)
    assert (wanted.shape.hosts, wanted.shape.gpus) == (16, 4)
    assert wanted.shape.segment == 4
    assert wanted.shape.domain
    assert wanted.seconds[1] > 2 * wanted.seconds[4]


def test_nothing_is_requested_if_all_leaves_are_equal() -> None:
    machine = Machine("rails:8:32:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s")
    mesh = {"tp": 8, "dp": 8}
    traffic = parse_traffic("tp=9GB,dp=1GB", mesh)
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic)
    assert wanted.shape.segment == 1
    assert not wanted.shape.domain
    assert wanted.alike
    assert "if the machine's bandwidths are assumed" in wanted.text("slurm")


def test_the_predicted_time_assumes_the_worst_segment_placement() -> None:
    """Groups along dp could fit into leaves, but the scheduler may split them."""
    machine = Machine("tree:16:4,bandwidth=50GB/s:50GB/s+node:2,memory=2TB/s")
    mesh = {"tp": 2, "ep": 4, "dp": 4}
    traffic = parse_traffic("tp=1GB,ep=1MB,dp=20GB", mesh)
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic)
    assert wanted.shape.segment == 16
    assert wanted.seconds[1] > 6  # each of 8 hosts sends 160 GB to the other leaf
    for seed in range(20):
        hosts = np.random.default_rng(seed).permutation(64)[:16]
        chosen = Allocation(machine, list_nodes_of_hosts(machine, hosts))
        start = order_axes(chosen, mesh, traffic).given.total
        assert start <= 1.01 * wanted.seconds[1]


@pytest.mark.parametrize("mesh", [{"tp": 2, "dp": 12}, {"tp": 4, "ep": 3, "dp": 2}])
@pytest.mark.parametrize("text", ["tree:4:4", "tree:6:2", "tree:3:2:3"])
def test_smaller_segments_are_never_faster(text: str, mesh: dict[str, int]) -> None:
    machine = Machine(f"{text}+node:2")
    traffic = parse_traffic(",".join(f"{axis}=1GB" for axis in mesh), mesh)
    seconds = find_segment_request(Allocation.whole(machine), mesh, traffic).seconds
    assert list(seconds) == sorted(seconds)
    for one, its in seconds.items():
        for other, others in seconds.items():
            assert one % other or others >= its


#: 4 hosts per domain, 4 domains per unit, and low bandwidth between units.
THIN = (
    "rails:16:4:4,rails=4,host=4,bandwidth=50GB/s,bandwidth.nvlink=900GB/s,"
    "bandwidth.spine=10GB/s"
)


def test_nested_segments_are_requested_if_uplinks_are_slow() -> None:
    mesh = {"tp": 4, "ep": 4, "dp": 4, "pp": 4}
    traffic = parse_traffic("tp=9GB,ep=8GB,dp=20GB,pp=1GB", mesh)
    whole = Allocation.whole(Machine(THIN))
    wanted = {
        name: find_segment_request(whole, mesh, traffic, scheduler=name)
        for name in SCHEDULERS
    }
    assert (wanted["kueue"].shape.segment, wanted["kueue"].shape.above) == (4, (16,))
    assert wanted["kueue"].taken < wanted["kueue"].seconds[4] / 3
    for name in ("kai", "volcano"):
        assert (wanted[name].shape.segment, wanted[name].shape.above) == (1, (16,))
    assert (wanted["slurm"].shape.segment, wanted["slurm"].shape.above) == (4, (1,))
    text = wanted["slurm"].text("slurm")
    assert "slurm cannot be asked for segments of 4 hosts, 16 hosts under one" in text


def test_a_job_is_requested_under_one_switch_if_it_fits() -> None:
    mesh = {"tp": 8, "dp": 4, "pp": 2}
    traffic = parse_traffic("tp=1GB,dp=20GB,pp=20GB", mesh)
    machine = Machine("tree:4:2:4,bandwidth=50GB/s:100GB/s:10GB/s+node:8")
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic)
    assert wanted.shape.above == (8,)
    assert "#SBATCH --consolidate-segments" in wanted.text("slurm")


def test_higher_levels_are_not_requested_without_a_gain() -> None:
    mesh = {"tp": 2, "ep": 8, "dp": 4}
    traffic = parse_traffic("tp=9GB,ep=8GB,dp=1MB", mesh)
    machine = Machine(THIN.replace("10GB/s", "50GB/s"))
    wanted = find_segment_request(
        Allocation.whole(machine), mesh, traffic, scheduler="kueue"
    )
    assert wanted.shape.above == (1,)
    assert "groups above those of segments save nothing" in wanted.text("kueue")


def test_no_placement_in_the_requested_segments_takes_longer() -> None:
    """Among random host choices that Kueue allows, none exceeds the predicted time."""
    mesh = {"tp": 4, "ep": 4, "dp": 4, "pp": 2}
    traffic = parse_traffic("tp=9GB,ep=8GB,dp=20GB,pp=1GB", mesh)
    machine = Machine(THIN)
    wanted = find_segment_request(
        Allocation.whole(machine), mesh, traffic, scheduler="kueue"
    )
    assert (wanted.shape.segment, wanted.shape.above) == (4, (16,))
    for seed in range(20):
        random = np.random.default_rng(seed)
        hosts: list[int] = []
        for unit in random.permutation(4)[:2]:
            for domain in random.permutation(4):
                first = 16 * int(unit) + 4 * int(domain)
                hosts += (first + random.permutation(4)).tolist()
        chosen = Allocation(machine, list_nodes_of_hosts(machine, np.array(hosts)))
        assert order_axes(chosen, mesh, traffic).given.total <= 1.01 * wanted.taken


@st.composite
def draw_nested_sizes(draw: st.DrawFn) -> tuple[HostGroups, tuple[int, ...], int]:
    """Draw leaf groups, one level above them, and segment sizes that fit."""
    sizes_of_leaves = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    ends = np.cumsum([0, *sizes_of_leaves]).tolist()
    leaves = [range(a, b) for a, b in pairwise(ends)]
    above = np.array(draw(st.lists(st.integers(0, 2), min_size=len(sizes_of_leaves))))
    strides = draw(st.lists(st.integers(0, 9), max_size=3))
    levels = HostGroups(leaves, [above[: len(sizes_of_leaves)]], strides, 1)
    segment = draw(st.integers(1, 3))
    sizes = (segment, draw(st.sampled_from([1, segment, 2 * segment, 4 * segment])))
    most_hosts = count_fitting_hosts(levels, sizes)
    assume(most_hosts > 0)
    hosts = max(sizes) * draw(st.integers(1, most_hosts // max(sizes)))
    return levels, sizes, hosts


@given(draw_nested_sizes())
def test_every_allowed_placement_has_all_segment_sizes(
    drawn: tuple[HostGroups, tuple[int, ...], int],
) -> None:
    levels, sizes, hosts = drawn
    leaf_of = np.repeat(np.arange(len(levels.leaves)), [*map(len, levels.leaves)])
    ways = list(list_nested_placements(levels, sizes, hosts))
    assert ways
    for places in ways:
        chosen = list_segment_hosts(levels.leaves, places, sizes[0])
        assert len(set(chosen.tolist())) == len(chosen) == hosts
        for size, group in zip(sizes, [leaf_of, levels.above[0][leaf_of]], strict=True):
            for first in range(0, hosts, size):
                assert len(set(group[chosen[first : first + size]].tolist())) == 1


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.data())
def test_segment_placements_are_distinct_and_fit_the_leaves(
    leaf_capacities: list[int], data: st.DataObject
) -> None:
    assume(any(leaf_capacities))
    segments = data.draw(st.integers(1, sum(leaf_capacities)))
    strides = data.draw(st.lists(st.integers(0, 9), max_size=3))
    ways = list(list_segment_places(leaf_capacities, segments, strides, 1))
    assert len(set(ways)) == len(ways) > 0
    for way in ways:
        assert len(way) == segments
        assert all(way.count(leaf) <= most for leaf, most in enumerate(leaf_capacities))


def test_hosts_that_are_down_are_omitted() -> None:
    machine = Machine("tree:4:3+down:0,5+node:2")
    mesh = {"tp": 2, "dp": 10}
    traffic = parse_traffic("tp=1GB,dp=1GB", mesh)
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic)
    assert (wanted.shape.hosts, list(wanted.seconds)) == (10, [1])
    assert "on the busiest link per step" in wanted.text("slurm")


def test_requests_use_the_label_of_the_machine() -> None:
    machine, mesh = Machine("tree:4:2+node:2"), {"dp": 16}
    traffic = parse_traffic("dp=1GB", mesh)
    label = "backend.coreweave.cloud/leafgroup"
    wanted = find_segment_request(Allocation.whole(machine), mesh, traffic, (label,))
    shape = wanted.shape._replace(segment=2)
    assert f"slice-required-topology: {label}" in "\n".join(
        format_request_lines("kueue", shape)
    )


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ({"dp": 6}, "6 ranks do not fill hosts of 4 GPUs"),
        ({"dp": 64}, "the job needs 16 hosts, but the machine has only 8"),
    ],
)
def test_jobs_that_do_not_fit_are_refused(mesh: dict[str, int], message: str) -> None:
    with pytest.raises(Error, match=message):
        find_segment_request(
            Allocation.whole(Machine("tree:4:2+node:4")),
            mesh,
            parse_traffic("dp=1GB", mesh),
        )
