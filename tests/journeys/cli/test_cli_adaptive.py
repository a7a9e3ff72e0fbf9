# SPDX-License-Identifier: BSD-3-Clause
"""Networks with adaptive routing in `judge` and `map`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from topoloom import CommGraph, save_graph

if TYPE_CHECKING:
    from tests.conftest import Command

DRAGONFLY = "dragonfly:9x4,nodes=2,arrangement=palmtree"


@pytest.fixture
def next_group_pattern(topoloom: Command) -> None:
    """Every node sends 630 bytes to the corresponding node of the next group."""
    ranks = np.arange(72, dtype=np.uint32)
    sizes = np.full(72, 630, dtype=np.int64)
    save_graph("p.npz", CommGraph.from_edges(72, ranks, (ranks + 8) % 72, sizes))


@pytest.mark.usefixtures("next_group_pattern")
def test_the_share_of_minimal_routes_is_optimal(topoloom: Command) -> None:
    words = ["judge", "p.npz", "--machine", f"{DRAGONFLY},routing=ugal"]
    judged = topoloom(*words, "--json").json
    # On minimal routes, all 8 messages of a group share a link. A detour carries a
    # seventh of the messages of two groups. With the fraction f on minimal routes,
    # loads are equal at 8 f = 16 (1 - f) / 7.
    assert judged["minimal_share"] == pytest.approx(2 / 9)
    assert judged["congestion_max"] == pytest.approx(16 / 9 * 630)
    assert "share on minimal routes" in topoloom(*words).out


@pytest.mark.usefixtures("next_group_pattern")
def test_the_share_of_minimal_routes_has_no_gain_in_percent(topoloom: Command) -> None:
    words = ["map", "p.npz", "--machine", f"{DRAGONFLY},routing=ugal"]
    shown = topoloom(*words, "--mapper", "random", "-o", "x.json")
    assert shown.status == 0, shown.err
    lines = shown.out.splitlines()
    assert "%" not in next(line for line in lines if "share on minimal routes" in line)
    assert "%" in next(line for line in lines if "hop-bytes" in line)


@pytest.mark.parametrize("routing", ["minimal", "valiant"])
@pytest.mark.usefixtures("next_group_pattern")
def test_deterministic_routing_has_no_share_of_minimal_routes(
    topoloom: Command, routing: str
) -> None:
    words = ["judge", "p.npz", "--machine", f"{DRAGONFLY},routing={routing}"]
    assert "minimal_share" not in topoloom(*words, "--json").json
    assert "share on minimal routes" not in topoloom(*words).out
