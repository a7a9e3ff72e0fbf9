# SPDX-License-Identifier: BSD-3-Clause
"""README is short, and its figures are those of the page that it links."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
DEFAULTS = (ROOT / "docs/defaults.md").read_text()
APPLICATIONS = (ROOT / "docs/how-to/research/applications.md").read_text()
SIZES = ["64 KiB", "256 B"]


def read_row(page: str, start: str) -> list[str]:
    """Return the cells after the first of the only table row with this start."""
    (row,) = re.findall(rf"^\| {re.escape(start)}[^|]*\|(.*)\|$", page, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def test_the_readme_has_at_most_100_lines() -> None:
    assert len(README.splitlines()) <= 100


@pytest.mark.parametrize("size", SIZES)
def test_the_gains_of_the_readme_are_those_of_the_page(size: str) -> None:
    found = re.search(r"geometric means over (\d+) cases each", DEFAULTS)
    assert found
    ours = "1"
    row = read_row(README, f"{found[1]} cases, messages of {size}")
    assert row == [*read_row(DEFAULTS, size), ours]


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (0, "gain on the launcher, geometric mean"),
        (1, "gain on Scotch, geometric mean"),
    ],
)
def test_the_gains_by_size_agree_with_those_of_all_cases(column: int, row: str) -> None:
    gains = [float(read_row(DEFAULTS, size)[column]) for size in SIZES]
    overall = float(read_row(DEFAULTS, row)[1])
    assert math.sqrt(math.prod(gains)) == pytest.approx(overall, abs=0.005)


def test_half_of_the_cases_have_each_size() -> None:
    by_machine = DEFAULTS[DEFAULTS.index("| machine | cases") :].partition("\n\n")[0]
    cases = re.findall(r"^\| [\w\-: ]+ \| (\d+) \|", by_machine, re.MULTILINE)
    total = sum(map(int, cases))
    assert f"over {total // 2} cases each" in DEFAULTS
    assert f"of {total} cases" in README


@pytest.mark.parametrize(
    ("readme_row", "page_row"),
    [
        ("8 nodes of Frontier in 4 fragments", "8 nodes of frontier in 4 fragments"),
        ("8 nodes of a fat tree", "8 nodes of the fat tree"),
    ],
)
def test_the_times_of_the_readme_are_those_of_the_page(
    readme_row: str, page_row: str
) -> None:
    before, _, after = read_row(README, f"LAMMPS, 512 ranks, {readme_row}")
    simulated = read_row(DEFAULTS, f"LAMMPS, 512 ranks, {page_row}")[3]
    assert simulated == f"{before} → {after}"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("ours / launcher, worst", "slower than the launcher's order"),
        ("ours / Scotch, worst", "slower than Scotch"),
    ],
)
def test_the_readme_states_the_worst_cases_of_the_page(row: str, words: str) -> None:
    worst = float(read_row(DEFAULTS, row)[1])
    assert f"up to {100 * (worst - 1):.0f} % {words}" in " ".join(README.split())


def test_the_parts_of_the_readme_are_those_of_the_page() -> None:
    studies = sorted(path.stem for path in (ROOT / "bench/applications").glob("*.toml"))
    assert len(studies) >= 8
    for name in studies:
        *changes, speed_up = read_row(README, f"{name} ")
        _, expected_speed_up, *expected, _ = read_row(APPLICATIONS, f"{name} ")
        assert speed_up == expected_speed_up
        # The page also names the level, such as "-4 % bricks".
        assert changes == [" ".join(cell.split()[:2]) for cell in expected]
