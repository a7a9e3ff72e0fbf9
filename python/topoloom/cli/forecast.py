# SPDX-License-Identifier: BSD-3-Clause
"""Prints an estimate of the remaining time, once, where there is no progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds before the estimate is printed, and the shortest estimate that is printed.
_FIRST_REPORT_S = 20.0
_MIN_REMAINING_S = 120.0

_UNITS = (("days", 86400.0), ("h", 3600.0), ("min", 60.0))


class Forecast:
    """Prints an estimate of the remaining time, if it is long; prints it only once."""

    def __init__(
        self,
        what: str,
        unit: str,
        print_line: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._unit, self._clock = what, unit, clock
        self._print_line = print_line
        self._start = clock()
        self._is_due = True

    def __call__(self, done: int, total: int) -> None:
        """Report progress."""
        elapsed = self._clock() - self._start
        if not self._is_due or elapsed < _FIRST_REPORT_S or not done:
            return
        self._is_due = False
        left = elapsed * (total - done) / done
        if left > _MIN_REMAINING_S:
            self._print_line(
                f"topoloom: {self._what}: {done:,} of {total:,} {self._unit} in "
                f"{elapsed:.0f} s; the rest takes about {_format_rounded(left)}"
            )


def _format_rounded(seconds: float) -> str:
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"
