# SPDX-License-Identifier: BSD-3-Clause
"""Random machines match their description, and the probe recovers one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from probe.compare import rand_index
from probe.measured import measure
from probe.planted import draw, leaves
from probe.platforms import build_noise
from probe.truth import Truth

SEEDS = range(1, 61)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_machine_matches_its_description(seed: int) -> None:
    machine = draw(seed)
    assert draw(seed) == machine
    assert sorted(leaves(machine.groups)) == list(range(machine.hosts))
    assert 8 <= machine.hosts <= 64
    assert len(machine.host_of) <= 96
    for near, far in pairwise(machine.latencies[1:]):
        assert far > near
    truth = Truth(machine)
    times = [machine.seconds(level, 512) for level in truth.levels]
    for near, far in pairwise(times):
        assert far >= 1.0999 * near
    for inner, outer in pairwise(truth.partition(level) for level in truth.levels):
        assert len(outer) < len(inner)
        assert all(any(group <= other for other in outer) for group in inner)


def test_partition_distance_equals_a_count_over_pairs() -> None:
    ranks = frozenset(range(6))
    halves = frozenset({frozenset({0, 1, 2}), frozenset({3, 4, 5})})
    whole = frozenset({ranks})
    assert rand_index(halves, halves, 6) == 1
    assert rand_index(halves, whole, 6) == pytest.approx(6 / 15)


@pytest.mark.full
def test_a_machine_without_noise_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    machine = next(
        m
        for seed in range(1, 100)
        if (m := draw(seed)).noise == 0 and m.depth == 2 and m.hosts <= 24
    )
    outcome = measure(machine, "quick", build_noise(tmp_path))
    assert not outcome.ended
    assert outcome.groups_right
    assert outcome.alarms == []
