# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that share a rank are in different phases of a recorded run."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.phases import load_phase_names, load_phases
from topoloom.graphs.profile import Profile
from topoloom.graphs.recorded_phases import (
    find_recorded_phases,
    separate_communicators,
)

ALLREDUCE = OPERATIONS.index("allreduce")
RANKS = 16


def make_profile(
    messages: list[tuple[int, ...]],
    allreduces: list[tuple[int, int, int]],
    communicators: list[list[int]],
) -> Profile:
    """Make a recording; `allreduces` are communicator, bytes and calls."""
    return Profile(
        rank_count=RANKS,
        traffic=np.array(messages, dtype=np.int64).reshape(-1, 7),
        records=np.array(
            [(0, ALLREDUCE, c, -1, size, calls) for c, size, calls in allreduces],
            dtype=np.int64,
        ).reshape(-1, 6),
        communicators=[np.array(ranks) for ranks in communicators],
        has_parallel_collectives=False,
    )


@given(st.lists(st.sets(st.integers(0, 11), min_size=2), max_size=12), st.randoms())
def test_no_two_communicators_of_a_phase_share_a_rank(groups, random) -> None:
    members = {number: np.array(sorted(group)) for number, group in enumerate(groups)}
    weights = [random.random() for _ in groups]
    phases = dict(separate_communicators(12, members, weights))
    assert phases.keys() == members.keys()
    for a, b in itertools.combinations(members, 2):
        if phases[a] == phases[b]:
            assert groups[a].isdisjoint(groups[b])


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.randoms(), st.booleans())
def test_all_lines_along_an_axis_of_a_grid_are_one_phase(sides, random, ends) -> None:
    grid = np.arange(math.prod(sides)).reshape(sides)
    lines = [
        (axis, line)
        for axis, side in enumerate(sides)
        for line in np.moveaxis(grid, axis, -1).reshape(-1, side)
    ]
    random.shuffle(lines)
    weights = [1.0 + (axis if ends else 0) for axis, _ in lines]
    members = {number: line for number, (_, line) in enumerate(lines)}
    phases = dict(separate_communicators(grid.size, members, weights))
    of_axis = {axis: set[int]() for axis in range(len(sides))}
    for number, (axis, _) in enumerate(lines):
        of_axis[axis].add(phases[number])
    assert sorted(map(sorted, of_axis.values())) == [
        [phase] for phase in range(len(sides))
    ]


def test_messages_and_collectives_are_phases(tmp_path: Path) -> None:
    halves = [list(range(8)), list(range(8, 16))]
    everyone = list(range(RANKS))
    sent = [(0, 0, 2, 3, 1000, 10, -1)]
    profile = make_profile(sent, [(0, 8, 9), (1, 8, 9), (2, 8, 5)], [*halves, everyone])
    profile.save(tmp_path / "p.npz")
    assert load_phase_names(tmp_path / "p.npz") == [
        "messages",
        "collectives in 2 groups, such as 0-7",
        "collectives of all ranks",
    ]
    phases = load_phases(tmp_path / "p.npz")
    # An allreduce of n ranks by recursive doubling sends n log2 n messages.
    assert [phase.total_bytes for phase in phases] == [1000, 2 * 8 * 9 * 24, 8 * 5 * 64]
    # Frameworks on GPUs overlap their collectives.
    assert (
        len(find_recorded_phases(replace(profile, has_parallel_collectives=True))) == 1
    )


def test_small_phases_are_joined_with_the_largest() -> None:
    sent = [(0, 0, a, a + 1, 10**6, 1000, -1) for a in range(10)]
    few = make_profile(sent, [(0, 8, 3)], [list(range(RANKS))])
    assert len(find_recorded_phases(few)) == 1
    # Many small messages take time, too.
    many = make_profile(sent, [(0, 8, 300)], [list(range(RANKS))])
    assert [phase.name for phase in find_recorded_phases(many)] == [
        "messages",
        "collectives of all ranks",
    ]


def test_levels_of_the_program_are_split_further() -> None:
    sent = [(level, 0, 2, 3, 1000, 10, -1) for level in (1, 4)]
    profile = make_profile(sent, [(0, 8, 9)], [list(range(4))])
    profile.records[:, 0] = 4
    assert [phase.name for phase in find_recorded_phases(profile)] == [
        "1",
        "4: messages",
        "4: collectives of ranks 0-3",
    ]


@pytest.mark.parametrize("count", [15, 40])
def test_the_number_of_phases_is_limited(count: int) -> None:
    pairs = [[0, other % 15 + 1] for other in range(count)]
    orders = [pair if number < 15 else pair[::-1] for number, pair in enumerate(pairs)]
    profile = make_profile([], [(c, 100 + c, 1) for c in range(count)], orders)
    phases = find_recorded_phases(profile)
    assert len(phases) == min(count, 16)
    assert sum(len(phase.profile.records) for phase in phases) == count
    assert len({phase.name for phase in phases}) == len(phases)
