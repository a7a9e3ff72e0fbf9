# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map`, `compare` and `report` end with one sentence of advice."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from markupsafe import escape

from topoloom.graphs import Profile, ring

if TYPE_CHECKING:
    from tests.conftest import Command

RANKS = 16
MACHINE = "torus:4x4,bandwidth=1GB/s,latency=1us"


@pytest.fixture(autouse=True)
def recorded_graph(topoloom: Command) -> None:
    """Write a recording of shuffled neighbors; ranks compute for 9 of 10 s or less."""
    order = np.random.default_rng(1).permutation(RANKS)
    traffic = np.zeros((RANKS, 7), dtype=np.int64)
    traffic[:, 2], traffic[:, 3] = order, np.roll(order, 1)
    traffic[:, 4:] = 1 << 20, 1, -1
    run = np.full(RANKS, 10.0)
    profile = Profile(
        rank_count=RANKS,
        traffic=traffic,
        records=np.zeros((0, 6), dtype=np.int64),
        communicators=[],
        run_seconds=run,
        mpi_seconds=np.linspace(1.0, 8.0, RANKS),
    )
    profile.save("r.npz")


def read_advice(out: str) -> str:
    """Return the advice, which must be the last line."""
    name, _, sentence = out.splitlines()[-1].strip().partition("  ")
    assert name == "advice", out
    return sentence.strip()


def test_the_advice_of_map_has_the_printed_gain_and_the_recorded_times(
    topoloom: Command,
) -> None:
    words = ("map", "r.npz", "-m", MACHINE, "--mapper", "gge+swap")
    done = topoloom(*words, "-o", "x.json")
    sentence = read_advice(done.out)
    gained = next(line for line in done.out.splitlines() if "predicted time" in line)
    percent = float(gained.rsplit("+", 1)[1].removesuffix(" %"))
    assert f"placement helps: {percent} % less predicted communication time" in sentence
    assert "communication is at most 10.0 % of the recorded run time" in sentence
    assert "topoloom export x.json --to FORMAT" in sentence
    advice = topoloom(*words, "--json").json["advice"]
    assert advice["situation"] == "gain"
    assert advice["mpi_share_at_most"] == pytest.approx(0.1)
    expected = advice["mpi_share_at_most"] * advice["gain_percent"]
    assert advice["program_gain_at_most_percent"] == pytest.approx(expected)


def test_compare_and_report_give_the_advice_of_map(topoloom: Command) -> None:
    words = ("compare", "r.npz", "-m", MACHINE, "--mappers", "gge+swap")
    compared = topoloom(*words)
    suggested = read_advice(compared.out).partition("use it with: ")[2]
    command = shlex.split(suggested.removesuffix(" -o FILE"))[1:]
    mapped = topoloom(*command, "-o", "x.json", "--json").json["advice"]
    values = ("measure", "before", "after", "mpi_share_at_most")
    best = topoloom(*words, "--json").json["advice"]
    assert [best[name] for name in values] == [mapped[name] for name in values]
    reported = topoloom("report", "x.json", "-o", "page.html", "--json").json["advice"]
    assert [reported[name] for name in values] == [mapped[name] for name in values]
    shown = topoloom("report", "x.json", "-o", "page.html").out
    sentence = read_advice(shown)
    assert sentence.startswith("placement helps: ")
    page = Path("page.html").read_text(encoding="utf-8")
    assert f'<p class="advice">{escape(sentence)}</p>' in page


def test_short_messages_are_called_latency_bound(topoloom: Command) -> None:
    pattern = ("stencil2d", "--grid", "4x4", "--bytes", "8")
    topoloom("pattern", "generate", *pattern, "-o", "s.npz")
    sentence = read_advice(
        topoloom("map", "s.npz", "-m", MACHINE, "--mapper", "block").out
    )
    assert sentence.startswith("latency-bound: startup and latency are 100 % of ")
    assert "no placement has less predicted communication time" in sentence


def test_a_graph_without_times_gets_no_clause_about_the_program(
    topoloom: Command,
) -> None:
    from topoloom import save_graph

    save_graph(Path("old.npz"), ring(RANKS, bytes=1 << 20))
    found = topoloom("map", "old.npz", "-m", MACHINE, "--mapper", "gge", "--json").json
    assert found["advice"]["mpi_share_at_most"] is None
    assert "run time" not in found["advice"]["sentence"]


def test_pattern_show_prints_the_time_in_mpi(topoloom: Command) -> None:
    assert (
        "time in MPI        1 s to 8 s of 10 s, "
        in topoloom("pattern", "show", "r.npz").out
    )
    times = topoloom("pattern", "show", "r.npz", "--json").json["mpi_time"]
    assert times["share_at_most"] == pytest.approx(0.1)
