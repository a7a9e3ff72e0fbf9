# SPDX-License-Identifier: BSD-3-Clause
"""What one run of a cell gives: its time, and what the model predicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from topoloom._core import Error
from topoloom.tasks.study.design import Cell


class CellRun(NamedTuple):
    """A run of a cell: its exit status, and the time in seconds if it is known.

    `why` says why there is no time; "" if there is one.
    """

    status: int
    seconds: float | None
    why: str = ""


class CellFailedError(Error):
    """Raised if a cell cannot be prepared because its program failed."""


class CellRunner(Protocol):
    """Runs the cells of a study."""

    #: Whether all runs of a cell take the same time.
    is_deterministic: bool

    def prepare(self, cell: Cell) -> float | None:
        """Record and place what the cell needs; return the predicted seconds.

        These are seconds of communication of the whole run; None if the model does not
        know the cell. Raises `CellFailedError` if the program fails.
        """

    def identify(self) -> list[object]:
        """Return facts that make runs of two studies runs of the same cells."""

    def run_all(
        self, cells: Sequence[Cell], repetition: int, tag: str
    ) -> Iterator[tuple[Cell, CellRun]]:
        """Run prepared cells; yield each with its run when it has ended."""


#: Reads the seconds of a run from its output; None if they are not there.
ReadTime = Callable[[str], float | None]


def choose_time(read_time: ReadTime | None, output: str, total: float) -> CellRun:
    """Return the run of a program that succeeded.

    Its time is in the output, or `total` seconds without a metric.
    """
    if read_time is None:
        return CellRun(0, total)
    seconds = read_time(output)
    if seconds is None:
        return CellRun(1, None, "the output does not match the metric")
    return CellRun(0, seconds)


def make_time_reader(pattern: str | None) -> ReadTime | None:
    """Return what finds the time in a program's output by a regular expression.

    Its first group is a number of seconds; the last match counts.
    """
    if pattern is None:
        return None
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise Error(
            f"the metric '{pattern}' is not a regular expression: {error}"
        ) from None
    if expression.groups < 1:
        raise Error(
            f"the metric '{pattern}' has no group for the number, such as in 'time: "
            "(\\S+) s'"
        )

    def read(output: str) -> float | None:
        found = expression.findall(output)
        if not found:
            return None
        last = found[-1]
        try:
            return float(last if isinstance(last, str) else last[0])
        except ValueError:
            return None

    return read
