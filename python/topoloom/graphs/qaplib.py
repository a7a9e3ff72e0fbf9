# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes quadratic assignment problems and solutions in QAPLIB's format.

R. E. Burkard, S. E. Karisch, F. Rendl, QAPLIB - A Quadratic Assignment Problem Library,
Journal of Global Optimization 10, 1997. Some files contain the flow matrix first,
others the distance matrix; the optimal value does not depend on this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import read_text, write_text

Matrix = NDArray[np.int64]


class QapProblem(NamedTuple):
    """Minimization of the sum of ``a[i, j] * b[p[i], p[j]]`` over permutations p."""

    a: Matrix
    b: Matrix

    def value(self, permutation: Sequence[int]) -> int:
        """Return the value of an assignment, which is exact below 2^63."""
        p = np.asarray(permutation)
        return int((self.a * self.b[np.ix_(p, p)]).sum())


class QapSolution(NamedTuple):
    """A permutation of 0 to n - 1, and the value that the file gives for it."""

    permutation: list[int]
    value: int


def load_qap(path: str | Path) -> QapProblem:
    """Read a ``.dat`` file: the size n, then two n x n matrices.

    A solution after the matrices (n numbers and a value), as in lipa*.dat of QAPLIB, is
    skipped.

    Error messages start with ``file:line:``.
    """
    numbers = _NumberReader(path)
    order = numbers.read_number("the order", least=1)
    matrices = [
        np.array(
            [numbers.read_number("an entry") for _ in range(order * order)],
            dtype=np.int64,
        )
        for _ in range(2)
    ]
    numbers.check_end(allowed=order + 1)
    a, b = (matrix.reshape(order, order) for matrix in matrices)
    return QapProblem(a, b)


def save_qap(path: str | Path, problem: QapProblem) -> None:
    """Write the problem as a ``.dat`` file."""
    blocks = [str(len(problem.a))]
    for matrix in problem:
        blocks.append("\n".join(" ".join(map(str, row)) for row in matrix.tolist()))
    write_text(path, "\n\n".join(blocks) + "\n")


def load_qap_solution(path: str | Path) -> QapSolution:
    """Read a ``.sln`` file: ``n value``, then a permutation of 1 to n.

    Error messages start with ``file:line:``.
    """
    numbers = _NumberReader(path)
    order = numbers.read_number("the order", least=1)
    value = numbers.read_number("the value")
    permutation: list[int] = []
    seen = set()
    for _ in range(order):
        location = numbers.read_number("a location", least=1, most=order)
        if location in seen:
            numbers.fail(f"location {location} appears twice")
        seen.add(location)
        permutation.append(location - 1)
    numbers.check_end()
    return QapSolution(permutation, value)


def save_qap_solution(path: str | Path, solution: QapSolution) -> None:
    """Write the solution as a ``.sln`` file."""
    numbers = " ".join(str(location + 1) for location in solution.permutation)
    write_text(path, f"{len(solution.permutation)} {solution.value}\n{numbers}\n")


class _NumberReader:
    """Reads the integers in a file, with the line number of each."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._line = 1
        self._words = self._split(read_text(path))

    def _split(self, text: str) -> Iterator[tuple[int, str]]:
        for line, content in enumerate(text.splitlines(), start=1):
            # A few .sln files separate numbers by commas.
            for word in content.replace(",", " ").split():
                yield line, word

    def read_number(
        self, what: str, *, least: int = -(2**63), most: int = 2**63 - 1
    ) -> int:
        self._line, word = next(self._words, (self._line, ""))
        if not word:
            self.fail(f"expected {what}, but the file ends")
        try:
            number = int(word)
        except ValueError:
            self.fail(f"expected {what}, an integer, not '{word}'")
        if not least <= number <= most:
            self.fail(f"expected {what} from {least} to {most}, not {number}")
        return number

    def check_end(self, allowed: int = 0) -> None:
        rest = list(self._words)
        if len(rest) in (0, allowed):
            return
        self._line = rest[0][0]
        self.fail(f"expected the end, but there are {len(rest)} more numbers")

    def fail(self, what: str) -> NoReturn:
        raise Error(f"{self._path}:{self._line}: {what}")
