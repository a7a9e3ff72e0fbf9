# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor exchanges, direct and combined, in SimGrid's MPI."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import smpi
from exchange.programs import PLATFORM
from preloaded.jobs import HERE

#: Numbers of ranks, which are cubes of integers.
RANKS = (64, 512)
SIZES = (8, 1024, 4096, 32768)


class Exchange(NamedTuple):
    """Seconds until the last rank has the data of all neighbors."""

    ranks: int
    neighbors: int
    bytes: int
    straight: float
    mesh: float


def measure() -> Iterator[Exchange]:
    """Simulate all exchanges on the platform of the sparse exchanges."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiler = smpi.find("smpicc", "libsimgrid-dev")
        program = smpi.build(HERE / "stencil.c", compiler, folder)
        platform, settings = folder / "platform.xml", smpi.SETTINGS | smpi.QUICK
        for ranks in RANKS:
            platform.write_text(PLATFORM.format(last=ranks - 1))
            hosts = [f"n{i}" for i in range(ranks)]
            for read in smpi.simulate(platform, hosts, settings, program, *SIZES):
                yield Exchange(ranks, **read)


def table(exchanges: Iterable[Exchange]) -> str:
    """Format a line per exchange; times are microseconds."""
    lines = [
        "| ranks | neighbors | bytes | straight | mesh | times as fast |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in sorted(exchanges):
        cells = (
            f"{each.ranks} | {each.neighbors} | {each.bytes:,}",
            f"{1e6 * each.straight:.1f} | {1e6 * each.mesh:.1f}",
            f"{each.straight / each.mesh:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
