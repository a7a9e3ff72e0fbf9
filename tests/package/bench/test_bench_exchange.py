# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of sparse exchanges writes its page."""

from __future__ import annotations

from pathlib import Path

from exchange.__main__ import MARKS, update_row
from exchange.programs import Cell


def make_cell(ranks: int, ours: float) -> Cell:
    """Create a table cell in which `reduction`, faster than `nbx`, takes 100 us."""
    seconds = {"reduction": 1e-4, "nbx": 2e-4, "mesh": ours, "": ours}
    return Cell(ranks, 8, 1024, seconds)


def test_a_page_keeps_the_rows_of_other_cells(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"above\n{MARKS[0]}\n{MARKS[1]}\nbelow\n")
    for one in (make_cell(256, 0.9e-4), make_cell(64, 0.5e-4), make_cell(256, 0.7e-4)):
        update_row(page, one)
    lines = page.read_text().splitlines()
    assert [lines[0], lines[-1]] == ["above", "below"]
    assert [line for line in lines if line.startswith("| ")][2:] == [
        "| 64 | 8 | 1024 | 100.0 | 200.0 | 50.0 | 50.0 | 0.50 |",
        "| 256 | 8 | 1024 | 100.0 | 200.0 | 70.0 | 70.0 | 0.70 |",
        "| **worst** | | | | | | | **0.70** |",
    ]
