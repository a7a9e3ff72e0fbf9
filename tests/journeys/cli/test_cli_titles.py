# SPDX-License-Identifier: BSD-3-Clause
"""All commands print the same measures with the same titles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import Machine
from topoloom.placements.measures import MEASURES, measure_title

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:4x4,bandwidth=1GB/s"
USUAL = [
    name
    for name in MEASURES
    if name not in ("load_max", "minimal_share") and "background" not in name
]


@pytest.mark.parametrize("words", [["map"], ["judge"]], ids=lambda words: str(words[0]))
def test_tables_have_a_row_for_every_measure(
    topoloom: Command, words: list[str]
) -> None:
    topoloom("pattern", "generate", "ring", "-n", 16, "--bytes", 1000, "-o", "p.npz")
    shown = topoloom(*words, "p.npz", "-m", MACHINE).out
    for name in USUAL:
        assert f"\n  {MEASURES[name].title}  " in shown


def test_a_comparison_has_the_measure_titles_in_its_heading(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "-n", 16, "--bytes", 1000, "-o", "p.npz")
    words = ["compare", "p.npz", "-m", MACHINE, "--mappers", "hilbert"]
    heading = topoloom(*words).out.partition("─")[0]
    in_rows = {"traffic_average"}
    for name in set(USUAL) - in_rows:
        for word in MEASURES[name].title.split():
            assert word in heading


@pytest.mark.parametrize("machine", [MACHINE, "torus:4x4", "tree:4:4,distance=1:10"])
def test_report_pages_have_the_rows_of_the_terminal(
    topoloom: Command, machine: str
) -> None:
    """`map` and report pages use the same titles, numbers, units and default name."""
    topoloom("pattern", "generate", "ring", "-n", 16, "--bytes", 1000000, "-o", "p.npz")
    words = ["-m", machine, "--mapper", "hilbert", "-o", "x.json"]
    printed = topoloom("map", "p.npz", *words).out
    assert topoloom("report", "x.json", "-o", "x.html").status == 0
    page = Path("x.html").read_text()
    table = page[page.index("All measures</summary>") : page.index("</table>")]
    rows = [line.split("  ") for line in printed.splitlines()[1:]]
    shown = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    titles = {measure_title(name, Machine(machine)) for name in MEASURES}
    found = [row for row in shown if row and row[0] in titles]
    assert found
    for title, before, after, *_ in found:
        row = table[table.index(f'<th scope="row">{title}</th>') :]
        cells = re.findall(r'<td class="number">([^<]*)</td>', row)
        assert cells[:2] == [before, after]
    assert "block (default)" in table
    assert "launcher's order" not in page


def test_the_help_of_judge_has_the_titles_of_its_table(topoloom: Command) -> None:
    text = " ".join(topoloom("judge", "--help").out.split())
    for measure in MEASURES.values():
        assert measure.title in text
