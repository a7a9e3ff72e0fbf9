# SPDX-License-Identifier: BSD-3-Clause
"""The present placement of a job is compared, reported, and written by verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

WHERE = ("-m", "torus:2x2+node:2", "-a", "cn[0-3]")
MAPPERS = ("--mappers", "block,gge")


@pytest.fixture
def placed(topoloom: Command) -> int:
    """Write g.npz, a random placement x.json and its rankfile f; return hop-bytes."""
    generate = ["pattern", "generate", "stencil2d", "--grid", "4x2", "-o", "g.npz"]
    assert topoloom(*generate).status == 0
    mapped = topoloom("map", "g.npz", *WHERE, "--mapper", "random", "-o", "x.json")
    assert mapped.status == 0
    export = ["export", "x.json", "--to", "openmpi-rankfile", "-o", "f"]
    assert topoloom(*export).status == 0
    hop_bytes: int = topoloom("judge", "g.npz", "x.json", "--json").json["hop_bytes"]
    return hop_bytes


def compare(topoloom: Command, *words: object) -> dict[str, dict[str, Any]]:
    """Compare mappers; return the result of each."""
    document = topoloom("compare", "g.npz", *WHERE, *MAPPERS, *words, "--json").json
    return {result["mapper"]: result for result in document["results"]}


@pytest.mark.parametrize("name", ["x.json", "f", "openmpi-rankfile:f"])
def test_a_placement_is_one_more_row(topoloom: Command, placed: int, name: str) -> None:
    found = compare(topoloom, "--placement", name)
    assert list(found) == ["block", name, "gge"]
    assert found[name]["hop_bytes"] == placed
    assert found[name]["work"] == 0
    alone = compare(topoloom)
    assert found["gge"]["hop_bytes"] == alone["gge"]["hop_bytes"]
    assert found["gge"]["gain_percent"] == alone["gge"]["gain_percent"]


def test_slots_that_the_launcher_would_not_use_are_compared(topoloom: Command) -> None:
    """Slurm starts one rank on each of four nodes; the rankfile uses second cores."""
    topoloom("pattern", "generate", "ring", "-n", 4, "-o", "g.npz")
    Path("f").write_text("".join(f"rank {i}=cn{i} slot=1\n" for i in (0, 2, 1, 3)))
    found = compare(topoloom, "--placement", "f")
    alone = compare(topoloom)
    assert found["block"]["inter_node_bytes"] == alone["block"]["inter_node_bytes"] > 0
    assert found["f"]["inter_node_bytes"] == found["block"]["inter_node_bytes"]
    judged = topoloom("judge", "g.npz", "f", *WHERE, "--json").json
    assert judged["block"]["hop_bytes"] == alone["block"]["hop_bytes"]
    improved = topoloom("map", "g.npz", *WHERE, "--placement", "f")
    assert improved.status == 0, improved.err


def test_the_best_of_a_comparison_keeps_fixed_ranks(
    topoloom: Command, placed: int
) -> None:
    words = ("--fix", "0=cn3:1,7=cn0", "--placement", "x.json")
    found = compare(topoloom, *words)
    assert found["block"]["gap"]["hop_bytes"] is None
    assert found["gge"]["gap"]["hop_bytes"] >= 1
    shown = topoloom("compare", "g.npz", *WHERE, *MAPPERS, *words)
    assert "gge ◄ best" in shown.out
    assert "2 ranks; not kept by block, x.json" in shown.out


def test_own_mappers_must_keep_fixed_ranks(topoloom: Command, placed: int) -> None:
    Path("mine.py").write_text(
        "def keep(problem):\n"
        "    slots = [s for s in range(8) if s not in problem.fixed.values()]\n"
        "    return [problem.fixed.get(r) or slots.pop() for r in range(8)]\n"
        "def ignore(problem):\n    return range(8)\n"
    )
    mappers = ("--mappers", "mine.py:keep,mine.py:ignore", "--fix", "3=cn3")
    found = topoloom("compare", "g.npz", *WHERE, *mappers)
    assert found.status == 1
    assert "mine.py:keep ◄ best" in found.out
    assert "rank 3 is on slot 3, but is fixed on slot 6" in found.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--placement", "none"], "none: No such file"),
        (["--placement", "small.json"], "small.json is for mesh:8, not torus:2x2"),
        (["--fix", "0=cn9"], "--fix names no host 'cn9'"),
        (["--placement", "shared"], "shared lets ranks share slots"),
    ],
)
def test_wrong_placements_are_refused(
    topoloom: Command, placed: int, words: list[str], message: str
) -> None:
    topoloom("map", "g.npz", "-m", "mesh:8", "-o", "small.json")
    Path("shared").write_text("".join(f"rank {i}=cn0 slot=1\n" for i in range(8)))
    refused = topoloom("compare", "g.npz", *WHERE, *MAPPERS, *words)
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1


def test_launchers_files_are_on_the_page(topoloom: Command, placed: int) -> None:
    beside = topoloom("report", "x.json", "f", "-o", "r.html", "--json").json
    alone = ["report", "f", "-g", "g.npz", *WHERE, "-o", "r.html", "--json"]
    for summary in (beside, topoloom(*alone).json):
        [view] = [each for each in summary["placements"] if each["file"] == "f"]
        assert view["hop_bytes"] == placed
        assert "read from" in Path("r.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["f"], "f does not name its graph"),
        (["f", "-g", "g.npz"], "--machine is missing"),
        (["f", "x.json", *WHERE], "x.json contains its machine and allocation"),
    ],
)
def test_reports_need_a_graph_and_one_machine(
    topoloom: Command, placed: int, words: list[str], message: str
) -> None:
    refused = topoloom("report", *words, "-o", "r.html")
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1


def test_judge_shows_fixed_ranks(topoloom: Command, placed: int) -> None:
    topoloom("map", "g.npz", *WHERE, "--fix", "0=cn3,5=cn0,6=cn1", "-o", "y.json")
    judged = topoloom("judge", "g.npz", "y.json")
    assert "ranks 0,5-6; gaps are for placements that keep them" in judged.out
    document = topoloom("judge", "g.npz", "y.json", "--json").json
    assert document["fixed"] == [0, 5, 6]
    bound = topoloom("bound", "g.npz", "y.json", "--json").json["hop_bytes"]
    free = topoloom("bound", "g.npz", *WHERE, "--json").json["hop_bytes"]
    assert free["at_least"] <= bound["at_least"] <= document["hop_bytes"]


def test_run_refuses_wrong_fixed_ranks_before_it_records(
    topoloom: Command, placed: int
) -> None:
    words = ["run", *WHERE, "--fix", "0=cn9", "--", "mpirun.openmpi", "-n", 4]
    refused = topoloom(*words, "touch", "started")
    assert refused.status == 2
    assert "--fix names no host 'cn9'" in refused.err
    assert not Path("started").exists()


def test_the_observed_placement_is_the_reported_one(
    topoloom: Command, placed: int
) -> None:
    from topoloom import load_placement, save_placement
    from topoloom.preload.verify import RankAffinity
    from topoloom.preload.verify.observed_placement import (
        find_observed_slots,
        make_observed_placement,
    )
    from topoloom.tasks.launch_placement import load_host_placement

    planned = load_host_placement(Path("x.json"), None, 1, None)
    seen = [RankAffinity(f"cn{i // 2}.site", "0-7", 0, "host", "") for i in range(8)]
    found = find_observed_slots(seen, planned)
    assert "8 ranks may run on several slots" in found.remark()
    made = make_observed_placement(load_placement("x.json"), found.slots)
    save_placement("now.json", made)
    assert json.loads(Path("now.json").read_text())["placement"] == [*range(8)]
    judged = topoloom("judge", "g.npz", "now.json", "--json").json
    assert judged["hop_bytes"] == judged["block"]["hop_bytes"]
