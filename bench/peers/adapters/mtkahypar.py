# SPDX-License-Identifier: BSD-3-Clause
"""Mt-KaHyPar: maps onto any target graph, with Steiner trees as the objective."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from peers.adapters.common import Answer, Request, UnsupportedInstance, run_adapter
from peers.distance import distances
from peers.instance import Instance

#: The target is an edge list with the distance of every pair.
LARGEST = 2048


def solve(request: Request) -> Answer:
    """Map with the preset of the effort: default, quality or highest."""
    import mtkahypar

    instance = request.instance
    if instance.slots > LARGEST:
        raise UnsupportedInstance(
            f"a complete target graph of {instance.slots} slots is too large"
        )
    answer = Answer(version=version("mtkahypar"))
    solver = mtkahypar.initialize(request.threads, False)
    mtkahypar.set_seed(request.seed)
    presets = mtkahypar.PresetType
    preset = {
        "default": presets.DEFAULT,
        "quality": presets.QUALITY,
        "highest": presets.HIGHEST_QUALITY,
    }[request.effort]
    context = solver.context_from_preset(preset)
    context.set_mapping_parameters(instance.slots, instance.imbalance)
    context.logging = False
    file = str(instance.folder / "graph.graph")
    graph = solver.graph_from_file(file, context)
    target = _make_target_graph(solver, context, instance)
    with answer.search():
        found = graph.map_onto_graph(target, context)
    answer.place = np.asarray(found.get_partition(), np.int64)
    return answer


def _make_target_graph(solver: Any, context: Any, instance: Instance) -> Any:
    one, two = np.triu_indices(instance.slots, 1)
    pairs = np.stack([one, two], axis=1).tolist()
    far = distances(instance, one, two).tolist()
    return solver.create_target_graph(
        context, instance.slots, len(pairs), [tuple(p) for p in pairs], far
    )


if __name__ == "__main__":
    run_adapter(solve)
