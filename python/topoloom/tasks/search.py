# SPDX-License-Identifier: BSD-3-Clause
"""Defines search limits and progress callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

#: Progress callback: takes the work done so far; False stops the search.
Progress = Callable[[int], bool]


class Search(NamedTuple):
    """Seed and limits of a search, the arguments of `topoloom.place`."""

    seed: int = 1
    seconds: float | None = None
    work: int | None = None
    threads: int = 0

    @property
    def is_limited(self) -> bool:
        """Whether the search ends before it is done."""
        return self.seconds is not None or self.work is not None


UNLIMITED = Search()


#: Context manager that monitors a search, given its title and limits.
MonitorSearch = Callable[[str, Search], AbstractContextManager[Progress]]


def limit_search(search: Search, progress: Progress) -> Progress:
    """Make a callback that also stops a search at the limits of `search`."""
    import time

    start = time.monotonic()

    def continue_search(work: int) -> bool:
        seconds = time.monotonic() - start
        within = search.seconds is None or seconds < search.seconds
        within = within and (search.work is None or work < search.work)
        return progress(work) and within

    return continue_search


def always_continue(_work: int) -> bool:
    """Return True: never stop the search."""
    return True


@contextmanager
def run_unmonitored(_title: str, _search: Search) -> Iterator[Progress]:
    """Run a search without progress output."""
    yield always_continue
