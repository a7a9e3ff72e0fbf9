# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ring-bus` ranks assignments, splits blades and writes files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from json_documents import check_document

from topoloom import Allocation, CommGraph, Error, load_machine, save_graph
from topoloom.graphs import Request, ring
from topoloom.graphs.patterns import make_graph
from topoloom.tasks import BusTiming, rank_affinities, rates_by_size, split_blade
from topoloom.tasks.bus.blade import LINK_RATES, compute_message_bandwidth
from topoloom.tasks.bus.named_affinities import NAMED, RANDOM

if TYPE_CHECKING:
    from tests.conftest import Command

CELL = Allocation.whole(load_machine("cell-eib"))
PATTERNS = ("ring", "rd1", "rd2", "rd3", "bruck2", "binomial3")
KIB = 1024


def make_pattern(name: str, size: int = 64 * KIB) -> CommGraph:
    return make_graph(name, Request(8, size))


@pytest.mark.parametrize("name", PATTERNS)
def test_levels_count_all_assignments_of_equal_score(name: str) -> None:
    found = rank_affinities(make_pattern(name), CELL, levels=10_000)
    better = 0
    for level in found.levels:
        assert level.rank == better + 1
        better += level.alike
    assert better == 40320
    for one in found.named:
        (level,) = (each for each in found.levels if each.rank == one.rank)
        assert (level.score, level.alike) == (one.score, one.alike)


@pytest.mark.parametrize("name", PATTERNS)
def test_the_best_affinity_is_as_fast_as_a_single_message(name: str) -> None:
    found = rank_affinities(make_pattern(name), CELL)
    alone = 64 * KIB / (1e-7 + 64 * KIB / 25.6e9)
    assert found.best.slowest.worst == pytest.approx(alone)
    for one in (*found.levels, *found.named):
        assert one.slowest.worst <= one.average.worst * (1 + 1e-12)
        assert one.slowest.best <= alone * (1 + 1e-12)
        rates = [message.rate for message in one.messages]
        assert min(rate.worst for rate in rates) == pytest.approx(one.slowest.worst)


def test_the_best_by_bandwidth_has_the_fastest_slowest_message() -> None:
    rng = np.random.default_rng(5)
    source, target = np.divmod(np.arange(64), 8)
    kept = rng.permutation(np.flatnonzero(source != target))[:14]
    sizes = rng.integers(1, 6, 14) * 16 * KIB
    graph = CommGraph.from_edges(8, source[kept], target[kept], sizes)
    by_rate = rank_affinities(graph, CELL, by="bandwidth", levels=100_000)
    by_score = rank_affinities(graph, CELL)
    for one in (*by_score.levels, *by_score.named):
        assert one.slowest.mean <= by_rate.best.slowest.mean * (1 + 1e-6)
    slowest = [one.slowest.mean for one in by_rate.levels[::50]]
    assert np.allclose(slowest, sorted(slowest, reverse=True), rtol=1e-6)
    assert sum(one.alike for one in by_rate.levels) == 40320
    with pytest.raises(Error, match="ranking"):
        rank_affinities(graph, CELL, by="luck")


def test_eight_overlapping_messages_in_one_direction_are_slow_but_two_are_not() -> None:
    """Rules of thumb 1 and 2 of the source, and its claim about unequal sizes."""
    doubling = rank_affinities(make_pattern("rd1"), CELL).assignment("identity")
    assert doubling.directions.overlaps_clockwise == 2
    assert doubling.slowest.worst == pytest.approx(64 * KIB / (1e-7 + 2.56e-6))
    around = rank_affinities(make_pattern("ring"), CELL).assignment("ring")
    assert around.directions[:3] == (0, 8, 0)
    assert around.slowest.worst < 0.7 * doubling.slowest.worst


def test_affinity_matters_from_the_size_of_a_dma_piece() -> None:
    for name in PATTERNS:
        sizes = [KIB, 4 * KIB, 16 * KIB - 1, 16 * KIB, 64 * KIB]
        by_size = rates_by_size(make_pattern(name), CELL, sizes)
        assert set(by_size) == set(NAMED)
        for column, size in enumerate(sizes):
            rates = {rates[column] for rates in by_size.values()}
            assert len(rates) == 1 if size < 16 * KIB else len(rates) > 1
    pieces = BusTiming(piece=4 * KIB)
    (rates,) = zip(
        *rates_by_size(make_pattern("rd1"), CELL, [4096], pieces).values(), strict=True
    )
    assert len(set(rates)) > 1


