# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the report of a probed machine: groups, axes, lines and matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom.probe.inference.groups import ALL, GROUP, HOST, PART
from topoloom.probe.job.samples import ProbeSamples, RankPlace
from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.probed.chart import make_binary_axis, make_decimal_axis
from topoloom.report.probed.costs import (
    compare_levels,
    compute_host_ratios,
    make_level_matrix,
    pack_costs,
    summarize_levels,
)
from topoloom.report.probed.groups import GroupBoxMaker, list_ranks, read_groups
from topoloom.report.probed.page import render_probed
from topoloom.report.probed.probed_file import (
    FittedLine,
    LevelModel,
    ProbedMachine,
    Suspect,
    TimeCurve,
)
from topoloom.report.probed.suspects import merge_suspects
from topoloom.report.probed.text import write_probed_headline


def make_machine(
    costs: Any, host_of: list[int], groups: Any = (), **more: Any
) -> ProbedMachine:
    """Create a measured machine with hosts h0, h1, ..."""
    hosts = [f"h{host}" for host in range(max(host_of) + 1)]
    given: dict[str, Any] = {
        "nodes": [*range(len(hosts))],
        "hops": None,
        "evidence": {},
        "levels": [],
        "channels": [],
        "shared_links": [],
        "pairs_met": None,
        "suspects": [],
        "noise": None,
        "doubts": [],
        "claims": [],
        **more,
    }
    return ProbedMachine(
        path=Path("m.toml"),
        name="made up",
        samples_path=Path("m.npz"),
        samples=ProbeSamples([RankPlace(hosts[h], "", "MPI") for h in host_of]),
        costs=np.asarray(costs, dtype=float),
        hosts=hosts,
        host_of=host_of,
        root=read_groups(groups, host_of),
        command=("topoloom", "probe"),
        **given,
    )


def make_block_costs(ranks: int, block: int, near: float, far: float) -> Any:
    group = np.arange(ranks) // block
    costs = np.where(group[:, None] == group, near, far)
    np.fill_diagonal(costs, 0)
    return costs


def test_a_headline_names_shared_links_and_suspects() -> None:
    slow = Suspect("host", ["h3"], "latency", 1.5, 4)
    links = ["h0, h1 share a link of 9 GB/s to all other hosts", "h2-h3 and h0-h1 ..."]
    costs = make_block_costs(4, 2, 1e-6, 2e-6)
    probed = make_machine(costs, [0, 1, 2, 3], shared_links=links, suspects=[slow])
    headline = write_probed_headline(probed)
    assert (
        ". h0, h1 share a link of 9 GB/s to all other hosts, and 1 shared link more. "
        "The host h3 is slow"
    ) in headline


def test_groups_of_hosts_with_a_rank_each_are_read() -> None:
    root = read_groups([[0, 2], [1, 3]], [0, 1, 2, 3])
    assert root.kind == ALL
    assert [(part.kind, part.ranks) for part in root.groups] == [
        (GROUP, (0, 2)),
        (GROUP, (1, 3)),
    ]
    assert [host.kind for host in root.groups[0].groups] == [HOST, HOST]
    assert list_ranks(root) == [0, 2, 1, 3]


def test_groups_inside_hosts_are_read() -> None:
    host_of = [0] * 4 + [1] * 4
    root = read_groups([[[0, 2], [1, 3]], [[4, 6], [5, 7]]], host_of)
    assert [(host.kind, len(host.groups)) for host in root.groups] == [(HOST, 2)] * 2
    assert {part.kind for host in root.groups for part in host.groups} == {PART}


@pytest.mark.parametrize("host_of", [[0, 0, 0], [0, 1, 2], [0, 1, 0, 1]])
def test_without_groups_ranks_are_listed_by_host(host_of: list[int]) -> None:
    root = read_groups([], host_of)
    assert root.ranks == tuple(range(len(host_of)))
    assert list_ranks(root) == sorted(root.ranks, key=lambda rank: host_of[rank])
    assert len(root.groups) == (max(host_of) + 1 if max(host_of) else 0)


def test_boxes_name_hosts_and_count_omitted_hosts() -> None:
    host_of = [*range(100)]
    root = read_groups([], host_of)
    hosts = [f"h{host}" for host in host_of]
    box = GroupBoxMaker(hosts, host_of, {}, {"h1"}).make_box(root)
    assert box.title == "100 hosts: h[0-99]"
    assert len(box.boxes) + box.more == 100
    assert [inner.title for inner in box.boxes if inner.suspect] == ["h1: rank 1"]


def test_hosts_with_unusual_names_are_shown_as_boxes() -> None:
    root = read_groups([], [0, 1])
    assert (
        GroupBoxMaker(["a b", "<c>"], [0, 1], {}, ()).make_box(root).title
        == "2 hosts: ranks 0-1"
    )


