# SPDX-License-Identifier: BSD-3-Clause
"""KaMinPar, a partitioner: block i goes to slot i, so the machine does not matter."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

from peers.adapters.common import Answer, Request, run_adapter


def solve(request: Request) -> Answer:
    """Partition with the preset of the effort: fast, default, eco or strong."""
    import kaminpar

    instance = request.instance
    answer = Answer(version=version("kaminpar"))
    kaminpar.reseed(request.seed)
    file = str(instance.folder / "graph.graph")
    graph = kaminpar.load_graph(file, kaminpar.GraphFileFormat.METIS)
    context = kaminpar.context_by_name(request.effort)
    solver = kaminpar.KaMinPar(request.threads, context)
    # KaMinPar rejects an imbalance of 0, but accepts a maximum block weight.
    limits = [[instance.capacity] * instance.slots]
    given = [instance.slots, instance.imbalance] if instance.n_to_1 else limits
    with answer.search():
        found = solver.compute_partition(graph, *given)
    answer.place = np.asarray(found, np.int64)
    return answer


if __name__ == "__main__":
    run_adapter(solve)
