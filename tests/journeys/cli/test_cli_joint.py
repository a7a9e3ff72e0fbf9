# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom joint` places several jobs on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import load_placement

if TYPE_CHECKING:
    from tests.conftest import Command

TORUS = ["-m", "torus:4x4", "--work", "200000"]


@pytest.fixture
def topoloom_with_jobs(topoloom: Command) -> Command:
    """Write two patterns, and allocations like the colors of a chessboard."""
    topoloom("pattern", "generate", "ring", "-n", 8, "--bytes", 1000, "-o", "a.npz")
    topoloom("pattern", "generate", "binomial", "-n", 8, "--bytes", 1000, "-o", "b.npz")
    for color, name in enumerate(("black", "white")):
        fields = [n for n in range(16) if (n // 4 + n) % 2 == color]
        Path(f"{name}.txt").write_text("".join(f"{n}\n" for n in fields))
    return topoloom


def test_jobs_share_links_of_simulated_switches(topoloom_with_jobs: Command) -> None:
    free = "bandwidth=10GB/s,latency=100ns+node:1,startup=0us,latency=0us"
    topoloom_with_jobs(
        "pattern", "generate", "ring", "-n", 8, "--bytes", 100_000, "-o", "long.npz"
    )
    words = ["joint", "long.npz@black.txt", "long.npz@white.txt"]
    on = ["-m", f"torus:4x4,{free}", "--with", "switches"]
    for job in topoloom_with_jobs(*words, *on, "--json").json["jobs"]:
        times = job["simulated_seconds"]
        # Placed jointly, jobs share no links; placed separately, they share all links.
        assert times["jointly"] == times["alone"]
        assert times["apart"] == pytest.approx(2 * times["alone"], rel=0.03)
        assert times["alone"] == pytest.approx(10e-6 * 4096 / 4064 + 0.2e-6, rel=0.01)
    assert "simulated in switches" in topoloom_with_jobs(*words, *on).out
    for wrong, message in (
        (["-m", "torus:4x4", "--with", "switches"], "no links with bandwidths"),
        ([*on[:2], "--with", "simgrid"], "simulated only with switches, not with"),
        ([*on[:2], "--switch", "quantum"], "--switch is for --with switches"),
    ):
        refused = topoloom_with_jobs(*words, *wrong)
        assert refused.status == 2
        (line,) = refused.err.splitlines()
        assert message in line


def test_jobs_with_separate_slots_do_not_interfere(topoloom_with_jobs: Command) -> None:
    words = ["joint", "a.npz@black.txt", "a.npz@white.txt", *TORUS]
    found = topoloom_with_jobs(*words, "-o", "placed", "--json").json
    assert [job["job"] for job in found["jobs"]] == ["a-1", "a-2"]
    assert [job["alone"] for job in found["jobs"]] == [1000, 1000]
    assert found["apart"]["objective"] == 2000
    assert found["jointly"]["objective"] == 1000
    for job in found["jobs"]:
        placed = load_placement(job["output"])
        assert placed.allocation.nodes.tolist() == job["nodes"]
        assert placed.objective == "congestion"
        assert placed.values["objective"] == job["jointly"]
    printed = topoloom_with_jobs(*words)
    assert printed.err == ""
    assert "2 jobs on 4x4 torus; objective: congestion" in printed.out
    assert "+50.0 %" in printed.out
    assert (
        "  objective  congestion: other jobs load links; the machine gives no "
        in printed.out
    )


@pytest.mark.parametrize(
    ("machine", "objective"),
    [
        ("torus:4x4", "congestion"),
        ("tree:4:4", "congestion"),
        ("torus:4x4,bandwidth=1GB/s", "time"),
        ("torus:4x4,bandwidth=1GB/s,latency=1s", "time"),
        ("tree:4:4,bandwidth=1GB/s:2GB/s", "time"),
        ("mesh:4x2,bandwidth=1GB/s+node:2", "time"),
    ],
)
def test_map_with_background_has_the_objective_of_joint(
    topoloom_with_jobs: Command, machine: str, objective: str
) -> None:
    on, quick = ["-m", machine], ["--work", 0, "--json"]
    topoloom_with_jobs("map", "a.npz", *on, "--mapper", "block", "-o", "a.json")
    beside = ["--background", "a.npz,a.json", "--mapper", "block"]
    mapped = topoloom_with_jobs("map", "b.npz", *on, *beside, *quick)
    both = topoloom_with_jobs(
        "joint", "a.npz", "b.npz", *on, "--mapper", "block", *quick
    )
    assert mapped.json["objective"] == both.json["objective"] == objective
    for command in ("map", "joint"):
        shown = topoloom_with_jobs(command, "--help").out
        assert "known, else congestion" in " ".join(shown.split())


def test_jobs_are_placed_for_time_if_bandwidths_are_known(
    topoloom_with_jobs: Command,
) -> None:
    words = ["a.npz@black.txt", "a.npz@white.txt", "-m", "torus:4x4,bandwidth=1GB/s"]
    printed = topoloom_with_jobs("joint", *words).out
    assert "objective: time" in printed
    assert (
        "  objective  time: other jobs load links, whose bandwidths are known\n"
        in printed
    )
    assert "  machine    assumed: a message over the network takes its" in printed
    found = topoloom_with_jobs("joint", *words, "--json").json
    # One message of 1000 bytes: 1 us on a link, 0.5 us startup and 0.5 us node latency.
    assert [job["alone"] for job in found["jobs"]] == [pytest.approx(2e-6)] * 2


def test_jobs_are_placed_in_a_common_pool(topoloom_with_jobs: Command) -> None:
    words = ["joint", "a.npz", "b.npz", *TORUS, "-o", "placed"]
    found = topoloom_with_jobs(*words, "--json").json
    taken = [node for job in found["jobs"] for node in job["nodes"]]
    assert sorted(taken) == list(range(16))
    assert found["jointly"]["objective"] <= found["apart"]["objective"]
    for name in ("a", "b"):
        judged = topoloom_with_jobs(
            "judge", f"{name}.npz", f"placed/{name}.json", "--json"
        ).json
        assert judged["congestion_max"] <= found["jointly"]["objective"]


def test_placements_of_jobs_contain_host_names(topoloom_with_jobs: Command) -> None:
    words = ["a.npz@n[00-07]", "b.npz@n[08-15]", *TORUS, "-o", "placed"]
    assert topoloom_with_jobs("joint", *words).status == 0
    assert load_placement("placed/b.json").hosts == tuple(
        f"n{node:02}" for node in range(8, 16)
    )
    pool = ["a.npz", "b.npz", *TORUS, "-a", "n[00-15]", "-o", "placed"]
    assert topoloom_with_jobs("joint", *pool).status == 0
    placed = load_placement("placed/a.json")
    assert placed.hosts == tuple(f"n{n:02}" for n in placed.allocation.nodes)


def test_a_budget_is_shared_by_all_searches(topoloom_with_jobs: Command) -> None:
    words = ["joint", "a.npz@black.txt", "b.npz@white.txt", *TORUS, "--json"]
    one, two = (
        topoloom_with_jobs(*words, "--work", 5000, "--threads", n).json for n in (1, 2)
    )
    assert one == two
    assert topoloom_with_jobs(*words, "--work", 0).status == 0
    fast = [*words, "-m", "torus:4x4,bandwidth=1GB/s"]
    assert topoloom_with_jobs(*fast, "--time", "0s", "--objective", "time").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "JOB is missing"),
        (["a.npz"], "'a.npz' is only one job; name more"),
        (["a.npz@n[0-7]", "b.npz"], "'b.npz' has no allocation"),
        (["a.npz@n[0-7]", "b.npz@n[7-14]"], "node 7 is in the allocations of both a"),
        (["a.npz@n[0-7]", "a.npz@n[7-14]"], "of both a-1 and a-2"),
        (["a.npz@n[0-7]", "b.npz@n[8-12]"], "b.npz has 8 ranks"),
        (["a.npz@n[0-7]", "b.npz@"], "the allocation is empty"),
        (["a.npz@n[0-7]", "b.npz@n[8-16]"], "16"),
        (["a.npz@n[0-7]", "b.npz@n[8-15]", "--nodes", "8"], "leave it out"),
        (["a.npz", "b.npz", "a.npz"], "have 24 ranks together"),
        (["a.npz", "b.npz", "-a", "empty"], "empty"),
        (["a.npz", "empty"], "empty: the file is empty"),
        (["a.npz", "none.npz"], "none.npz: No such file"),
        (["a.npz", "b.npz", "--objective", "speed"], "no objective 'speed'"),
        (["a.npz", "b.npz", "--mapper", "gretel"], "no mapper 'gretel'"),
        (["a.npz", "b.npz", "--time", "-1s"], "-1s"),
    ],
)
def test_invalid_joint_input_is_refused_in_one_line(
    topoloom_with_jobs: Command, words: list[str], message: str
) -> None:
    Path("empty").write_text("")
    outcome = topoloom_with_jobs("joint", *words, *TORUS)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
