# SPDX-License-Identifier: BSD-3-Clause
"""Phases of patterns are the rounds of the algorithms, also in files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from collective_rounds import SimulatedRanks, bcast_binomial, bruck_allgather

from topoloom import CommGraph, Error, load_graph, save_graph
from topoloom.graphs import load_phases, ring
from topoloom.graphs.patterns import PATTERNS, Request, make_graph, make_phases
from topoloom.graphs.phases import (
    add_phases,
    edge_rows,
    load_phase_names,
    make_phase_array,
)
from topoloom.graphs.profile import Profile

SIZES = (2, 3, 5, 8, 13, 16, 33)
Messages = dict[tuple[int, int], int]


def map_bytes_by_pair(graph: CommGraph) -> Messages:
    return {(s, t): size for s, t, size, _ in edge_rows(graph).tolist()}


def make_rank_programs(name: str, ranks: int, root: int = 0) -> list[Messages]:
    request = Request(ranks=ranks, bytes=10, root=root)
    graph = make_graph(name, request)
    phases = make_phases(name, request)
    return [map_bytes_by_pair(phase) for phase in phases or [graph]]


class RecordedRounds(SimulatedRanks):
    """Reference ranks that record the messages of each round."""

    def __init__(self, size: int, sizes: list[int]) -> None:
        super().__init__(size, sizes)
        self.rounds: list[Messages] = []

    def run_round(self, sends: Iterable[tuple[int, int, Iterable[int]]]) -> None:
        """Deliver the messages, and record the bytes of each pair."""
        before = set(self.sent)
        super().run_round(sends)
        self.rounds.append(
            {pair: self.sent[pair][0] for pair in self.sent if pair not in before}
        )


def allgather(ranks: int) -> RecordedRounds:
    held = RecordedRounds(ranks, [10] * ranks)
    for r in range(ranks):
        held.held[r] = {r: {r}}
    return held


@pytest.mark.parametrize("ranks", SIZES)
def test_bruck_doubles_the_distance_in_each_round(ranks: int) -> None:
    expected = allgather(ranks)
    bruck_allgather(expected, list(range(ranks)))
    assert make_rank_programs("bruck", ranks) == expected.rounds


@pytest.mark.parametrize("ranks", SIZES)
def test_recursive_doubling_swaps_with_a_partner_twice_as_far_each_round(
    ranks: int,
) -> None:
    cube = 1 << (ranks.bit_length() - 1)
    expected = allgather(ranks)
    extra = range(cube, ranks)
    if extra:
        expected.run_round([(r, r - cube, [r]) for r in extra])
    distance = 1
    while distance < cube:
        expected.run_round(
            [(r, r ^ distance, list(expected.held[r])) for r in range(cube)]
        )
        distance *= 2
    if extra:
        expected.run_round(
            [
                (r - cube, r, [b for b in expected.held[r - cube] if b != r])
                for r in extra
            ]
        )
    assert all(len(held) == ranks for held in expected.held)
    assert make_rank_programs("recursive-doubling", ranks) == expected.rounds


@pytest.mark.parametrize("root", [0, 1])
@pytest.mark.parametrize("ranks", SIZES)
def test_a_binomial_tree_reaches_far_ranks_first(ranks: int, root: int) -> None:
    found = make_rank_programs("binomial", ranks, root)
    assert {p for phase in found for p in phase} == set(
        bcast_binomial(ranks, 10, root).sent
    )
    have = {root}
    for number, phase in enumerate(found):
        distance = 1 << (len(found) - 1 - number)
        assert {source for source, _ in phase} <= have
        assert all((t - s) % ranks == distance for s, t in phase)
        have |= {target for _, target in phase}
    assert have == set(range(ranks))


@pytest.mark.parametrize("name", ["recursive-doubling", "bruck", "binomial"])
@pytest.mark.parametrize("ranks", [1, 2, 13, 16])
def test_every_message_is_in_exactly_one_round(name: str, ranks: int) -> None:
    phases = make_rank_programs(name, ranks)
    together = [item for phase in phases for item in phase.items()]
    assert sorted(together) == sorted(
        map_bytes_by_pair(make_graph(name, Request(ranks=ranks, bytes=10))).items()
    )


def test_a_pattern_with_one_phase_is_refused() -> None:
    for name, pattern in PATTERNS.items():
        if pattern.phases is None:
            with pytest.raises(Error, match="has one phase; several have recursive-d"):
                make_phases(name, Request(ranks=4, bytes=1))


def save_phases(path: Path, phases: list[CommGraph], graph: CommGraph) -> Path:
    save_graph(path, graph, {"phases": make_phase_array(phases)})
    return path


def test_phases_are_read_back_in_their_order(tmp_path: Path) -> None:
    request = Request(ranks=6, bytes=10)
    graph = make_graph("bruck", request)
    phases = make_phases("bruck", request)
    file = save_phases(tmp_path / "p.npz", phases, graph)
    assert [map_bytes_by_pair(p) for p in load_phases(file)] == [
        map_bytes_by_pair(p) for p in phases
    ]
    assert map_bytes_by_pair(load_graph(file)) == map_bytes_by_pair(graph)


def test_a_graph_without_phases_has_none(tmp_path: Path) -> None:
    save_graph(tmp_path / "p.npz", ring(4))
    (tmp_path / "p.mat").write_text("0 1\n1 0\n")
    (tmp_path / "empty.mat").write_text("")
    for name in ("p.npz", "p.mat", "empty.mat", "."):
        assert load_phases(tmp_path / name) == []


def test_a_graph_with_a_single_phase_is_loaded_without_phases(tmp_path: Path) -> None:
    assert load_phases(save_phases(tmp_path / "p.npz", [ring(4)], ring(4))) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 0, 1, 5, 1], [1, 1, 2, 4, 1]], "'phases' does not add up to the graph"),
        ([[0, 0, 1, -5, 1]], "'phases' contains a negative number"),
        ([[0, 0, 9, 5, 1]], "'phases' names rank 9, but ranks are 0 to 2"),
        ([[0, 0, 1]], "'phases' must have five columns of integers"),
        ([[0, 0, 1, 2.5, 1]], "'phases' must have five columns of integers"),
        ([0, 1], "'phases' must have five columns of integers"),
    ],
)
def test_wrong_phases_name_the_file(
    rows: list[object], message: str, tmp_path: Path
) -> None:
    save_graph(tmp_path / "p.npz", ring(3, 5), {"phases": np.array(rows)})
    with pytest.raises(Error) as caught:
        load_phases(tmp_path / "p.npz")
    assert str(caught.value).startswith(f"{tmp_path}/p.npz: {message}")


def make_profile(levels: tuple[int, int]) -> Profile:
    """Create a profile: 0 -> 1 at `levels[0]`; 1 -> 2, a bcast at `levels[1]`."""
    first, second = levels
    return Profile(
        rank_count=4,
        traffic=np.array([[first, 0, 0, 1, 100, 1, -1], [second, 0, 1, 2, 50, 2, -1]]),
        records=np.array([[second, 1, 0, 0, 8, 1]]),
        communicators=[np.arange(4)],
    )


@pytest.mark.parametrize("collectives", ["expand", "keep", "drop"])
def test_a_recorded_run_has_the_phases_of_its_levels(
    collectives: str, tmp_path: Path
) -> None:
    make_profile((0, 3)).save(tmp_path / "p.npz", collectives)
    first, second = load_phases(tmp_path / "p.npz")
    assert map_bytes_by_pair(first) == {(0, 1): 100}
    bcast = {(0, 2): 8, (0, 1): 8, (2, 3): 8} if collectives == "expand" else {}
    assert map_bytes_by_pair(second) == {(1, 2): 50, **bcast}


def test_a_recording_with_one_level_has_no_phases(tmp_path: Path) -> None:
    make_profile((0, 0)).save(tmp_path / "p.npz")
    assert load_phases(tmp_path / "p.npz") == []


def test_phases_can_have_names(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    phases = [ring(4), CommGraph.from_edges(4, [], [], []), ring(4)]
    extra = {
        "phases": make_phase_array(phases),
        "phase_names": ["there", "none", "back"],
    }
    save_graph(path, add_phases(phases), extra)
    assert load_phase_names(path) == ["there", "back"]  # as load_phases
    assert len(load_phases(path)) == 2
    assert load_phase_names(save_phases(tmp_path / "q.npz", phases, ring(4))) == []
    save_graph(path, add_phases(phases), {**extra, "phase_names": ["there"]})
    with pytest.raises(
        Error, match="'phase_names' must contain a string for every phase"
    ):
        load_phase_names(path)
