# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom network`: loads on simulated switches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

SWEEP = ("network", "sweep", "--machine", "torus:4x4")


def test_latencies_grow_with_the_load_until_sources_fall_behind(
    topoloom: Command,
) -> None:
    words = ["--vcs", "2", "--buffer", "8", "--packet", "4", "--seed", "1"]
    words += ["--router", "input-queued", "--loads", "0.05,0.2,0.9", "--json"]
    found = topoloom(*SWEEP, *words).json
    low, middle, high = found["loads"]
    assert [point["offered"] for point in found["loads"]] == [0.05, 0.2, 0.9]
    # From router to router 4 cycles, the last 3 flits behind the first, 2.13 links.
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
    words = ("--loads", "0.1,0.9", "--traffic", "shift(by=5)", "--figure", "a.svg")
    printed = topoloom(*SWEEP, *words)
    assert (printed.status, printed.err) == (0, "")
    assert "16 nodes, 16 switches, shift(by=5) traffic" in printed.out
    assert "latency, cycles" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vcs", "1"], "packets could wait for each other in a circle: (0,0) +x, "),
        (["--vcs", "99"], "virtual channels must be 1 to 32, not 99"),
        (["--loads", "0"], "a load must be above 0"),
        (["--loads", "1.1"], "a load must be above 0"),
        (["--loads", ""], "--loads '' is not a list of numbers"),
        (["--traffic", "uniforms"], "did you mean 'uniform'?"),
        (["--router", "output"], "no router 'output'; there are: input-queued"),
        (
            ["--switching", "cut-through", "--buffer", "3"],
            "a buffer of 3 flits cannot hold a packet of 4",
        ),
        (["--figure", "a.doc"], "a.doc"),
    ],
)
def test_bad_input_is_refused_in_a_line(
    topoloom: Command, words: list[str], said: str
) -> None:
    refused = topoloom(*SWEEP, *words)
    assert refused.status == 2
    assert refused.out == ""
    (line,) = refused.err.splitlines()
    assert said in line
