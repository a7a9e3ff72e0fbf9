# SPDX-License-Identifier: BSD-3-Clause
"""Selects one MPI per test; the selection changes with the commit.

A test that takes an MPI as a parameter runs on one MPI, chosen by a hash of the test's
name and the commit. With ``--full``, it also runs on the others. Tests marked
``every_mpi`` always run on every MPI.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from mpis import Mpi
from several_hosts import Mpi as HostsMpi


def find_unchosen_mpis(items: list[pytest.Item], commit: str) -> list[pytest.Item]:
    """List the tests on MPIs that are not chosen for this commit."""
    variants: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if (key := _name_without_mpi(item)) is not None:
            variants[key].append(item)
    unchosen = []
    for key, same in variants.items():
        digest = hashlib.sha256(f"{key} {commit}".encode()).digest()
        chosen = same[int.from_bytes(digest[:4], "big") % len(same)]
        unchosen += [item for item in same if item is not chosen]
    return unchosen


def current_commit() -> str:
    """Return the commit of this work tree, or an empty string outside Git."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _name_without_mpi(item: pytest.Item) -> str | None:
    """Return the test's name without the MPI; None if it runs on every MPI."""
    call = getattr(item, "callspec", None)
    if call is None or item.get_closest_marker("every_mpi"):
        return None
    mpis = [value.name for value in call.params.values() if _is_mpi(value)]
    if len(mpis) != 1:
        return None
    parts = call.id.split("-")
    mpi = mpis[0].replace(" ", "")
    if mpi not in parts:
        return None
    parts.remove(mpi)
    return f"{item.nodeid.partition('[')[0]}[{'-'.join(parts)}]"


def _is_mpi(value: object) -> bool:
    return isinstance(value, (Mpi, HostsMpi))
