# SPDX-License-Identifier: BSD-3-Clause
"""How long what runs will take, said once where nobody sees a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds after which it is said, and that must be left for it to be worth a line.
_PATIENCE = 20.0
_LONG = 120.0

_UNITS = (("days", 86400.0), ("h", 3600.0), ("min", 60.0))


class Forecast:
    """Says once how long the rest takes, if that is long, from what is done by then."""

    def __init__(
        self,
        what: str,
        unit: str,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._unit, self._say, self._clock = what, unit, say, clock
        self._begin = clock()
        self._is_due = True

    def __call__(self, done: int, total: int) -> None:
        """Hear how much is done, and of how much."""
        passed = self._clock() - self._begin
        if not self._is_due or passed < _PATIENCE or not done:
            return
        self._is_due = False
        left = passed * (total - done) / done
        if left > _LONG:
            self._say(
                f"topoloom: {self._what}: {done:,} of {total:,} {self._unit} in "
                f"{passed:.0f} s; the rest takes about {_roughly(left)}"
            )


def _roughly(seconds: float) -> str:
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"
