# SPDX-License-Identifier: BSD-3-Clause
"""Scotch's static mapping by its library, from the wheel pyscotch."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from peers.adapters.common import Answer, Request, run_adapter
from peers.adapters.scotch import format_target


def solve(request: Request) -> Answer:
    """Map in this process, so that the search is timed alone."""
    import pyscotch
    from pyscotch.arch import Architecture
    from pyscotch.graph import Graph
    from pyscotch.strategy import Strategy, StrategyFlags

    instance = request.instance
    answer = Answer(version=version("pyscotch"))
    source = instance.graph
    graph, machine, strategy = Graph(), Architecture(), Strategy()
    graph.build(source.first, source.peer, source.load, source.weight)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "target.tgt"
        target.write_text(format_target(instance))
        machine.load(target)
    words = request.effort.split("-")
    flags = StrategyFlags.QUALITY if "quality" in words else StrategyFlags.DEFAULT
    allowed = instance.imbalance if instance.n_to_1 else None
    strategy.request_mapping(flags, 0.0 if "forced" in words else allowed)
    pyscotch.random_seed(request.seed)
    pyscotch.random_reset()
    with answer.search():
        found = graph.map(machine, strategy)
    answer.place = np.asarray(found, np.int64)
    return answer


if __name__ == "__main__":
    run_adapter(solve)