def test_assignments_are_found_only_by_name() -> None:
    found = rank_affinities(make_pattern("ring"), CELL)
    assert found.assignment("best") == found.best
    assert [found.assignment(name).name for name in (*NAMED, RANDOM)] == [
        *NAMED,
        RANDOM,
    ]
    with pytest.raises(Error, match="leap2"):
        found.assignment("leap")
    with pytest.raises(Error, match="8 threads, not 9"):
        rank_affinities(ring(9, 1), CELL)


def test_blade_halves_have_the_fewest_or_most_crossing_bytes() -> None:
    rng = np.random.default_rng(3)
    source, target = np.divmod(rng.choice(256, 30, replace=False), 16)
    kept = source != target
    sizes = rng.integers(1, 9, kept.sum()) * 16 * KIB
    graph = CommGraph.from_edges(16, source[kept], target[kept], sizes)
    for name in ("best", "worst"):
        split = split_blade(graph, CELL, halves=name)
        first = np.isin(np.arange(16), split.halves.threads[0])
        out = sizes[first[source[kept]] & ~first[target[kept]]].sum()
        back = sizes[~first[source[kept]] & first[target[kept]]].sum()
        assert out >= back
        assert out + back == split.halves.crossing
        assert (
            out + back
            == {
                "best": split.best_crossing,
                "worst": split.worst_crossing,
            }[name]
        )
        for one in split.assignments:
            assert sorted(one.elements) == list(range(16))
            on_first = np.array(one.elements) < 8
            assert (on_first == first).all()


def test_the_rate_of_a_ring_on_a_blade_is_limited_by_the_link() -> None:
    best, worst = (
        split_blade(ring(16, 64 * KIB), CELL, halves=name) for name in ("best", "worst")
    )
    assert best.halves.sent == (1, 1)
    assert worst.halves.sent == (8, 8)
    assert {one.slowest.mean for one in best.assignments if one.slowest} == {3.8e9}
    assert {one.slowest.mean for one in worst.assignments if one.slowest} == {1.2e9}
    assert all(one.inside is None for one in worst.assignments)


def test_more_messages_do_not_increase_the_throughput_of_the_link() -> None:
    for sender, measured in enumerate(LINK_RATES):
        assert [compute_message_bandwidth(sender, n) for n in range(1, 9)] == list(
            measured
        )
        assert compute_message_bandwidth(sender, 16) == pytest.approx(measured[-1] / 2)


def test_the_command_prints_the_python_results(
    topoloom: Command, tmp_path: Path
) -> None:
    written = tmp_path / "elements.txt"
    out = topoloom(
        "ring-bus", "ring", "--assign", "leap2", "-o", str(written), "--json"
    ).out
    found = rank_affinities(make_pattern("ring"), CELL)
    assert check_document(out) == json.loads(json.dumps(found.document()))
    assert tuple(map(int, written.read_text().split())) == NAMED["leap2"][1]
    text = topoloom("ring-bus", "rd2", "--by-size", "4KiB,64KiB").out
    assert "40,320 assignments" in text
    assert "768" in text
    file = tmp_path / "p.npz"
    save_graph(file, ring(16, 64 * KIB))
    split = topoloom("ring-bus", str(file), "--json").json
    assert split["halves"]["alike"] == 16
    assert "16 sets of 8 alike" in topoloom("ring-bus", str(file)).out


@pytest.mark.parametrize("ranks", [1, 2, 7, 8, 13])
def test_single_phases_equal_rounds_of_collectives_for_any_rank_count(
    ranks: int,
) -> None:
    for name, partner in (("rd1", 1), ("rd2", 2), ("rd3", 4)):
        graph = make_graph(name, Request(ranks, 10))
        for rank in range(ranks):
            row = graph.peer[int(graph.first[rank]) : int(graph.first[rank + 1])]
            other = rank ^ partner
            assert row.tolist() == ([other] if other < ranks else [])
    bruck = make_graph("bruck2", Request(ranks, 10))
    assert bruck.edge_count == (ranks if ranks > 2 else 0)
    assert make_graph("binomial3", Request(ranks, 10)).edge_count == ranks // 2
