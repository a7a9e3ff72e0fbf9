# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective order` numbers the processes of a node for binomial trees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

#: Socket of each process on a node with two quad-core sockets.
SOCKET = [0, 1, 0, 0, 1, 0, 1, 1]


@pytest.fixture
def topoloom_with_costs(topoloom: Command) -> Command:
    rows = (
        ", ".join(
            "0" if a == b else "1e-6" if SOCKET[a] == SOCKET[b] else "2e-6"
            for b in range(8)
        )
        for a in range(8)
    )
    Path("costs.csv").write_text("# seconds\n" + "\n".join(rows) + "\n")
    return topoloom


def test_published_orders_are_reproduced_and_written(
    topoloom_with_costs: Command,
) -> None:
    words = [
        "collective",
        "order",
        "costs.csv",
        "--channels",
        2,
        "-o",
        "order.txt",
        "--json",
    ]
    words += ["--sharing", "printed"]
    found = topoloom_with_costs(*words).json
    assert found["method"] == "channel-aware"
    assert found["order"] == [0, 3, 1, 6, 2, 5, 4, 7]
    assert found["group_of"] == SOCKET
    assert [group["processes"] for group in found["groups"]] == [
        [0, 2, 3, 5],
        [1, 4, 6, 7],
    ]
    assert found["groups"][0]["into"]["mean_seconds"] == pytest.approx(2e-6)
    assert found["groups"][0]["inside"]["n"] == 12
    assert found["scatter_seconds"] == pytest.approx(9e-6)
    assert len(found["scatter_steps_seconds"]) == 3
    assert Path("order.txt").read_text().split() == list("03162547")
    words[3:5] = ["--method", "fastest-edge-first", "--channels", 2]
    assert topoloom_with_costs(*words).json["order"] == [0, 1, 3, 4, 2, 6, 5, 7]


def test_times_use_the_requested_sharing(topoloom_with_costs: Command) -> None:
    words = [
        "collective",
        "order",
        "costs.csv",
        "--method",
        "fastest-edge-first",
        "--channels",
        2,
    ]
    found = {
        sharing: topoloom_with_costs(*words, "--sharing", sharing, "--json").json
        for sharing in ("growing", "printed", "node", "independent")
    }
    assert all(one["sharing"] == sharing for sharing, one in found.items())
    assert topoloom_with_costs(*words, "--json").json == found["growing"]
    # Steps: one message inside a group, then two inside it, then four between the
    # groups on two channels.
    assert found["printed"]["scatter_steps_seconds"] == pytest.approx(
        [4e-6, 2e-6, 4e-6]
    )
    assert found["growing"]["scatter_steps_seconds"] == pytest.approx(
        [4e-6, 2e-6 * 4 / 3, 2e-6 * 4 / 3]
    )
    assert found["independent"]["scatter_seconds"] == pytest.approx(8e-6)


def test_the_order_table_shows_all_orders(topoloom_with_costs: Command) -> None:
    printed = topoloom_with_costs(
        "collective", "order", "costs.csv", "--channels", 2, "--sharing", "printed"
    )
    assert (printed.status, printed.err) == (0, "")
    assert "order   0 3 1 6 2 5 4 7" in printed.out
    assert "group 1 1 4 6 7" in printed.out
    assert "scatter" in printed.out


def test_nested_groups_are_listed_with_statistics(topoloom: Command) -> None:
    def get_cost(a: int, b: int) -> float:
        level = 10 + (a // 4 != b // 4) + 9 * (a // 16 != b // 16)
        return level + 0.1 * ((7 * a + 3 * b) % 11)

    rows = [
        ",".join("0" if a == b else f"{get_cost(a, b):.2f}e-6" for b in range(32))
        for a in range(32)
    ]
    rows[1] = rows[1].replace("10.", "2000.", 1)  # one message with a disturbed time
    Path("costs.csv").write_text("\n".join(rows) + "\n")
    printed = topoloom("collective", "order", "costs.csv").out
    assert "group 0 " + " ".join(map(str, range(16))) in printed
    for domain in range(4):
        first = 4 * domain
        names = " ".join(map(str, range(first, first + 4)))
        assert f"  group 0.{domain} {names}\n" in printed
    assert "239 (-1)" in printed
    sockets = topoloom("collective", "order", "costs.csv", "--json").json["groups"]
    assert [len(socket["groups"]) for socket in sockets] == [4, 4]
    assert sockets[0]["inside"]["outliers"] == 1
    assert sockets[0]["p"] < 1e-100
    strict = topoloom("collective", "order", "costs.csv", "--p-value", "1e-100").out
    assert "group 1 " in strict
    assert "group 1.0" not in strict


def test_processes_with_equal_costs_stay_in_the_standard_order(
    topoloom: Command,
) -> None:
    rows = (
        ",".join("0" if a == b else f"1.{(7 * a + 3 * b) % 11:02}e-6" for b in range(8))
        for a in range(8)
    )
    Path("costs.csv").write_text("\n".join(rows) + "\n")
    line = "groups  none: no group of processes is nearer to each other than chance"
    printed = topoloom("collective", "order", "costs.csv").out
    assert printed.startswith(f"order   0 1 2 3 4 5 6 7\n{line}: standard order\n")
    assert "gain" not in printed
    named = topoloom(
        "collective", "order", "costs.csv", "--method", "fastest-edge-first"
    ).out
    assert f"{line}\n" in named
    assert "gain" in named


def test_a_single_process_has_no_order(topoloom: Command) -> None:
    Path("one.csv").write_text("0\n")
    printed = topoloom("collective", "order", "one.csv")
    assert (printed.status, printed.err) == (0, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 0\n1 1\n", "bad.csv:3: more rows than the 2 columns"),
        ("0 1\n1\n", "bad.csv:2: 1 costs, but the first row has 2"),
        ("0 1\n", "bad.csv: 1 rows of 2 costs"),
        ("0 1\n\n-1 0\n", "bad.csv:3: cost -1"),
        ("0 nan\n1 0\n", "bad.csv:1: cost nan"),
        ("0 x\n1 0\n", "bad.csv:1: 'x' is not a number"),
        ("# nothing\n", "bad.csv: no costs"),
    ],
)
def test_invalid_matrices_are_refused_by_line(
    topoloom: Command, text: str, message: str
) -> None:
    Path("bad.csv").write_text(text)
    refused = topoloom("collective", "order", "bad.csv")
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--root", "8"], "--root must be one of the processes 0 to 7"),
        (["--channels", "0"], "--channels must be 1 or more"),
        (["--method", "quickest"], "fastest-edge-first"),
        (["--sharing", "grown"], "growing"),
        (["--p-value", "0"], "--p-value must be above 0 and below 1"),
    ],
)
def test_invalid_order_options_are_refused(
    topoloom_with_costs: Command, words: list[str], message: str
) -> None:
    refused = topoloom_with_costs("collective", "order", "costs.csv", *words)
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
