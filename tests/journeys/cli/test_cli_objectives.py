# SPDX-License-Identifier: BSD-3-Clause
"""Objectives, phases and background traffic on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import Machine, load_graph, load_placement
from topoloom.graphs import load_phases
from topoloom.placements import objective_value
from topoloom.tasks.objective import check_objective

if TYPE_CHECKING:
    from tests.conftest import Command

TORUS = ["-m", "torus:4x4"]
TIMED = ["-m", "torus:4x4,bandwidth=1GB/s"]
OBJECTIVES = (
    "congestion",
    "congestion-soft",
    "time",
    "weighted(hop-bytes=1,congestion=2)",
)


@pytest.fixture
def topoloom_with_pattern(topoloom: Command) -> Command:
    topoloom(
        "pattern",
        "generate",
        "bruck",
        "-n",
        16,
        "--phases",
        "--bytes",
        1000,
        "-o",
        "p.npz",
    )
    return topoloom


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_map_minimizes_the_objective_and_records_it(
    topoloom_with_pattern: Command, objective: str
) -> None:
    machine = TIMED if objective == "time" else TORUS
    words = [*machine, "--objective", objective, "-o", "x.json"]
    mapped = topoloom_with_pattern("map", "p.npz", *words)
    assert (mapped.status, mapped.err) == (0, "")
    row = "predicted time" if objective == "time" else f"{objective} by phase"
    assert row in mapped.out
    assert "  phases   4\n" in mapped.out
    placed = load_placement("x.json")
    assert placed.objective == objective
    on = (load_graph("p.npz"), placed.allocation, placed.placement)
    value = objective_value(*on, objective=objective, phases=load_phases("p.npz"))
    measure = "predicted_seconds" if objective == "time" else "objective"
    assert placed.values[measure] == value


def test_congestion_as_objective_is_printed_only_once(topoloom: Command) -> None:
    topoloom("pattern", "generate", "bruck", "-n", 16, "--bytes", 1000, "-o", "p.npz")
    words = ["map", "p.npz", *TORUS, "--objective", "congestion"]
    found = topoloom(*words, "--json").json
    assert found["objective"] == "congestion"
    assert "objective" not in found["values"]
    printed = topoloom(*words)
    assert "phase" not in printed.out
    table = printed.out.partition("  advice  ")[0]
    assert table.count("congestion") == 1
    block = topoloom("judge", "p.npz", *TORUS, "--json").json
    assert found["values"]["congestion_max"] <= block["congestion_max"]


def test_phases_do_not_change_hop_bytes(topoloom_with_pattern: Command) -> None:
    printed = topoloom_with_pattern("map", "p.npz", *TORUS)
    assert "phase" not in printed.out
    assert (
        "objective"
        not in topoloom_with_pattern("map", "p.npz", *TORUS, "--json").json["values"]
    )


def test_more_hop_bytes_than_block_are_reported_only_if_relevant(
    topoloom: Command,
) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "4x4", "-o", "p.npz")
    words = ["map", "p.npz", *TORUS, "--mapper", "random"]
    assert "fewer hop-bytes" in topoloom(*words).err
    assert "less congestion" in topoloom(*words, "--objective", "congestion").err
    timed = ["map", "p.npz", *TIMED, "--mapper", "random"]
    assert "less predicted time" in topoloom(*timed, "--objective", "time").err
    # Random order has more hop-bytes than block order here, but less congestion.
    ragged = ["map", "p.npz", "-m", "torus:8x8", "--nodes", 16]
    assert topoloom(*ragged, "--mapper", "random").err != ""
    aimed = ["--mapper", "random", "--objective", "congestion"]
    assert topoloom(*ragged, *aimed).err == ""


@pytest.mark.parametrize("objective", ["hop-bytes", "congestion", "time"])
def test_compare_marks_the_best_by_the_objective(
    topoloom_with_pattern: Command, objective: str
) -> None:
    machine = TIMED if objective == "time" else TORUS
    words = ["compare", "p.npz", *machine, "--objective", objective]
    found = topoloom_with_pattern(
        *words, "--mappers", "random,mahd+swap,auto", "--json"
    ).json
    measures = {"hop-bytes": "hop_bytes", "time": "predicted_seconds"}
    name = measures.get(objective, "objective")
    values = {each["mapper"]: each[name] for each in found["results"]}
    assert found["objective"] == objective
    assert found["best"] == min(values, key=values.__getitem__)
    assert min(values.values()) == values["auto"]
    for each in found["results"]:
        gain = 100 * (values["block"] - each[name]) / values["block"]
        assert each["gain_percent"] == pytest.approx(gain)
    printed = topoloom_with_pattern(*words, "--mappers", "auto").out
    assert (f"; objective: {objective} by phase" in printed) is (name != "hop_bytes")


def test_the_phases_of_a_pattern_are_counted(topoloom_with_pattern: Command) -> None:
    assert (
        "\n  phases             4\n"
        in topoloom_with_pattern("pattern", "show", "p.npz").out
    )
    assert (
        topoloom_with_pattern("pattern", "show", "p.npz", "--json").json["phases"] == 4
    )
    topoloom_with_pattern("pattern", "import", "p.npz", "-o", "again.npz")
    assert len(load_phases("again.npz")) == 4
    plain = topoloom_with_pattern(
        "pattern", "generate", "bruck", "-n", 16, "--json"
    ).json
    assert plain["phases"] == 1


def test_a_job_avoids_the_links_of_another(topoloom: Command) -> None:
    """The other job, the background, uses the first row."""
    topoloom("pattern", "generate", "ring", "-n", 2, "--bytes", 1000, "-o", "p.npz")
    Path("far.txt").write_text("0\n3\n")
    mesh = ["-m", "mesh:2x4"]
    topoloom(
        "map", "p.npz", *mesh, "-a", "far.txt", "--mapper", "block", "-o", "1.json"
    )
    topoloom("judge", "p.npz", "1.json", "--write-loads", "l.json")
    document = json.loads(Path("l.json").read_text())
    assert document["machine"] == "mesh:2x4"
    assert sorted(set(document["loads"])) == [0, 1000]
    values = []
    for background in (["l.json"], ["p.npz,1.json"], ["l.json", "p.npz,1.json"]):
        words = [word for name in background for word in ("--background", name)]
        mapped = topoloom(
            "map", "p.npz", *mesh, "--objective", "congestion",
            *words, "--json",
        )  # fmt: skip
        assert not set(mapped.json["placement"]) <= {0, 1, 2, 3}
        values.append(mapped.json["values"]["objective"])
    assert values == [1000, 1000, 2000]
    printed = topoloom(
        "map", "p.npz", *mesh, "--objective", "congestion",
        "--background", "l.json",
    )  # fmt: skip
    assert "congestion with other jobs" in printed.out
    assert "  background  l.json\n" in printed.out


def place_two_jobs(topoloom: Command) -> None:
    """Place a ring on row 0 of a mesh, and one on its ends and row 1."""
    topoloom("pattern", "generate", "ring", "-n", 2, "--bytes", 1000, "-o", "p.npz")
    mesh = ["-m", "mesh:2x4,bandwidth=1GB/s,latency=1us", "--mapper", "block"]
    topoloom("map", "p.npz", *mesh, "-a", "n[0,3]", "-o", "far.json")
    topoloom("map", "p.npz", *mesh, "-a", "n[1-2]", "-o", "near.json")
    topoloom("judge", "p.npz", "far.json", "--write-loads", "far-loads.json")


def test_a_placement_is_judged_with_the_traffic_of_other_jobs(
    topoloom: Command,
) -> None:
    place_two_jobs(topoloom)
    judge = ["judge", "p.npz", "near.json", "--hottest", 6]
    alone = topoloom(*judge, "--json").json
    assert "congestion_with_background" not in alone
    assert all("background_share" not in link for link in alone["hottest_links"])
    for background in ("far-loads.json", "p.npz,far.json"):
        with_others = topoloom(*judge, "--background", background, "--json").json
        assert with_others["congestion_max"] == alone["congestion_max"] == 1e-6
        assert with_others["congestion_with_background"] == 2e-6
        gained = with_others["predicted_seconds_with_background"]
        assert gained == pytest.approx(alone["predicted_seconds"] + 1e-6)
        links = with_others["hottest_links"]
        shares = [link["background_share"] for link in links]
        assert shares == [0.5, 0.5, 1, 1, 1, 1]
        assert [link["bytes"] for link in links] == [2000, 2000, *[1000] * 4]
        # The only placement is optimal.
        assert with_others["gap"]["congestion_with_background"] == pytest.approx(1)
    twice = [word for _ in range(2) for word in ("--background", "far-loads.json")]
    assert topoloom(*judge, *twice, "--json").json["congestion_with_background"] == 3e-6
    printed = topoloom(*judge, "--background", "far-loads.json").out
    assert "congestion with other jobs" in printed
    assert "predicted time with other jobs" in printed
    assert printed.count(" 50 %\n") == 2
    assert printed.count("100 %\n") == 4


def test_bounds_include_the_traffic_of_other_jobs(topoloom: Command) -> None:
    place_two_jobs(topoloom)
    bound = ["bound", "p.npz", "near.json"]
    alone = topoloom(*bound, "--json").json
    found = topoloom(*bound, "--background", "far-loads.json", "--json").json
    assert "congestion_max" not in found
    assert found["hop_bytes"] == alone["hop_bytes"]
    for name, before in (
        ("congestion_with_background", "congestion_max"),
        ("predicted_seconds_with_background", "predicted_seconds"),
    ):
        assert found[name]["value"] == pytest.approx(alone[before]["value"] + 1e-6)
        assert alone[before]["at_least"] < found[name]["at_least"]
        assert found[name]["at_least"] <= found[name]["value"]
    assert "--lp does not include --background" in run_refused(
        topoloom, *bound, "--background", "far-loads.json", "--lp"
    )


def test_a_report_lists_the_shares_of_other_jobs(topoloom: Command) -> None:
    place_two_jobs(topoloom)
    report = ["report", "near.json", "-o", "r.html"]
    alone = topoloom(*report, "--json").json["placements"]
    assert all("busiest_links" not in view for view in alone)
    assert "Links shared with other jobs" not in Path("r.html").read_text()
    report += ["--background", "far-loads.json"]
    for view in topoloom(*report, "--json").json["placements"]:
        assert view["congestion_with_background"] == 2e-6
        links = view["busiest_links"]
        assert [link["background_share"] for link in links] == [0.5, 0.5, 1, 1, 1, 1]
    page = Path("r.html").read_text()
    assert "Links shared with other jobs" in page
    assert page.count('<td class="number">50 %</td>') == 2
    assert page.count('<td class="number">100 %</td>') == 4


@pytest.mark.parametrize("command", ["judge p.npz", "bound p.npz", "report -o r.html"])
def test_invalid_backgrounds_are_refused_in_one_line(
    topoloom: Command, command: str
) -> None:
    place_two_jobs(topoloom)
    words = [*command.split(), "near.json", "--background"]
    assert "none.json: No such file" in run_refused(topoloom, *words, "none.json")
    topoloom("map", "p.npz", "-m", "mesh:2x4", "--mapper", "block", "-o", "other.json")
    wrong = run_refused(topoloom, *words, "p.npz,other.json")
    assert "other.json: is for mesh:2x4, not for mesh:2x4,bandwidth" in wrong


def run_refused(topoloom: Command, *words: object) -> str:
    outcome = topoloom(*words)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("topoloom: ")
    return outcome.err


@pytest.mark.parametrize("command", ["map", "compare"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--objective", "timed"],
            "no objective 'timed' (did you mean 'time'?); there are: auto, ",
        ),
        (["--objective", ""], "--objective is empty"),
        (["--objective", "weighted(time=0)"], "the weight must be a number above 0"),
        (
            ["--objective", "hop-bytes", "--background", "l.json"],
            "background traffic does not affect hop-bytes",
        ),
        (["--objective", "time", "--background", "none.json"], "none.json: No such"),
        (["--objective", "time", "--background", "empty"], "empty: the file is empty"),
        (
            ["--objective", "time", "--background", "p.npz"],
            "p.npz is a communication graph",
        ),
        (["--objective", "time", "--background", "5x4.json"], "is for torus:5x4, not"),
        (["--objective", "time", "--background", "p.npz,5x4.x"], "is for torus:5x4"),
        (["--objective", "time", "--background", "q.npz,5x4.x"], "but q.npz has 3"),
        (["--objective", "time", "--background", "p.npz,"], "is not GRAPH,PLACEMENT"),
        (["--objective", "time", "--background", "bad.json"], "loads[0] is -1"),
    ],
)
def test_invalid_objectives_are_refused_in_one_line(
    topoloom_with_pattern: Command, command: str, words: list[str], message: str
) -> None:
    topoloom_with_pattern(
        "map", "p.npz", "-m", "torus:5x4", "--mapper", "block", "-o", "5x4.x"
    )
    topoloom_with_pattern("judge", "p.npz", "5x4.x", "--write-loads", "5x4.json")
    topoloom_with_pattern("pattern", "generate", "ring", "-n", 3, "-o", "q.npz")
    Path("empty").write_text("")
    bad = json.loads(Path("5x4.json").read_text()) | {"machine": "torus:4x4"}
    Path("bad.json").write_text(json.dumps({**bad, "loads": [-1] * 64}))
    assert message in run_refused(
        topoloom_with_pattern, command, "p.npz", *TORUS, *words
    )


def test_options_that_require_hop_bytes_are_named(
    topoloom_with_pattern: Command,
) -> None:
    topoloom_with_pattern("map", "p.npz", *TORUS, "-o", "x.json")
    words = ["map", "p.npz", "--objective", "congestion"]
    assert "share slots are placed for hop-bytes only" in run_refused(
        topoloom_with_pattern, *words, "-m", "torus:3x3", "--imbalance", 0
    )
    assert (
        "with an earlier placement, ranks are placed for hop-bytes only"
        in run_refused(topoloom_with_pattern, *words, *TORUS, "--placement", "x.json")
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ring", "-n", 4], "ring has one phase; several have recursive-doubling"),
        (["stencil2d", "--grid", "4x4"], "stencil2d has one phase"),
    ],
)
def test_only_some_patterns_have_phases(
    topoloom_with_pattern: Command, words: list[str], message: str
) -> None:
    assert message in run_refused(
        topoloom_with_pattern, "pattern", "generate", *words, "--phases", "-o", "q.npz"
    )
    assert not Path("q.npz").exists()


@pytest.mark.parametrize("objective", ["time", "weighted(hop-bytes=1,time=1)"])
def test_time_objectives_are_refused_only_without_bandwidths(
    topoloom: Command, objective: str
) -> None:
    check_objective(objective)
    check_objective(objective, Machine("torus:2x2,bandwidth=1GB/s+node:4"))
    words = ["--hosts", "a,b", "--objective", objective, "--", "mpirun", "true"]
    refused = topoloom("run", "-m", "torus:2+node:4", *words)
    assert refused.status == 2
    assert "the machine 'torus:2+node:4' gives none" in refused.err


#: Block order is within 0.1 % of the best predicted time, which has more hop-bytes.
LATENCY_BOUND = """\
0 1000 0 100 100 1000
1000 0 0 1000 0 0
1000 0 0 0 0 0
0 0 8 0 0 0
1000 100 0 0 0 1000
100 1000 0 1000 0 0
"""


def test_a_gain_below_the_error_of_the_model_is_rejected_and_reported(
    topoloom: Command,
) -> None:
    Path("g.txt").write_text(LATENCY_BOUND)
    words = ["map", "g.txt", "-m", "tree:2:3,bandwidth=10GB/s,latency=1us"]
    mapped = topoloom(*words)
    assert mapped.status == 0
    assert (
        "topoloom: the best placement by the objective gains less than the error of "
        "the model: 6.633 us; kept 6.637 us. Name the objective to get it: "
        "--objective time"
    ) in mapped.err
    document = topoloom(*words, "--json").json
    assert document["rejected"]["reason"] == "no gain"
    assert document["placement"] == [*range(6)]
    named = topoloom(*words, "--objective", "time")
    assert "gains less" not in named.err
    assert "6.633 us" in named.out


@pytest.mark.parametrize(("more", "is_kept"), [(10_000, True), (50_000, False)])
def test_block_order_is_kept_unless_a_bandwidth_bound_gain_exceeds_a_percent(
    more: int, is_kept: bool, topoloom: Command
) -> None:
    """Ranks 0 and 2, and 1 and 3, exchange more than the others: they share nodes."""
    rows = [
        [0 if a == b else 1_000_000 + more * ((a - b) % 2 == 0) for b in range(4)]
        for a in range(4)
    ]
    Path("g.txt").write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))
    words = ["map", "g.txt", "-m", "tree:2,bandwidth=1GB/s,latency=1us+node:2"]
    document = topoloom(*words, "--json").json
    assert (document["placement"] == [0, 1, 2, 3]) == is_kept
    assert ("rejected" in document) == is_kept
    best = topoloom(*words, "--objective", "time", "--json").json
    assert best["placement"][0] // 2 == best["placement"][2] // 2
