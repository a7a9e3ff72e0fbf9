# SPDX-License-Identifier: BSD-3-Clause
"""Counts how often each computation of an HLO module runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from topoloom._core import Error

#: More runs than any program has; a few bytes of text can state any number.
_MAX_RUNS = 1 << 62


class Call(NamedTuple):
    """A call of computations; `times`, the trip count, is None if unknown."""

    names: tuple[str, ...]
    times: int | None
    what: str


def count_runs(calls: Mapping[str, Sequence[Call]], entry: str) -> dict[str, int]:
    """Count the runs of all computations in one run of `entry`, callers first.

    An unknown trip count counts as 1. The time is proportional to the number of calls.

    Raises
    ------
    topoloom.Error
        If a computation is missing, calls itself, or runs 2^62 times or more.
    """
    runs: dict[str, int] = defaultdict(int)
    runs[entry] = 1
    found = {}
    for name in _order_callers_first(calls, entry):
        found[name] = runs[name]
        if runs[name] >= _MAX_RUNS:
            raise Error(f"the computation {name[:40]} runs 2^62 times or more")
        for call in calls[name]:
            for called in call.names:
                runs[called] += runs[name] * (1 if call.times is None else call.times)
    return found


def _order_callers_first(calls: Mapping[str, Sequence[Call]], entry: str) -> list[str]:
    """Return the computations that `entry` calls, each after all of its callers."""
    done: list[str] = []
    is_open: dict[str, bool] = {}
    stack = [(entry, True)]
    while stack:
        name, is_begin = stack.pop()
        if not is_begin:
            is_open[name] = False
            done.append(name)
        elif name not in is_open:
            if name not in calls:
                raise Error(
                    f"the program is truncated: there is no computation {name[:40]}"
                )
            is_open[name] = True
            stack.append((name, False))
            inner = (called for call in calls[name] for called in call.names)
            stack += [(called, True) for called in reversed(list(inner))]
        elif is_open[name]:
            raise Error(f"the computation {name[:40]} calls itself")
    return done[::-1]
