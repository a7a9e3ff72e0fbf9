# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom judge` and `compare` print the gap, a value divided by its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MEASURES = ("hop_bytes", "congestion_max")
JOBS = [
    (["stencil3d", "--grid", "4x4x4"], "torus:4x4x4"),
    (["stencil2d", "--grid", "6x8", "--open"], "mesh:8x8"),
    (["binomial", "--ranks", "32"], "tree:4:4:2"),
    (["bruck", "--ranks", "24"], "fattree:4:4:2"),
    (["recursive-doubling", "--ranks", "32"], "dragonfly:5x4,nodes=2"),
    (["alltoall", "--ranks", "12"], "ring:12"),
    (["random-geometric", "--ranks", "60"], "hyperx:4x4x4"),
]


def write_pattern(topoloom: Command, *pattern: str) -> None:
    done = topoloom("pattern", "generate", *pattern, "--bytes", "1000", "-o", "p.npz")
    assert done.status == 0, done.err


@pytest.mark.parametrize(("pattern", "machine"), JOBS)
def test_no_mapper_is_better_than_the_proven_bound(
    topoloom: Command, pattern: list[str], machine: str
) -> None:
    write_pattern(topoloom, *pattern)
    mappers = "block,random,hilbert,gge,mahd+swap,multisection+swap,auto(effort=fast)"
    words = ["compare", "p.npz", "-m", machine, "--mappers", mappers, "--json"]
    for result in topoloom(*words).json["results"]:
        for measure in MEASURES:
            assert result["gap"][measure] >= 1


@pytest.mark.parametrize(("pattern", "machine"), JOBS)
def test_the_predicted_time_has_a_gap_if_bandwidths_are_known(
    topoloom: Command, pattern: list[str], machine: str
) -> None:
    write_pattern(topoloom, *pattern)
    machine += ",bandwidth=1GB/s"
    topoloom("map", "p.npz", "-m", machine, "--effort", "fast", "-o", "x.json")
    judged = topoloom("judge", "p.npz", "x.json", "--json").json["gap"]
    proven = topoloom("bound", "p.npz", "x.json", "--work", 1000, "--json").json
    words = ["compare", "p.npz", "-m", machine, "--objective", "time", "--json"]
    compared = topoloom(*words, "--mappers", "hilbert").json
    gaps = [result["gap"]["predicted_seconds"] for result in compared["results"]]
    assert min(judged["predicted_seconds"], *gaps) >= 1
    assert proven["predicted_seconds"]["gap"] >= 1
    assert proven["predicted_seconds"]["proved_by"] in ("sender", "network", "memory")
    row = next(
        line
        for line in topoloom("judge", "p.npz", "x.json").out.splitlines()
        if "predicted time" in line
    )
    assert row.split()[-1] == f"{judged['predicted_seconds']:.3f}"


def test_a_stencil_on_its_own_torus_has_gap_1(topoloom: Command) -> None:
    write_pattern(topoloom, "stencil3d", "--grid", "4x4x4")
    topoloom("map", "p.npz", "-m", "torus:4x4x4", "-o", "x.json")
    for where in (["x.json"], ["-m", "torus:4x4x4"]):
        found = topoloom("judge", "p.npz", *where, "--json").json
        assert found["gap"]["hop_bytes"] == 1
        assert found["gap"]["congestion_max"] == pytest.approx(1)
        printed = topoloom("judge", "p.npz", *where).out
        rows = [line for line in printed.splitlines() if line.endswith(" 1.000")]
        assert [row[:18].strip() for row in rows] == ["hop-bytes", "congestion"]
    compared = topoloom("compare", "p.npz", "-m", "torus:4x4x4", "--mappers", "auto")
    assert " gap " in compared.out
    assert compared.out.count(" 1.000") >= 2


def test_judge_and_compare_print_the_same_gaps(topoloom: Command) -> None:
    write_pattern(topoloom, "stencil2d", "--grid", "6x8")
    where = ["-m", "torus:8x8x4", "--nodes", 48]
    topoloom("map", "p.npz", *where, "--mapper", "gge", "-o", "x.json")

    def read_judged_gap() -> Any:
        return topoloom("judge", "p.npz", "x.json", "--json").json["gap"]

    words = ["compare", "p.npz", *where, "--mappers", "gge", "--json"]
    assert read_judged_gap() == topoloom(*words).json["results"][1]["gap"]
    assert read_judged_gap() == read_judged_gap()
    # The bound of `topoloom bound`, which searches longer, is at least as high.
    bound = topoloom("bound", "p.npz", "x.json", "--json").json
    for measure in MEASURES:
        assert read_judged_gap()[measure] >= bound[measure]["gap"] >= 1


def test_without_a_proven_bound_there_is_no_gap(topoloom: Command) -> None:
    write_pattern(topoloom, "ring", "--ranks", "8")
    # All ranks fit into one node, so no bound above 0 can be proven, but a poor mapper
    # uses several nodes.
    topoloom(
        "map", "p.npz", "-m", "torus:4+node:8", "--mapper", "random", "-o", "x.json"
    )
    found = topoloom("judge", "p.npz", "x.json", "--json").json
    assert found["congestion_max"] > 0
    assert found["gap"]["congestion_max"] is None


def test_placements_on_shared_slots_have_no_gap(topoloom: Command) -> None:
    write_pattern(topoloom, "stencil2d", "--grid", "8x8")
    topoloom("map", "p.npz", "-m", "torus:4x4", "--imbalance", "0", "-o", "x.json")
    assert topoloom("judge", "p.npz", "x.json", "--json").json["gap"] == {
        "hop_bytes": None,
        "congestion_max": None,
    }
    assert "gap" not in topoloom("judge", "p.npz", "x.json").out


def test_judge_uses_the_quick_proof_if_others_take_long(topoloom: Command) -> None:
    write_pattern(topoloom, "ring", "--ranks", "600")
    words = ["judge", "p.npz", "-m", "torus:600"]
    assert topoloom(*words, "--json").json["gap"]["hop_bytes"] == 1
    assert "gap" in topoloom(*words).out
