# SPDX-License-Identifier: BSD-3-Clause
"""Draws the plans of `docs/concepts/balancing.md`.

Usage: ``python docs/concepts/plan_pictures.py docs/concepts``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import topoloom as tl
from topoloom.figure import draw_plan
from topoloom.tasks import block_ranks


def main(folder: Path) -> None:
    """Draw the alias method on eight ranks, and near partners on a mesh."""
    loads = np.array([6, 2, 5, 1, 4, 7, 3, 4])
    plans = {name: tl.tasks.balance(loads, method=name) for name in ("alias", "qwalk")}
    draw_plan(folder / "alias.svg", loads, plans)
    machine = tl.load_machine("mesh:8x8")
    ranks = block_ranks(tl.Allocation.whole(machine), machine.node_count)
    loads = np.random.default_rng(3).integers(20, 29, machine.node_count)
    plans = {
        name: tl.tasks.balance(loads, method=name, **ranks._asdict())
        for name in ("alias", "qwalk", "transport")
    }
    draw_plan(folder / "near.svg", loads, plans, ranks)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
