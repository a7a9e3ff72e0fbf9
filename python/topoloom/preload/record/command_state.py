# SPDX-License-Identifier: BSD-3-Clause
"""Whether a recorded command was started, how long it ran, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic


@dataclass
class CommandState:
    """Tells errors before the start of a command from errors after its end.

    `seconds` and `exit_status` are those of the command alone, without the preparation
    of the recorder; the status is None until the command has ended. `is_interrupted`
    is whether it got a signal that ends commands; the status can be 0 all the same.
    """

    is_started: bool = False
    seconds: float = 0.0
    exit_status: int | None = None
    is_interrupted: bool = False

    @contextlib.contextmanager
    def measure_run(self) -> Iterator[None]:
        """Context manager: note the start of the command, and measure its duration."""
        self.is_started = True
        start = monotonic()
        try:
            yield
        finally:
            self.seconds = monotonic() - start
