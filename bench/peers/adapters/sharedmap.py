# SPDX-License-Identifier: BSD-3-Clause
"""SharedMap, from the wheel chszlablib."""

from __future__ import annotations

from importlib.metadata import version

from peers.adapters.common import Answer, Request, run_adapter
from peers.hierarchy import make_tree


def solve(request: Request) -> Answer:
    """Map with the mode of the effort: fast, eco or strong."""
    from chszlablib import Decomposition, read_metis

    instance, tree = request.instance, make_tree(request.instance)
    answer = Answer(version=version("chszlablib"))
    graph = read_metis(str(instance.folder / "graph.graph"))
    with answer.search():
        found = Decomposition.process_map(
            graph,
            list(tree.arities),
            list(tree.distances),
            mode=request.effort,
            imbalance=instance.imbalance,
            threads=request.threads,
            seed=request.seed,
        )
    answer.place = tree.place[found.assignment]
    return answer


if __name__ == "__main__":
    run_adapter(solve)
