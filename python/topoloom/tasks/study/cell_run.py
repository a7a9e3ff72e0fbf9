# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a cell: the interface that prepares and starts them, and their times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topoloom._core import Error
from topoloom.tasks.study.design import Cell

if TYPE_CHECKING:
    from topoloom.placements.placement_file import PlacementFile
    from topoloom.tasks.study.factors import Settings


class CellRun(NamedTuple):
    """A run of a cell: its exit status and its time in seconds.

    `why` is the reason why `seconds` is None, otherwise "".
    """

    status: int
    seconds: float | None
    why: str = ""


class CellFailedError(Error):
    """Raised if a cell cannot be prepared because its program failed."""


def get_prediction(file: PlacementFile, settings: Settings) -> float | None:
    """Return the predicted seconds of a placement.

    None if the model has none, as for replaced collectives.
    """
    seconds = file.values.get("predicted_seconds")
    if settings.collectives is not None or seconds is None:
        return None
    return float(seconds)


class CellRunner(Protocol):
    """Runs the cells of a study."""

    #: Whether all runs of a cell take exactly the same time.
    is_deterministic: bool

    def prepare(self, cell: Cell) -> float | None:
        """Record and place the program of a cell; return the predicted seconds.

        The prediction is the communication time of the whole run, or None if the model
        does not cover the cell. Raises `CellFailedError` if the program fails.
        """

    def identify(self) -> list[object]:
        """Return what the prepared cells depend on; equal if a study can continue."""

    def run_all(
        self, cells: Sequence[Cell], repetition: int, tag: str
    ) -> Iterator[tuple[Cell, CellRun]]:
        """Run prepared cells; yield each with its run as soon as it ends."""


#: Reads the time of a run in seconds from its output; None if it is missing.
ReadTime = Callable[[str], float | None]


def choose_time(read_time: ReadTime | None, output: str, total: float) -> CellRun:
    """Return the run of a program that exited with status 0.

    Its time is read from the output, or is `total` seconds without a metric.
    """
    seconds = total if read_time is None else read_time(output)
    if seconds is None:
        return CellRun(1, None, "the output does not match the metric")
    # Changes are ratios of times.
    if not (math.isfinite(seconds) and seconds > 0):
        return CellRun(1, None, f"the time is {seconds:g} s, expected more than 0")
    return CellRun(0, seconds)


def make_time_reader(pattern: str | None) -> ReadTime | None:
    """Return a function that finds the time in the output of a program.

    The first group of the regular expression is the time in seconds. The last match is
    used.
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
            f"the metric '{pattern}' has no group for the seconds, such as 'time: "
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
