# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective contention` and `topoloom collective trees`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

TREE = "fattree:4:4:4"


def test_contention_free_shifts_equal_the_lemma(topoloom: Command) -> None:
    found = topoloom("collective", "contention", "shift", "-m", TREE, "--json").json[
        "steps"
    ]
    free = [int(fact["step"][1:]) for fact in found if fact["subtrees"] == 0]
    assert free == [1, 2, 3, 4, 8, 12, 16, 32, 48, 52, 56, 60, 61, 62, 63]
    assert not any(fact["links"] for fact in found)
    printed = topoloom("collective", "contention", "shift", "-m", TREE)
    assert (printed.status, printed.err) == (0, "")
    assert "steps 1-4,8,12,16,32,48,52,56,60-63" in printed.out


def test_exchanges_and_quarter_shifts_are_contention_free(topoloom: Command) -> None:
    for steps, count in (("prefix", 63), ("quarter", 23), ("k-prefix(k=4)", 4)):
        found = topoloom("collective", "contention", steps, "-m", TREE, "--json").json[
            "steps"
        ]
        assert len(found) == count
        assert not any(fact["subtrees"] for fact in found)


def test_a_written_order_has_the_printed_contention(
    topoloom: Command,
) -> None:
    words = ["collective", "contention", "k-shift(k=4)", "-m", TREE, "--json"]
    for on, count in (("any-ascent", "subtrees"), ("routes", "links")):
        found = topoloom(*words, "-a", "n[3-5,20-24]", "--find", on, "-o", "o.txt").json
        given = sum(step["rounds"] for step in found["steps"] if step[count])
        assert found["found"]["rounds"] <= given
        again = topoloom(*words, "-a", "o.txt").json
        meet = sum(step["rounds"] for step in again["steps"] if step[count])
        assert meet == found["found"]["rounds"]


def test_bandwidth_falls_with_contention_and_with_the_levels_climbed(
    topoloom: Command,
) -> None:
    """Reproduces figures 4.3 and 4.4 of Kumar 2005 with his model."""
    tree = f"{TREE},bandwidth=340MB/s,latency=19ns"
    words = ["-m", tree, "--model", "qsnet", "--bytes", "256KiB", "--json"]
    key = "bytes_per_second_on_any_ascent"
    shifts = topoloom("collective", "contention", "shift", *words).json["steps"]
    free = {fact[key] for fact in shifts if not fact["subtrees"]}
    assert len(free) == 1
    assert all(fact[key] < min(free) for fact in shifts if fact["subtrees"])
    prefixes = topoloom("collective", "contention", "prefix", *words).json["steps"]
    near, farther, far = (prefixes[k - 1][key] for k in (1, 4, 16))
    assert near > farther > far == prefixes[62][key]


def test_the_bandwidth_of_each_step_is_listed(topoloom: Command) -> None:
    tree = f"{TREE},bandwidth=340MB/s,latency=19ns"
    for steps in ("prefix", "shift"):
        printed = topoloom(
            "collective", "contention", steps, "-m", tree, "--model", "qsnet"
        ).out
        rows = [line for line in printed.splitlines() if "MB/s" in line]
        names = [row.split("  ")[1].split(" to ") for row in rows]
        ends = [[int(name.strip("+xor ")) for name in pair] for pair in names]
        listed = [n for pair in ends for n in range(pair[0], pair[-1] + 1)]
        assert listed == list(range(1, 64))


def test_bandwidths_are_printed_and_drawn(topoloom: Command) -> None:
    tree = f"{TREE},bandwidth=340MB/s"
    words = (
        "collective",
        "contention",
        "k-shift",
        "-m",
        tree,
        "--model",
        "hdr",
        "--figure",
        "c.svg",
    )
    printed = topoloom(*words)
    assert (printed.status, printed.err) == (0, "")
    assert "bandwidth" in printed.out
    assert "written  c.svg" in printed.out
    assert Path("c.svg").read_text().rstrip().endswith("</svg>")
    for less, complaint in (
        (["-m", tree, "--figure", "c.svg"], "add --model"),
        (["-m", tree, "--bytes", "1KiB"], "--bytes requires a model"),
        (["-m", TREE, "--model", "hdr"], "have no bandwidth; add one"),
        (
            ["-m", tree, "--model", "hdr", "--bytes", 0],
            "of 0 bytes have no bandwidth",
        ),
    ):
        refused = topoloom("collective", "contention", "shift", *less)
        assert refused.status == 2
        assert complaint in refused.err


