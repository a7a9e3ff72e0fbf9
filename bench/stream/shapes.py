# SPDX-License-Identifier: BSD-3-Clause
"""Runs ``shapes.c`` in SimGrid's MPI, and prints its times beside published ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from exchange.programs import PLATFORM
from smpi import MPI, find, run, simulate

BUCKET = 50
#: 9 us of CPU per message, half on either side; a call that finds nothing takes 1 us.
SETTINGS = {
    "smpi/os": "0:4.5e-6:0",
    "smpi/ois": "0:4.5e-6:0",
    "smpi/or": "0:4.5e-6:0",
    "smpi/iprobe": "1e-6",
    "smpi/test": "1e-6",
    "smpi/grow-injected-times": "no",
    "smpi/simulate-computation": "no",
}
#: Kumar 2005, T5.9, us per message by ranks and messages per pair: single messages,
#: streams, mesh streams.
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
    "| ranks | per pair | single | stream | mesh "
    "| published: single | stream | mesh |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def table(folder: Path) -> str:
    """Simulate all cells, and write them as Markdown."""
    program = build(folder)
    rows = [row(program, *cell, *PUBLISHED[cell]) for cell in PUBLISHED]
    return "\n".join([HEAD, *rows])


def build(folder: Path) -> Path:
    """Compile the program together with the library."""
    rooms = MPI / "stream", MPI / "errors"
    program, source = folder / "shapes", Path(__file__).with_name("shapes.c")
    sources = [source, *(file for room in rooms for file in sorted(room.glob("*.c")))]
    flags = ["-std=gnu11", "-O2", "-w", *(f"-I{room}" for room in rooms)]
    run(find("smpicc", "libsimgrid-dev"), *flags, *sources, "-o", program)
    return program


def row(program: Path, ranks: int, per_pair: int, *published: float) -> str:
    """Simulate single messages, a stream, and one over a mesh of two dimensions."""
    times = measure(program, ranks, "all-to-all", per_pair, BUCKET, 0, 1, 2)
    words = [f"{1e6 * time:.2f}" for time in times]
    words = [str(ranks), str(per_pair), *words, *map(str, published)]
    line = f"| {' | '.join(words)} |"
    print(line, file=sys.stderr, flush=True)
    return line


def measure(program: Path, ranks: int, *words: object) -> Sequence[float]:
    """Give seconds per message in each of the ways that the command line names."""
    platform = program.with_name("platform.xml")
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts = [f"n{i}" for i in range(ranks)]
    read = simulate(platform, hosts, SETTINGS, program, *words)
    return [one["seconds"] for one in read]
