# SPDX-License-Identifier: BSD-3-Clause
"""Chooses rounds of pairs that share no saturated link."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from topoloom import Error, Machine
from topoloom.machines.machine_toml_writer import write_machine_toml
from topoloom.probe.described_routes import (
    DescribedRoutes,
    list_all_pairs,
    make_disjoint_rounds,
)


def describe_routes(tmp_path: Path, text: str, hosts: list[str]) -> DescribedRoutes:
    file = tmp_path / "claimed.toml"
    write_machine_toml(file, Machine(text), "claimed", hosts)
    return DescribedRoutes(file, hosts)


@pytest.mark.parametrize("ranks", [2, 3, 8, 9])
def test_circular_rounds_contain_all_pairs_once(ranks: int) -> None:
    assert Counter(tuple(sorted(p)) for p in list_all_pairs(range(ranks))) == Counter(
        combinations(range(ranks), 2)
    )


@pytest.mark.parametrize("text", ["torus:4x4", "mesh:5x3", "torus:2x3x3"])
def test_pairs_of_a_round_share_no_link(tmp_path: Path, text: str) -> None:
    count = Machine(text).node_count
    routes = describe_routes(tmp_path, text, [f"n{n}" for n in range(count)])
    host_of = [n // 2 for n in range(2 * count)]
    pairs = list(list_all_pairs(range(2 * count)))
    rounds = list(make_disjoint_rounds(routes, host_of, pairs))
    assert Counter(p for each in rounds for p in each) == Counter(pairs)
    for each in rounds:
        ranks = [rank for pair in each for rank in pair]
        assert len(set(ranks)) == len(ranks)
        links = Counter(
            link
            for a, b in each
            if host_of[a] != host_of[b]
            for link in routes.links(host_of[a], host_of[b])
        )
        assert not links or max(links.values()) == 1


def test_wide_links_carry_several_pairs_of_a_round(tmp_path: Path) -> None:
    text = "tree:8:4,bandwidth=1GB/s:8GB/s"
    routes = describe_routes(tmp_path, text, [f"n{n}" for n in range(32)])
    assert (
        len(list(make_disjoint_rounds(routes, range(32), list_all_pairs(range(32)))))
        == 31
    )


def test_hosts_must_have_names(tmp_path: Path) -> None:
    describe_routes(tmp_path, "torus:2x2", ["a", "b", "c", "d"])
    with pytest.raises(Error, match="does not contain the host x"):
        DescribedRoutes(tmp_path / "claimed.toml", ["a", "x"])
