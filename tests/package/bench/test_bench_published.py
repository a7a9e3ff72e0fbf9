# SPDX-License-Identifier: BSD-3-Clause
"""Compares with published values: verdicts, and what makes the comparison fail."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from published.page import counts, page
from published.standing import (
    FILE,
    STANDINGS,
    list_missing_values,
    list_worsened_values,
)
from published.table import Key, Ours, Pair, pair_up

ROOT = Path(__file__).resolve().parents[3]


def make_pair(
    value: float | str,
    text: str,
    note: str = "",
    tolerance: float = 0.0,
    stated_value: str = "",
) -> Pair:
    ours = Ours(
        "A 2000", "Table 1", "row", "column", value, note, tolerance, stated_value
    )
    (made,) = pair_up([ours], {ours.key: text})
    return made


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.25, "1.3"), (1.34, "1.3"), (12, "12"), (1375.4, "1,375"), ("1,2", "1,2")],
)
def test_values_that_agree_in_printed_digits_are_equal(
    value: float | str, text: str
) -> None:
    assert make_pair(value, text).standing == "equal"


def test_a_value_within_a_stated_value_is_not_called_equal() -> None:
    assert make_pair(58.9, "60", tolerance=0.02).standing == "within"
    assert make_pair(58.7, "60", tolerance=0.02).standing == "off"


def test_a_number_inside_a_text_is_compared_only_if_the_text_states_it() -> None:
    text = "alpha/beta (1375 B for 11us, 8ns)"
    assert make_pair(1375.0, text, stated_value="1375").standing == "equal"
    assert make_pair(1375.0, text).standing == "off"
    with pytest.raises(ValueError, match="does not state 137"):
        make_pair(1375.0, text, stated_value="137")


def test_a_different_value_needs_a_reason() -> None:
    assert make_pair(2.0, "1").unexplained
    assert not make_pair(2.0, "1", note="the nodes are unknown").unexplained
    assert not make_pair(1.0, "1").unexplained


def test_each_published_value_is_compared_exactly_once() -> None:
    ours = Ours("A 2000", "Table 1", "row", "column", 1.0)
    with pytest.raises(ValueError, match="nothing was published"):
        pair_up([ours], {})
    with pytest.raises(ValueError, match="computed twice"):
        pair_up([ours, ours], {ours.key: "1"})


def test_the_comparison_fails_if_a_value_is_worse_or_missing() -> None:
    key = Key("A 2000", "Table 1", "row", "column")
    off = make_pair(2.0, "1", note="why")
    assert list(list_worsened_values([off], {key: "equal"})) == [
        "A 2000, Table 1, row, column: was equal, is off"
    ]
    assert not list(list_worsened_values([off], {key: "off"}))
    assert not list(list_worsened_values([make_pair(1.0, "1")], {key: "within"}))
    assert list(list_missing_values([], {key: "off"})) == [
        "A 2000, Table 1, row, column: no longer computed"
    ]


def test_the_page_shows_every_value_and_why_it_differs() -> None:
    shown = page([make_pair(2.0, "1", note="the nodes are unknown")])
    assert "| row | column | 1 | 2 | off: the nodes are unknown |" in shown
    assert "| A 2000 | 1 | 0 | 0 | 1 |" in shown


def test_the_page_states_the_number_of_recorded_values() -> None:
    with FILE.open(newline="") as lines:
        recorded = Counter(line["standing"] for line in csv.DictReader(lines))
    total = ("all", recorded.total(), *(recorded[name] for name in STANDINGS))
    line = "| " + " | ".join(map(str, total)) + " |"
    assert line in (ROOT / "docs/reference/published.md").read_text()
    assert list(counts([]))[-1][0] == "all"
