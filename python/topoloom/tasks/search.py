# SPDX-License-Identifier: BSD-3-Clause
"""How to search: the seed, when to stop, and who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

#: Called with the work done so far; False stops the search.
Progress = Callable[[int], bool]


class Search(NamedTuple):
    """How to search, as `topoloom.place` and `topoloom.choose_nodes` take it."""

    seed: int = 1
    seconds: float | None = None
    work: int | None = None
    threads: int = 0


UNLIMITED = Search()


#: Watches a search, given its title and limits.
MonitorSearch = Callable[[str, Search], AbstractContextManager[Progress]]


def always_continue(_work: int) -> bool:
    """Let a search go on until it ends by itself."""
    return True


@contextmanager
def unmonitored(_title: str, _search: Search) -> Iterator[Progress]:
    """Let a search go on until it ends by itself."""
    yield always_continue