def test_idle_positions_of_prefix_sends_are_listed_as_gaps(topoloom: Command) -> None:
    words = [
        "collective",
        "contention",
        "prefix",
        "-m",
        "fattree:4:4",
        "-a",
        "n[0-2,4-6]",
        "--find",
    ]
    words.append("any-ascent")
    assert topoloom(*words, "--json").json["gaps"] == [0, 1, 2, None, 4, 5, 6]
    assert "7 positions: messages meet in none of 7 rounds" in topoloom(*words).out


def test_steps_can_be_read_from_a_file_on_any_machine(topoloom: Command) -> None:
    Path("m.txt").write_text("0 2  # first\n\n1 3\n")
    found = topoloom("collective", "contention", "m.txt", "-m", "mesh:4", "--json").json
    assert found["steps"] == [
        {"step": "m.txt", "rounds": 1, "links": 1, "most_on_routes": 2}
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nonsense", "-m", TREE], "no allgather schedule 'nonsense'; there are"),
        (
            ["quarter", "-m", "fattree:3:5"],
            "15 ranks can't be divided into 4 equal blocks",
        ),
        (
            ["shift", "-m", "torus:4x4", "--find", "any-ascent"],
            "upward routes require a complete fat tree, such as fattree:16:16",
        ),
        (["shift", "-m", TREE, "--find", "x"], "no kind of routes 'x'; there are"),
        (["shift", "-m", TREE, "-o", "x.txt"], "-o writes the order of --find"),
        (["bad.txt", "-m", TREE], "bad.txt:2: expected two ranks of 0 to 63, FROM TO"),
    ],
)
def test_impossible_steps_requests_are_refused(
    topoloom: Command, words: list[str], message: str
) -> None:
    Path("bad.txt").write_text("0 1\n1 64\n")
    refused = topoloom("collective", "contention", *words)
    assert refused.status == 2
    assert message in refused.err


def test_least_loaded_parents_have_less_load_than_last_parents(
    topoloom: Command,
) -> None:
    words = ["collective", "trees", "-m", "fattree:4:4", "--roots", 16]
    kinds = topoloom(*words, "--json").json["trees"]
    assert kinds["last"]["most_a_link"] == 12
    assert kinds["least-loaded"]["most_a_link"] == 3
    assert kinds["least-loaded"]["loads_of_switches"][-4:] == [4, 4, 4, 4]
    assert "least-loaded" in topoloom(*words).out


def test_disjoint_trees_share_a_message(topoloom: Command) -> None:
    kinds = topoloom("collective", "trees", "-m", "torus:4x4x4", "--json").json["trees"]
    assert kinds["disjoint"]["trees"] == 6
    assert kinds["disjoint"]["most_a_link"] == pytest.approx(1 / 6)
    assert max(kinds["disjoint"]["loads_of_links"]) == 1
    some = topoloom(
        "collective", "trees", "-m", "mesh:4x4", "--roots", "0,5-6", "--members", 3
    )
    assert (some.status, some.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--roots", "65"], "--roots must be 1 to 64, not 65"),
        (["--roots", "3-70"], "is not a list of increasing numbers below 64"),
        (["--members", "65"], "--members must be at most the 64 nodes"),
        (["--members", "0"], "members must be 1 or more"),
    ],
)
def test_impossible_trees_are_refused(
    topoloom: Command, words: list[str], message: str
) -> None:
    refused = topoloom("collective", "trees", "-m", TREE, *words)
    assert refused.status == 2
    assert message in refused.err


def test_one_router_has_no_trees(topoloom: Command) -> None:
    refused = topoloom("collective", "trees", "-m", "torus:1")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "topoloom: torus:1 has no links, which trees require\n"
