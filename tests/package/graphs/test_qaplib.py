# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic assignment problems: QAPLIB files and the solver."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from topoloom import Error
from topoloom.graphs.qaplib import (
    QapProblem,
    QapSolution,
    load_qap,
    load_qap_solution,
    save_qap,
    save_qap_solution,
)
from topoloom.placements import solve_qap

TINY = """ 3

 0 5 2
 5 0 3
 2 3 0

 0 1 2   1 0 1
 2 1 0
"""


def write_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_line_breaks_do_not_matter_in_qaplib_files(tmp_path: Path) -> None:
    problem = load_qap(write_file(tmp_path, "x.dat", TINY))
    assert problem.a.tolist() == [[0, 5, 2], [5, 0, 3], [2, 3, 0]]
    assert problem.b.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert problem.value([0, 1, 2]) == 2 * (5 * 1 + 2 * 2 + 3 * 1)


def test_a_solution_after_the_matrices_is_skipped(tmp_path: Path) -> None:
    problem = load_qap(write_file(tmp_path, "x.dat", TINY + " 2 1 3\n\n 24\n"))
    assert problem.b.shape == (3, 3)


def test_problems_and_solutions_are_read_back(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    a, b = generator.integers(-(2**40), 2**40, (2, 4, 4))
    save_qap(tmp_path / "x.dat", QapProblem(a, b))
    back = load_qap(tmp_path / "x.dat")
    assert (back.a == a).all()
    assert (back.b == b).all()
    solution = QapSolution([2, 0, 1], -7)
    save_qap_solution(tmp_path / "x.sln", solution)
    assert (tmp_path / "x.sln").read_text() == "3 -7\n3 1 2\n"
    assert load_qap_solution(tmp_path / "x.sln") == solution


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.dat", "", "x.dat:1: expected the order, but the file ends"),
        ("x.dat", "0", "x.dat:1: expected the order from 1 to"),
        (
            "x.dat",
            "2\n0 1\n1 0\n\n0 1\n1",
            "x.dat:6: expected an entry, but the file ends",
        ),
        ("x.dat", "2\n0 1\n1 x", "x.dat:3: expected an entry, an integer, not 'x'"),
        (
            "x.dat",
            "2\n0 1\n1 0.5",
            "x.dat:3: expected an entry, an integer, not '0.5'",
        ),
        (
            "x.dat",
            "1\n0\n0\n1\n2\n3\n",
            "x.dat:4: expected the end, but there are 3 more",
        ),
        ("x.dat", "1\n9223372036854775808", "x.dat:2: expected an entry from"),
        ("x.sln", "2 5\n1", "x.sln:2: expected a location, but the file ends"),
        ("x.sln", "2 5\n1 1", "x.sln:2: location 1 appears twice"),
        ("x.sln", "2 5\n1 3", "x.sln:2: expected a location from 1 to 2, not 3"),
        ("x.sln", "2 5\n1 2\n3", "x.sln:3: expected the end, but there are 1 more"),
    ],
)
def test_invalid_files_are_refused_with_the_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    load = load_qap if name.endswith(".dat") else load_qap_solution
    with pytest.raises(Error) as raised:
        load(write_file(tmp_path, name, text))
    assert message in str(raised.value)


def test_commas_between_numbers_of_a_solution_are_blanks(tmp_path: Path) -> None:
    path = write_file(tmp_path, "x.sln", "3 9\n3,1,\n2")
    assert load_qap_solution(path) == QapSolution([2, 0, 1], 9)


def test_the_solver_finds_the_best_of_all_permutations() -> None:
    generator = np.random.default_rng(3)
    problem = QapProblem(*generator.integers(0, 30, (2, 6, 6)))
    best = min(map(problem.value, itertools.permutations(range(6))))
    permutation, value, work = solve_qap(*problem, work=100_000)
    assert problem.value(permutation) == value == best
    assert work >= 100_000


def test_a_target_value_ends_the_search_with_any_number_of_threads() -> None:
    generator = np.random.default_rng(4)
    problem = QapProblem(*generator.integers(0, 30, (2, 20, 20)))
    one = solve_qap(*problem, seed=2, work=20_000_000, threads=1)
    assert solve_qap(*problem, seed=2, work=20_000_000, threads=2) == one
    _, value, work = solve_qap(*problem, work=2**50, target=one[1] * 2)
    assert value <= one[1] * 2
    assert work < 2**50


def test_matrices_of_different_sizes_are_refused() -> None:
    square = np.zeros((3, 3), dtype=np.int64)
    with pytest.raises(Error, match="two square matrices of one order"):
        solve_qap(square, np.zeros((2, 2), dtype=np.int64))
    with pytest.raises(Error, match="at least one item"):
        solve_qap(square[:0, :0].copy(), square[:0, :0].copy())
