# SPDX-License-Identifier: BSD-3-Clause
"""All slow hosts and links, and no others, are found in 2 log2 N rounds."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from probe.bad_parts import (
    ON_RAILS,
    Faults,
    PlantedMachine,
    make_parts,
    plant_host_or_cable_fault,
    search,
)
from topoloom import Error, Machine
from topoloom.probe.locate.diagnose_parts import Diagnosis, PartTest, diagnose_parts
from topoloom.probe.locate.machine_parts import MachineParts

SMALL = [
    "tree:8:4:2",
    "fattree:4:8,up=1:4",
    "dragonfly:9x4,nodes=2,global=2",
    "dragonfly:9x4,nodes=2,global=2,routing=ugal",
    "dragonflyplus:5x4x4,nodes=4,global=1",
    "torus:4x4x4",
    "hyperx:4x4,nodes=2",
]
LARGE = ["fattree:16:64,up=1:16", "dragonfly:32x8,nodes=4,global=4"]


@pytest.mark.parametrize("text", SMALL)
def test_bad_parts_of_small_machines_are_found(text: str) -> None:
    parts = make_parts(text)
    for seed in range(3):
        trial = search(parts, (plant_host_or_cable_fault,) * seed, seed)
        assert trial.is_right, trial
        assert trial.rounds <= 2 * math.log2(len(parts.nodes))


@pytest.mark.full
@pytest.mark.parametrize("text", LARGE)
def test_two_bad_parts_of_a_thousand_hosts_are_found(text: str) -> None:
    trial = search(
        make_parts(text), (plant_host_or_cable_fault, plant_host_or_cable_fault), seed=7
    )
    assert trial.is_right, trial
    assert trial.rounds <= 20


@pytest.mark.parametrize("bad_part", ON_RAILS)
def test_bad_parts_of_rails_are_found(bad_part: str) -> None:
    for text in ("rails:4:8:2", "rails:8:6:1", "rails:8:4:2,rails=4,host=4"):
        parts = make_parts(text)
        for seed in range(2):
            trial = search(parts, ON_RAILS[bad_part], seed)
            assert trial.is_right, trial
            assert trial.rounds <= 2 * math.log2(len(parts.hosts))


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_nothing_is_named_if_no_part_is_bad(noise: float) -> None:
    for text in ("tree:4:4", "torus:4x4", "rails:4:4:2"):
        parts = make_parts(text)
        for seed in range(8):
            trial = search(parts, (), seed, noise)
            assert trial.is_done
            assert trial.found == []


def test_a_class_contains_the_parts_that_no_pair_distinguishes() -> None:
    parts = make_parts("fattree:4:4,up=1:2")
    machine = parts.machine

    def list_slowed_pairs(
        links: dict[int, float], hosts: dict[int, float]
    ) -> tuple[bool, ...]:
        planted = PlantedMachine(parts, Faults(links, hosts), noise=0)
        pairs = combinations(range(machine.node_count), 2)
        return tuple(planted.ratio(*pair) > 1 for pair in pairs)

    signs: dict[tuple[bool, ...], set[int]] = {}
    for link in range(machine.link_count):
        sign = list_slowed_pairs({link: 2.0}, {})
        signs.setdefault(sign, set()).add(parts.class_of_link(link))
    for host in range(machine.node_count):
        sign = list_slowed_pairs({}, {host: 2.0})
        signs.setdefault(sign, set()).add(parts.class_of_host(host))
    assert all(len(classes) == 1 for classes in signs.values())
    assert len({classes.pop() for classes in signs.values()}) == len(signs)


def test_pairs_of_a_round_share_neither_host_nor_link() -> None:
    parts = make_parts("tree:4:4")
    machine = parts.machine
    plan = diagnose_parts(parts, []).plan
    hosts = [host for pair in plan for host in pair]
    assert len(set(hosts)) == len(hosts)
    used = [link for a, b in plan for link, _ in machine.route(a, b)]
    assert len(set(used)) == len(used)


def test_one_slow_measurement_is_only_a_suspicion() -> None:
    parts = make_parts("tree:4:8")
    planted = PlantedMachine(parts, Faults(hosts={5: 3.0}), noise=0)
    first = diagnose_parts(parts, planted.measure([(4, 5)]))
    assert not any(part.sure for part in first.bad)
    pairs = [(4, 5), (4, 6), (5, 7), (1, 2), (0, 3), (5, 9)]
    found = diagnose_parts(parts, planted.measure(pairs))
    assert [part.sure for part in found.bad] == [True]
    assert found.bad[0].parts[0] == "host node 5"
    assert found.bad[0].factor == pytest.approx(3.0, rel=0.05)


def test_parts_that_are_named_are_not_counted_as_other_suspects() -> None:
    """Either host of a slow pair may be bad, or their switch; one of them is named."""
    slow, usual = [(4, 5)], [(1, 2), (0, 3)]
    tests = [PartTest(slow, 3.0)] * 2 + [PartTest([pair], 1.0) for pair in usual]
    found = diagnose_parts(make_parts("tree:4:8"), tests)
    assert (len(found.bad), found.suspects) == (1, 2)


def test_fewer_than_three_hosts_are_refused() -> None:
    with pytest.raises(Error, match="fewer than three hosts"):
        MachineParts(Machine("tree:4:8"), [0, 1], {})


def test_the_plan_does_not_depend_on_the_number_of_requests() -> None:
    def make_plan() -> Diagnosis:
        return diagnose_parts(make_parts("dragonfly:9x4,nodes=2,global=2"), [])

    assert make_plan() == make_plan()
