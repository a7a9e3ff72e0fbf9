# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine sweep` simulates switches under load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

SWEEP = ("machine", "sweep", "torus:4x4")


def test_latencies_grow_with_the_load_until_saturation(
    topoloom: Command,
) -> None:
    words = ["--vcs", "2", "--buffer", "8", "--packet", "4", "--seed", "1"]
    words += ["--router", "input-queued", "--loads", "0.05,0.2,0.9", "--json"]
    found = topoloom(*SWEEP, *words).json
    low, middle, high = found["loads"]
    assert [point["offered"] for point in found["loads"]] == [0.05, 0.2, 0.9]
    # A packet takes 1 cycle, and 4 cycles for each of 2.13 links and an exit. Its last
    # flit of 4 arrives 3 cycles later.
    assert low["latency_mean"] == pytest.approx(1 + 4 * (1 + 32 / 15) + 3, rel=0.05)
    assert low["latency_mean"] < middle["latency_mean"] < high["latency_mean"]
    assert low["latency_mean"] < low["latency_p99"]
    assert (low["saturated"], middle["saturated"], high["saturated"]) == (0, 0, 1)
    assert middle["accepted"] == pytest.approx(0.2, rel=0.03)
    assert high["accepted"] < 0.8
    assert topoloom(*SWEEP, *words).json == found


def test_a_figure_is_drawn_and_a_table_printed(
    topoloom: Command, tmp_path: Path
) -> None:
    words = (
        "--loads",
        "0.1,0.9",
        "--traffic-pattern",
        "shift(by=5)",
        "--figure",
        "a.svg",
    )
    printed = topoloom(*SWEEP, *words)
    assert (printed.status, printed.err) == (0, "")
    assert "16 nodes, 16 switches, shift(by=5) traffic" in printed.out
    assert "latency, cycles" in (tmp_path / "a.svg").read_text()


def test_bursts_increase_latency_and_a_window_limits_packets(
    topoloom: Command,
) -> None:
    points = {}
    for injection in ("bernoulli", "poisson", "on-off(length=100)"):
        words = ("--loads", "0.2", "--injection", injection, "--json")
        found = topoloom(*SWEEP, *words).json
        assert found["injection"] == injection
        (points[injection],) = found["loads"]
        assert points[injection]["accepted"] == pytest.approx(0.2, rel=0.04)
    calm, poisson, bursts = (point["latency_mean"] for point in points.values())
    assert calm <= poisson < bursts / 1.2

    # Little's law: the packets without a reply equal the window.
    words = ("--loads", "1", "--injection", "closed(window=3)", "--json")
    (full,) = topoloom(*SWEEP, *words).json["loads"]
    assert full["saturated"]
    open_packets = full["accepted"] / 4 * 2 * full["latency_mean"]
    assert open_packets == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vcs", "1"], "packets could wait for each other in a cycle: (0,0) +x, "),
        (["--vcs", "99"], "virtual channels must be 1 to 32, not 99"),
        (["--loads", "0"], "a load must be above 0"),
        (["--loads", "1.1"], "a load must be above 0"),
        (["--loads", ""], "--loads is empty"),
        (["--traffic-pattern", "uniforms"], "did you mean 'uniform'?"),
        (["--injection", "bernouli"], "did you mean 'bernoulli'?"),
        (["--injection", "on-off(length=0)"], "length"),
        (["--injection", "on-off(peak=10)", "--loads", "0.2"], "raise their peak"),
        (["--injection", "closed(window=0)"], "window"),
        (
            ["--injection", "closed", "--traffic-pattern", "copies", "--router", "voq"],
            "multicasts have no replies",
        ),
        (["--router", "output"], "no router 'output'; there are: input-queued, voq"),
        (["--routing", "adaptive"], "no routing 'adaptive'"),
        (
            ["--routing", "ugal"],
            "need the groups of a dragonfly, but 'torus:4x4' has none",
        ),
        (["--routing", "minimal-adaptive", "--vcs", "2"], "needs 3 virtual channels"),
        (["--arbiter", "fifo"], "no arbiter 'fifo'; there are: round-robin, age"),
        (["--allocator", "pim"], "no allocator 'pim'; there are: islip, wavefront"),
        (["--iterations", "0"], "--iterations must be 1 or more, not 0"),
        (["--arbiter", "age", "--allocator", "wavefront"], "only one iteration of"),
        (["--router", "voq", "--vcs", "9"], "are 45; an input has at most 32"),
        (
            ["--switching", "cut-through", "--buffer", "3"],
            "a buffer of 3 flits cannot hold a packet of 4",
        ),
        (["--figure", "a.doc"], "a.doc"),
    ],
)
def test_invalid_sweep_options_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    refused = topoloom(*SWEEP, *words)
    assert refused.status == 2
    assert refused.out == ""
    (line,) = refused.err.splitlines()
    assert message in line


def test_deadlocked_packets_are_detected(topoloom: Command) -> None:
    ring = ("machine", "sweep", "torus:8", "--traffic-pattern", "shift(by=3)")
    few = ("--vcs", "1", "--buffer", "2", "--loads", "0.01,1", "--json")
    stalled = topoloom(*ring, *few, "--watch")
    assert stalled.status == 1
    (line,) = stalled.err.splitlines()
    assert "with load 1 packets wait for each other in cycle" in line
    assert line.count("on virtual channel 0 of") == 8
    assert line.endswith("which waits for the first")
    assert [point["offered"] for point in stalled.json["loads"]] == [0.01]
    # A second virtual channel avoids the deadlock only because a dateline separates the
    # two.
    two = ("--vcs", "2", "--buffer", "2", "--loads", "1", "--json")
    assert topoloom(*ring, *two, "--watch").status == 1
    assert topoloom(*ring, *two).json["stalled"] is None


def test_a_dragonfly_is_simulated_with_its_routing(topoloom: Command) -> None:
    words = (
        "--traffic-pattern",
        "shift(by=8)",
        "--loads",
        "0.5",
        "--vcs",
        "6",
        "--json",
    )
    accepted = {}
    for routing in ("minimal", "valiant", "ugal"):
        machine = f"dragonfly:9x1x4,nodes=2,routing={routing}"
        found = topoloom("machine", "sweep", machine, *words).json
        assert found["routing"] == ("own" if routing == "minimal" else routing)
        accepted[routing] = found["loads"][0]["accepted"]
    # All 8 nodes of a group send over one channel to the next group.
    assert accepted["minimal"] == pytest.approx(1 / 8, rel=0.05)
    assert accepted["valiant"] > 0.3
    assert accepted["ugal"] > 0.3


def test_measures_of_sources_latencies_and_time_are_consistent(
    topoloom: Command,
) -> None:
    words = ("--loads", "0.2", "--router", "voq", "--arbiter", "age", "--json")
    found = topoloom(*SWEEP, *words).json
    assert (found["router"], found["arbiter"]) == ("voq", "age")
    (point,) = found["loads"]
    histogram = point["latency_histogram"]
    assert sum(histogram["packets"]) == point["packets"]
    assert len(histogram["packets"]) <= 40
    assert 0.15 < point["source_min"] <= 0.2 <= point["source_max"] < 0.25
    assert 0.98 < point["fairness"] <= 1
    used = [sample["channel_use"] for sample in point["series"]]
    # Each node sends 0.2 flits per cycle over 2.13 links and an exit. A router has 5
    # outputs.
    assert sum(used) / len(used) == pytest.approx(0.2 * (32 / 15 + 1) / 5, rel=0.05)
    assert all(0 < sample["buffer_fill"] < 0.2 for sample in point["series"])
