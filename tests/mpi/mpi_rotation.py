# SPDX-License-Identifier: BSD-3-Clause
"""One MPI for each test in a run, another one after the next commit.

A test that takes an MPI as a parameter runs on one of them, drawn by its name and the
commit; on the others only a full run executes it. With the mark ``every_mpi`` it runs
on each.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from recorded import Mpi
from several_hosts import Mpi as HostsMpi


def left_to_full_runs(items: list[pytest.Item], commit: str) -> list[pytest.Item]:
    """List the tests whose turn it is not in this commit."""
    choices: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if (key := _same_test(item)) is not None:
            choices[key].append(item)
    left = []
    for key, same in choices.items():
        digest = hashlib.sha256(f"{key} {commit}".encode()).digest()
        chosen = same[int.from_bytes(digest[:4], "big") % len(same)]
        left += [item for item in same if item is not chosen]
    return left


def current_commit() -> str:
    """Return the commit of this work tree; outside of Git the choice is fixed."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _same_test(item: pytest.Item) -> str | None:
    """Name a test by all but its MPI; None if it is to run on each."""
    call = getattr(item, "callspec", None)
    if call is None or item.get_closest_marker("every_mpi"):
        return None
    names = [each.name for each in call.params.values() if _is_mpi(each)]
    if len(names) != 1:
        return None
    others = call.id.split("-")
    own = names[0].replace(" ", "")
    if own not in others:
        return None
    others.remove(own)
    return f"{item.nodeid.partition('[')[0]}[{'-'.join(others)}]"


def _is_mpi(given: object) -> bool:
    return isinstance(given, (Mpi, HostsMpi))
