# SPDX-License-Identifier: BSD-3-Clause
"""DeepSpeed jobs: compares groups with the definition of DeepSpeed's topologies."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.frameworks.deepspeed import DeepSpeedJob
from topoloom.graphs import Layout


def group_along_axis(
    order: list[str], sizes: dict[str, int], axis: str
) -> list[list[int]]:
    """Group the ranks that differ only in one axis; the first axis is the slowest."""
    groups: dict[tuple[int, ...], list[int]] = {}
    places = product(*(range(sizes[name]) for name in order))
    for rank, place in enumerate(places):
        rest = tuple(at for at, name in zip(place, order, strict=True) if name != axis)
        groups.setdefault(rest, []).append(rank)
    return sorted(groups.values())


def list_sorted_groups(layout: Layout, axis: str) -> list[list[int]]:
    return sorted(layout.groups(axis).tolist())


SIZES = st.fixed_dictionaries(
    {axis: st.sampled_from([1, 2, 3, 4]) for axis in ("tp", "dp", "pp")}
)


@given(SIZES)
def test_groups_equal_the_deepspeed_topology(sizes: dict[str, int]) -> None:
    layouts = DeepSpeedJob(**sizes).layouts()
    assert layouts[0].name == "pp-dp-tp"
    for layout in layouts:
        for axis in sizes:
            ours = list_sorted_groups(layout, axis)
            assert ours == group_along_axis(layout.name.split("-"), sizes, axis)
    if sizes["pp"] > 1:
        every = {
            repr([group_along_axis(list(order), sizes, axis) for axis in sizes])
            for order in permutations(sizes)
        }
        assert len(layouts) == len(every)
    else:
        assert len(layouts) == 1


def test_experts_are_neighbors_in_a_stage_unless_data_comes_first() -> None:
    first, other = DeepSpeedJob(dp=8, pp=2, ep=4).layouts()
    # Stages start at ranks 0 and 8; an expert group is 4 consecutive ranks.
    assert list_sorted_groups(first, "ep") == [
        [r + i for i in range(4)] for r in (0, 4, 8, 12)
    ]
    assert list_sorted_groups(first, "edp") == [
        [s + i, s + i + 4] for s in (0, 8) for i in range(4)
    ]
    assert other.name == "pp-dp-tp data first"
    assert list_sorted_groups(other, "edp") == [[r, r + 1] for r in range(0, 16, 2)]
    assert list_sorted_groups(other, "ep")[0] == [0, 2, 4, 6]


def test_expert_groups_have_one_position_on_the_model_axis() -> None:
    (only,) = DeepSpeedJob(tp=2, dp=8, ep=4).layouts()
    assert list_sorted_groups(only, "ep")[:2] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert list_sorted_groups(only, "edp")[0] == [0, 8]


def test_settings_are_printed_as_deepspeed_configuration() -> None:
    job = DeepSpeedJob(tp=2, dp=4, pp=2)
    assert job.settings("dp-pp-tp") == [
        "PipelineModule(topology=ProcessTopology("
        "axes=['data', 'pipe', 'model'], dims=[4, 2, 2]))"
    ]
    assert DeepSpeedJob(dp=4, ep=2).settings("pp-dp-tp data first") == [
        "MoE(ep_size=2)",
        '"use_data_before_expert_parallelism": true',
    ]
    assert "autotp_size" in DeepSpeedJob(tp=2, dp=4).settings("pp-dp-tp")[0]


def test_refused_deepspeed_jobs_have_a_reason() -> None:
    with pytest.raises(Error, match="dp = 4 is not a multiple of ep = 3"):
        DeepSpeedJob(dp=4, ep=3)
    with pytest.raises(Error, match="tp = 0; it must be at least 1"):
        DeepSpeedJob(tp=0)
