# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map --mapper exact` finds the best placement and proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

CELL = ("-m", "cell-eib", "-a", "SPE[0-7]", "--mapper", "exact")


@pytest.fixture(autouse=True)
def ring_pattern(topoloom: Command) -> None:
    done = topoloom(
        "pattern", "generate", "ring", "--ranks", "8", "--bytes", "16384", "-o", "r.npz"
    )
    assert done.status == 0, done.err


def test_a_ring_on_a_cell_processor_is_placed_optimally(topoloom: Command) -> None:
    hop_bytes = topoloom("map", "r.npz", *CELL, "--json").json
    assert hop_bytes["proven"] == {"at_least": 196_608, "gap": 1, "optimal": True}
    aimed = topoloom("map", "r.npz", *CELL, "--objective", "congestion", "--json").json
    # Each direction has one message, and two rings of 25.6 GB/s each.
    assert aimed["proven"]["at_least"] == pytest.approx(16_384 / 51.2e9)
    assert aimed["values"]["congestion_max"] == aimed["proven"]["at_least"]


def test_map_prints_the_proof_of_optimality(topoloom: Command) -> None:
    done = topoloom("map", "r.npz", "-m", "mesh:3x3", "--mapper", "exact")
    assert "  result     proven optimal: no placement has fewer hop-bytes\n" in done.out


def test_auto_proves_small_placements_optimal(topoloom: Command) -> None:
    words = ("map", "r.npz", "-m", "torus:2x4,bandwidth=10GB/s,latency=1us")
    for objective in ("hop-bytes", "congestion", "time"):
        done = topoloom(*words, "--objective", objective)
        assert "proven optimal: no placement has " in done.out
        proven = topoloom(*words, "--objective", objective, "--json").json["proven"]
        assert proven["optimal"]
        assert proven["gap"] == pytest.approx(1)


def test_exact_proves_hop_bytes_by_default(topoloom: Command) -> None:
    chosen = "  objective  hop-bytes: the mapper exact proves these\n"
    assert chosen in topoloom("map", "r.npz", *CELL).out
    words = ("compare", "r.npz", *CELL[:-2], "--mappers", "exact")
    assert chosen in topoloom(*words).out


def test_an_interrupted_search_prints_its_proven_bound(topoloom: Command) -> None:
    topoloom("pattern", "generate", "random-geometric", "--ranks", "16", "-o", "g.npz")
    words = ("map", "g.npz", "-m", "mesh:4x4", "--mapper", "exact", "--work", "10000")
    found = topoloom(*words, "--json").json
    assert 0 < found["proven"]["at_least"] < found["values"]["hop_bytes"]
    assert found["proven"]["gap"] > 1


def test_objectives_that_exact_does_not_prove_are_refused(topoloom: Command) -> None:
    done = topoloom("map", "r.npz", *CELL, "--objective", "time")
    assert done.status == 2
    assert done.err.startswith("topoloom: exact proves hop-bytes, or congestion")
    assert done.err.count("\n") == 1
