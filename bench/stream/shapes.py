# SPDX-License-Identifier: BSD-3-Clause
"""Runs ``mesh_extents.c`` in SimGrid's MPI; prints simulated and published times."""

from __future__ import annotations

import sys
from pathlib import Path

from exchange.programs import PLATFORM
from smpi import MPI, find, run, simulate

BUCKET = 50
#: CPU time: 9 us per message, and 2 us per item of 16 B, all on the sender, because
#: SMPI takes none on a receiver that has probed. Polls are cheap.
SETTINGS = {
    "smpi/os": "0:9e-6:1.25e-7",
    "smpi/ois": "0:9e-6:1.25e-7",
    "smpi/or": "0:0:0",
    "smpi/iprobe": "1e-7",
    "smpi/test": "1e-7",
    "smpi/grow-injected-times": "no",
    "smpi/simulate-computation": "no",
}
#: Kumar 2005, T5.9: us per message by (ranks, messages per pair), for single messages,
#: streams and mesh streams.
PUBLISHED = {
    (4, 1): (10.1, 11.3, 14.1),
    (4, 2): (9.4, 6.5, 12.2),
    (4, 4): (9.4, 4.1, 7.1),
    (4, 10): (11.5, 2.8, 4.6),
    (4, 50): (14.1, 2.1, 3.0),
    (16, 1): (13.6, 13.4, 11.8),
    (16, 2): (13.6, 7.6, 8.3),
    (16, 4): (14.3, 4.6, 5.5),
    (16, 10): (23.2, 3.1, 5.1),
    (16, 50): (26.3, 2.6, 4.3),
    (64, 1): (13.7, 18.1, 8.8),
    (64, 2): (13.8, 8.7, 6.2),
    (64, 4): (13.9, 5.3, 4.6),
    (64, 10): (15.6, 3.3, 4.2),
}
HEAD = (
    "| ranks | per pair | single | stream | mesh | chosen: dimensions | time "
    "| end of the phase | published: single | stream | mesh |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)
#: T5.2 to T5.8: by (ranks, bucket), for single messages and streams; -: not readable.
RING = {
    (2, 1): ("9.4", "7.7"),
    (2, 5): ("9.4", "3.5"),
    (2, 50): ("9.3", "1.9"),
    (2, 500): ("9.4", "1.7"),
    (64, 1): ("27.7", "-"),
    (64, 5): ("20.1", "4.8"),
    (64, 50): ("17", "2.6"),
    (64, 500): ("17.4", "1.9"),
}
RING_HEAD = (
    "| ranks | bucket | single | stream | published: single | stream |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: |"
)


def simulate_table(folder: Path) -> str:
    """Simulate all cells; return Markdown."""
    program = build(folder)
    rows = [simulate_row(program, *cell, *PUBLISHED[cell]) for cell in PUBLISHED]
    ring = [simulate_ring_row(program, *cell, *RING[cell]) for cell in RING]
    return "\n".join([HEAD, *rows, "", RING_HEAD, *ring])


def build(folder: Path) -> Path:
    """Compile the program together with libtopoloom-stream."""
    folders = MPI / "stream", MPI / "errors"
    program, source = (
        folder / "mesh_extents",
        Path(__file__).with_name("mesh_extents.c"),
    )
    sources = [source, *(file for each in folders for file in sorted(each.glob("*.c")))]
    flags = ["-std=gnu11", "-O2", "-w", *(f"-I{each}" for each in folders)]
    run(find("smpicc", "libsimgrid-dev"), *flags, *sources, "-o", program)
    return program


def simulate_row(program: Path, ranks: int, per_pair: int, *published: float) -> str:
    """Simulate single messages, a stream, and a two-dimensional mesh stream.

    Also simulate the mesh that is chosen after a phase.
    """
    read = simulate_seconds(
        program, ranks, "alltoall", per_pair, BUCKET, 0, 1, 2, "auto"
    )
    *times, chosen = [f"{1e6 * one['seconds']:.2f}" for one in read]
    end = f"{1e6 * (read[1]['end'] - read[1]['seconds']):.2f}"
    dimensions = f"{read[3]['dimensions']:.0f}"
    return print_row(ranks, per_pair, *times, dimensions, chosen, end, *published)


def simulate_ring_row(program: Path, ranks: int, bucket: int, *published: str) -> str:
    """Simulate messages to the next rank, two buckets or more."""
    read = simulate_seconds(program, ranks, "ring", max(100, 2 * bucket), bucket, 0, 1)
    times = [f"{1e6 * one['seconds']:.2f}" for one in read]
    return print_row(ranks, bucket, *times, *published)


def print_row(*words: object) -> str:
    """Print a row of a table, and return it."""
    line = f"| {' | '.join(map(str, words))} |"
    print(line, file=sys.stderr, flush=True)
    return line


def simulate_seconds(
    program: Path, ranks: int, *words: object
) -> list[dict[str, float]]:
    """Return seconds per message for each method of the command line."""
    platform = program.with_name("platform.xml")
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts = [f"n{i}" for i in range(ranks)]
    return list(simulate(platform, hosts, SETTINGS, program, *words))
