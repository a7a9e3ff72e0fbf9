# SPDX-License-Identifier: BSD-3-Clause
"""Megatron jobs: same groups and refusals as Megatron, and the best axis order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings, strategies as st

from ai.megatron_core import (
    REFUSALS,
    RELEASES,
    load_initializer,
    megatron_groups,
)
from topoloom import Allocation, Error, Placement, load_machine
from topoloom.frameworks import MegatronJob, make_megatron_job
from topoloom.frameworks.framework_jobs import parse_framework
from topoloom.frameworks.megatron import AXES
from topoloom.graphs import (
    Layout,
    layout_graph,
    order_layouts,
    parse_traffic,
)
from topoloom.graphs.phases import edge_rows
from topoloom.placements import objective_value


def draw_sizes(*sizes: int) -> st.SearchStrategy[dict[str, int]]:
    axes = ("tp", "cp", "dp", "pp", "ep", "etp")
    return st.fixed_dictionaries({axis: st.sampled_from(sizes) for axis in axes})


JOBS = draw_sizes(1, 1, 2, 2, 3, 4)
NAMES = st.permutations(AXES).flatmap(
    lambda order: st.sampled_from(["-".join(order)] * 3 + ["-".join(order[:4])])
)


def make_job(release: str, sizes: dict[str, int]) -> MegatronJob:
    return MegatronJob(**sizes, release=parse_framework(f"megatron-{release}").release)


def set_missing_etp(
    sizes: dict[str, int], release: str, same_tp: bool
) -> dict[str, int]:
    """Set etp = tp for release 0.8, which has no etp, so that most jobs are valid."""
    if same_tp or release == "0.8.0":
        return {**sizes, "etp": sizes["tp"]}
    return sizes


@pytest.mark.parametrize("release", RELEASES)
@given(sizes=JOBS, name=NAMES, same_tp=st.booleans())
def test_groups_and_refusals_agree_with_megatron(
    release: str, sizes: dict[str, int], name: str, same_tp: bool
) -> None:
    sizes = set_missing_etp(sizes, release, same_tp)
    try:
        theirs = megatron_groups(release, sizes, name)
    except REFUSALS:
        with pytest.raises(Error):
            make_job(release, sizes).layout(name)
        return
    layout = make_job(release, sizes).layout(name)
    for axes, groups in theirs.items():
        assert layout.groups(*axes).tolist() == groups, axes


@pytest.mark.parametrize("release", RELEASES)
@given(sizes=draw_sizes(1, 2, 2), same_tp=st.booleans())
@settings(max_examples=6)
def test_the_listed_names_cover_all_distinct_groups(
    release: str, sizes: dict[str, int], same_tp: bool
) -> None:
    """Each order name that Megatron accepts has the groups of a listed name."""
    sizes = set_missing_etp(sizes, release, same_tp)

    def describe_groups(name: str) -> str | None:
        try:
            return repr(megatron_groups(release, sizes, name))
        except REFUSALS:
            return None

    every = {describe_groups("-".join(order)) for order in permutations(AXES)} - {None}
    try:
        names = [layout.name for layout in make_job(release, sizes).layouts()]
    except Error:
        assert not every
        return
    assert names[0] == "tp-cp-ep-dp-pp"
    offered = [describe_groups(name) for name in names]
    assert None not in offered
    assert set(offered) == every


@pytest.mark.parametrize("release", RELEASES)
def test_the_default_name_equals_the_megatron_default(release: str) -> None:
    assert load_initializer(release)(1)["order"] == "tp-cp-ep-dp-pp"


def test_experts_follow_tensor_parallelism_by_default() -> None:
    made = load_initializer("0.16.1")(16, tensor_model_parallel_size=4)
    assert made["expert_tensor_parallel_size"] == 4
    assert MegatronJob(tp=4, dp=4).axes["etp"] == 4


@given(sizes=JOBS, name=NAMES)
def test_messages_stay_inside_groups_of_their_axis(
    sizes: dict[str, int], name: str
) -> None:
    try:
        layout = make_job("0.16.1", sizes).layout(name)
    except Error:
        return
    for axes in (("tp",), ("cp", "dp"), ("ep",), ("etp", "ep"), ("edp",), ("pp",)):
        text = f"{'+'.join(axes)}=alltoall:1MB"
        graph, _ = layout_graph(
            layout, parse_traffic(text, make_job("0.16.1", sizes).axes)
        )
        pairs = {
            (u, v)
            for group in layout.groups(*axes).tolist()
            for u in group
            for v in group
            if u != v
        }
        assert set(map(tuple, edge_rows(graph)[:, :2].tolist())) == pairs


@pytest.mark.parametrize("experts", [{"ep": 8}, {"ep": 8, "etp": 1}, {"ep": 3}, {}])
@pytest.mark.parametrize("release", ["megatron", "megatron-0.8"])
@pytest.mark.parametrize(
    "machine",
    [
        "rails:8:16:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
        "rails:9:12:3,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
        "torus:4x4x8,bandwidth=50GB/s",
    ],
)
def test_the_best_name_is_optimal_and_free_slots_only_help(
    machine: str, release: str, experts: dict[str, int]
) -> None:
    """Includes views of the ranks with different factors, such as 3 x 8 and 4 x 6."""
    mesh = {"tp": 2, "cp": 2, "dp": 24 if experts.get("ep") != 3 else 12, "pp": 1}
    try:
        job = make_megatron_job(mesh, experts, parse_framework(release).release)
    except Error:
        assert (release, experts) == ("megatron-0.8", {"ep": 8, "etp": 1})
        return
    traffic = parse_traffic("tp=5GB,cp=2GB,ep=8GB,dp=1GB,etp=3GB,edp=1GB", job.axes)
    allocation = Allocation.whole(load_machine(machine))
    layouts = job.layouts()
    orders = order_layouts(allocation, layouts, traffic)

    def compute_seconds(layout: Layout, placement: Placement) -> float:
        graph, phases = layout_graph(layout, traffic)
        return objective_value(
            graph, allocation, placement, objective="time", phases=phases
        )

    allocated = orders.placement(orders.given)
    assert orders.device_of_rank(orders.given).tolist() == list(range(job.ranks))
    every = {layout.name: compute_seconds(layout, allocated) for layout in layouts}
    assert orders.given.total == pytest.approx(every["tp-cp-ep-dp-pp"])
    assert orders.nested.total == pytest.approx(min(every.values()))
    assert every[orders.text(orders.nested)] == pytest.approx(orders.nested.total)
    assert orders.best.total <= orders.nested.total
    placed = compute_seconds(orders.layout(orders.best), orders.placement(orders.best))
    assert orders.best.total == pytest.approx(placed)


def test_the_position_of_ep_in_a_name_moves_only_experts() -> None:
    job = make_megatron_job({"tp": 2, "cp": 4, "dp": 32, "pp": 4}, {"ep": 8})
    by_default = job.layout("tp-cp-ep-dp-pp")
    for name in ("ep-tp-cp-dp-pp", "tp-ep-cp-dp-pp", "tp-cp-dp-ep-pp"):
        for axes in (("tp",), ("cp",), ("dp",), ("pp",)):
            ours = job.layout(name).groups(*axes)
            assert (ours == by_default.groups(*axes)).all()
    assert by_default.groups("ep")[0].tolist() == list(range(0, 16, 2))
    assert job.layout("ep-tp-cp-dp-pp").groups("ep")[0].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tp-cp-ep-dp-xp", "no axis of Megatron 'xp'; there are: tp, cp, ep, dp, pp"),
        ("tp-tp-cp-dp-pp", "order 'tp-tp-cp-dp-pp' names tp twice"),
        ("tp-cp-dp-pp", "does not name ep, and ep has 4 ranks"),
        ("pp-tp-cp-ep-dp", "does not end with pp, which Megatron-Core 0.16 requires"),
    ],
)
def test_a_refused_name_has_a_reason(name: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        MegatronJob(tp=2, cp=2, dp=4, pp=2, ep=4).layout(name)


@pytest.mark.parametrize(
    ("mesh", "experts", "release", "message"),
    [
        ({"tp": 2, "ep": 4}, {}, "megatron", "pass them as experts"),
        ({"tp": 2, "x": 4}, {}, "megatron", "no axis of the mesh in Megatron 'x'"),
        ({"tp": 2}, {"tp": 4}, "megatron", "no axis of the experts in Megatron 'tp'"),
        ({"dp": 4}, {"ep": 3}, "megatron", "4 ranks are not a multiple of etp x ep"),
        ({"dp": 4}, {"ep": 3}, "megatron-0.8", "dp = 4 is not a multiple of ep = 3"),
        ({"tp": 4}, {"etp": 2}, "megatron-0.8", "etp requires 0.10"),
        ({"tp": 4}, {"ep": 0}, "megatron", "ep = 0; it must be at least 1"),
        ({"tp": 0}, {}, "megatron", "tp = 0; it must be at least 1"),
        (
            {"tp": 4},
            {},
            "megatorn",
            r"no framework 'megatorn' \(did you mean",
        ),
    ],
)
def test_a_refused_job_has_a_reason(
    mesh: dict[str, int], experts: dict[str, int], release: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        make_megatron_job(mesh, experts, parse_framework(release).release)


def test_traffic_along_axes_of_two_views_is_refused() -> None:
    job = make_megatron_job({"tp": 2, "dp": 8}, {"ep": 4})
    layout = job.layout("tp-cp-ep-dp-pp")
    with pytest.raises(Error, match=r"no groups along dp\+ep: .* or etp, ep, edp, pp"):
        layout_graph(layout, parse_traffic("dp+ep=1GB", job.axes))