def test_axes_begin_and_end_at_round_numbers() -> None:
    axis = make_decimal_axis([3e-6, 4e-5], 0, 100)
    assert (axis.low, axis.high) == pytest.approx((2e-6, 5e-5))
    assert [tick.text for tick in axis.list_decimal_ticks("{:g}".format)] == [
        "2e-06", "5e-06", "1e-05", "2e-05", "5e-05",
    ]  # fmt: skip
    assert (axis.position(axis.low), axis.position(axis.high), axis.position(1.0)) == (
        0,
        100,
        100,
    )
    # A rounded value does not start another decade.
    assert make_decimal_axis([9.99999e-7, 1e-3], 0, 1).low == pytest.approx(1e-6)
    sizes = make_binary_axis([1, 4 << 20], 0, 100)
    texts = [tick.text for tick in sizes.list_binary_ticks("{:.0f}".format)]
    assert texts == [str(16**n) for n in range(6)]


def test_curves_are_piecewise_lines_or_a_maximum_of_lines() -> None:
    def make_line(alpha: float, beta: float, most: int | None) -> FittedLine:
        known = None if most is None else (most, most)
        return FittedLine(alpha, (0, 1), beta, (0, 1), most, known)

    sizes = np.array([1.0, 100.0, 1000.0])
    regimes = TimeCurve(
        False, [make_line(1, 0, 100), make_line(5, 0.01, None)], sizes, np.ones(3)
    )
    assert [regimes.seconds(size) for size in (1, 100, 101)] == [1, 1, 6.01]
    assert regimes.errors.tolist() == [0, 0, 14]
    largest = TimeCurve(
        True, [make_line(1, 0, None), make_line(0, 0.01, None)], sizes, np.ones(3)
    )
    assert [largest.seconds(size) for size in (1, 100, 1000)] == [1, 1, 10]


def test_pairs_are_compared_with_pairs_of_their_level() -> None:
    costs = make_block_costs(8, 4, 2.0, 6.0)
    costs[1, 4:] = costs[4:, 1] = 9.0
    probed = make_machine(costs, [*range(8)], [[0, 1, 2, 3], [4, 5, 6, 7]])
    matrix = make_level_matrix(probed)
    pairs = {of.name: of for of in summarize_levels(probed, matrix)}
    assert pairs["between hosts of a group"][1:] == (12, 2.0, 2.0, 2.0)
    assert pairs["between groups of level 1"][1:] == (16, 6.0, 6.0, 9.0)
    (near, far) = compare_levels(probed, matrix, 1)
    assert near[1:] == (2.0, 2.0, 3)
    assert far[1:] == (9.0, 6.0, 4)
    assert [of.seconds for of in compare_levels(probed, matrix, 0, 1)] == [2.0]


def test_linked_hosts_are_compared_at_the_same_number_of_hops() -> None:
    hops = np.abs(np.arange(6)[:, None] - np.arange(6))
    costs = 1.0 + hops
    costs[2] *= 2
    costs[:, 2] *= 2
    probed = make_machine(costs, [*range(6)], nodes=[5, 4, 3, 2, 1, 0], hops=hops)
    matrix = make_level_matrix(probed)
    assert matrix.order.tolist() == [5, 4, 3, 2, 1, 0]
    assert [of.name for of in summarize_levels(probed, matrix)] == [
        "at 1 hop", "at 2 hops", "at 3 hops", "at 4 hops", "at 5 hops",
    ]  # fmt: skip
    assert compute_host_ratios(probed, matrix)[0] == 1.0
    page = render_probed(probed)
    assert "linked to their neighbors: 2 s at 1 hop, 6 s at 5 hops" in page


def test_unmeasured_values_are_omitted() -> None:
    costs = make_block_costs(6, 3, 2e-6, 6e-6)
    costs[0, 1:] = costs[1:, 0] = np.nan
    probed = make_machine(costs, [*range(6)], [[0, 1, 2], [3, 4, 5]])
    matrix = make_level_matrix(probed)
    assert np.isnan(compute_host_ratios(probed, matrix)[0])
    pack = PackedArrays()
    pack_costs(pack, probed, matrix)
    page = render_probed(probed)
    assert "No sizes were measured" in page
    assert "NaN" not in page.partition("<script")[0]
    assert "nan" not in page.partition("<script")[0].replace("nanosecond", "")


@pytest.mark.parametrize("ranks", [512, 1100])
def test_probe_pages_are_smaller_than_three_megabytes(ranks: int) -> None:
    noise = np.random.default_rng(1).lognormal(0, 0.2, (ranks, ranks))
    costs = make_block_costs(ranks, ranks // 4, 2e-6, 6e-6) * noise
    nested = np.arange(ranks).reshape(4, -1).tolist()
    level = LevelModel("between hosts of a group", 2e-6, None, None, {})
    probed = make_machine(costs, [*range(ranks)], nested, levels=[level])
    assert len(render_probed(probed).encode()) < 3_000_000


def test_a_part_slow_in_two_ways_is_listed_once() -> None:
    suspects = [
        Suspect("host", ["a"], "latency", 1.5, 8),
        Suspect("link", ["b", "c"], "bandwidth", 1.25, 4),
        Suspect("host", ["a"], "bandwidth", 1.666, 8),
        Suspect("uplink", [*"defghi"], "bandwidth", 2.0, 3),
    ]
    assert [slow.sentence for slow in merge_suspects(suspects)] == [
        "The host a is slow: latency 1.50 x, bandwidth 1.67 x its like",
        "The link between b and c is slow: bandwidth 1.25 x its like",
        "The uplink of d, e, f, g and 2 more is slow: bandwidth 2.00 x its like",
    ]
