# SPDX-License-Identifier: BSD-3-Clause
"""From options to a search: its seed, and how long it may take."""

from __future__ import annotations

from typing import NamedTuple

from topoloom.cli.problem import at_least
from topoloom.support.units import parse_duration


class Search(NamedTuple):
    """How to search, in the words of `topoloom.place` and `topoloom.choose_nodes`."""

    seed: int
    seconds: float | None
    work: int | None
    threads: int


def read_search(
    seed: int, time: str | None = None, work: int | None = None, threads: int = 0
) -> Search:
    """Check what the options say."""
    at_least("--seed", seed, 0)
    at_least("--threads", threads, 0)
    if work is not None:
        at_least("--work", work, 0)
    seconds = parse_duration(time) if time is not None else None
    return Search(seed, seconds, work, threads)
