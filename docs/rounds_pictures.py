# SPDX-License-Identifier: BSD-3-Clause
"""Draws small cases of the schedules in `docs/collectives`, round by round.

Usage: ``python docs/rounds_pictures.py docs/collectives``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from topoloom.figure.rounds import draw_rounds
from topoloom.schedules.choose import Call

PICTURES = {
    "trees": [
        (Call("bcast", 8, 3072), "binomial"),
        (Call("scatter", 8, 1024), "binomial"),
    ],
    "pieces": [
        (Call("bcast", 4, 3072), "chain(segment=1024)"),
        (Call("bcast", 4, 4096), "scatter-allgather"),
    ],
    "rings": [
        (Call("allgather", 5, 1024), "ring"),
        (Call("allgather", 6, 1024), "neighbor-exchange"),
    ],
    "doubling": [
        (Call("allgather", 8, 1024), "recursive-doubling"),
        (Call("allgather", 6, 1024), "bruck"),
    ],
    "halving": [(Call("allreduce", 8, 8192), "halving")],
    "dissemination": [(Call("barrier", 6, 0), "dissemination")],
    "direct": [
        (Call("alltoall", 5, 1024), "cyclic"),
        (Call("alltoall", 6, 1024), "pairwise"),
    ],
    "bruck": [(Call("alltoall", 6, 1024), "bruck")],
}


def main() -> None:
    """Draw all of them."""
    for name, schedules in PICTURES.items():
        draw_rounds(Path(sys.argv[1]) / f"{name}.svg", schedules)


if __name__ == "__main__":
    main()
