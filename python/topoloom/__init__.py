# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom puts every rank of a parallel program on the right core of the right node.

One way through the house: get a communication graph (`load_graph`, `stencil`, ...),
a machine (`load_machine`) and an allocation (`load_allocation`, or all of the
machine), call `place`, look at `judge`, write the result with `save_placement`.

Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom._core import (
        Allocation,
        AllocationShape,
        Bounds,
        ChosenNodes,
        CommGraph,
        Error,
        GridLinks,
        Judgement,
        Machine,
        MessageCosts,
        NetworkModel,
        Meetings,
        NodeMap,
        Placement,
        SpanningTree,
        Step,
        all_to_all,
        allocation_shape,
        binomial_tree,
        bruck,
        choose_nodes,
        compact_nodes,
        find_bounds,
        find_free_order,
        fragmented_allocation,
        judge,
        mappers,
        meetings_any_ascent,
        meetings_on_routes,
        molecular_dynamics,
        nearest_extents,
        node_tiles,
        objective_value,
        place,
        random_geometric,
        recursive_doubling,
        ring,
        solve_qap,
        spanning_trees,
        stencil,
        tile_surface,
        tree_loads,
        triangular_grid,
        triangular_messages,
        with_gaps,
    )
    from topoloom.allocation_file import AllocatedHosts, load_allocation
    from topoloom.formats.graph import load_graph, save_graph
    from topoloom.formats.placement import (
        PlacementFile,
        load_placement,
        save_placement,
    )
    from topoloom.machine_file import (
        describe_machine,
        load_machine,
        load_machine_and_allocation,
    )
    from topoloom.model.named import load_model
    from topoloom.phases import load_phases

_HOME = {
    **dict.fromkeys(
        (
            "Allocation",
            "AllocationShape",
            "Bounds",
            "ChosenNodes",
            "CommGraph",
            "Error",
            "GridLinks",
            "Judgement",
            "Machine",
            "MessageCosts",
            "NetworkModel",
            "Meetings",
            "NodeMap",
            "Placement",
            "SpanningTree",
            "Step",
            "all_to_all",
            "allocation_shape",
            "binomial_tree",
            "bruck",
            "choose_nodes",
            "compact_nodes",
            "find_bounds",
            "find_free_order",
            "fragmented_allocation",
            "judge",
            "mappers",
            "meetings_any_ascent",
            "meetings_on_routes",
            "molecular_dynamics",
            "nearest_extents",
            "node_tiles",
            "objective_value",
            "place",
            "random_geometric",
            "recursive_doubling",
            "ring",
            "solve_qap",
            "spanning_trees",
            "stencil",
            "tile_surface",
            "tree_loads",
            "triangular_grid",
            "triangular_messages",
            "with_gaps",
        ),
        "topoloom._core",
    ),
    "AllocatedHosts": "topoloom.allocation_file",
    "load_allocation": "topoloom.allocation_file",
    "load_graph": "topoloom.formats.graph",
    "save_graph": "topoloom.formats.graph",
    "PlacementFile": "topoloom.formats.placement",
    "load_placement": "topoloom.formats.placement",
    "save_placement": "topoloom.formats.placement",
    "describe_machine": "topoloom.machine_file",
    "load_machine": "topoloom.machine_file",
    "load_machine_and_allocation": "topoloom.machine_file",
    "load_model": "topoloom.model.named",
    "load_phases": "topoloom.phases",
    "__version__": "topoloom.version",
}

__all__ = [
    "AllocatedHosts",
    "Allocation",
    "AllocationShape",
    "Bounds",
    "ChosenNodes",
    "CommGraph",
    "Error",
    "GridLinks",
    "Judgement",
    "Machine",
    "MessageCosts",
    "NetworkModel",
    "Meetings",
    "NodeMap",
    "Placement",
    "PlacementFile",
    "SpanningTree",
    "Step",
    "__version__",
    "all_to_all",
    "allocation_shape",
    "binomial_tree",
    "bruck",
    "choose_nodes",
    "compact_nodes",
    "describe_machine",
    "find_bounds",
    "find_free_order",
    "fragmented_allocation",
    "judge",
    "load_allocation",
    "load_graph",
    "load_machine",
    "load_machine_and_allocation",
    "load_model",
    "load_phases",
    "load_placement",
    "mappers",
    "meetings_any_ascent",
    "meetings_on_routes",
    "molecular_dynamics",
    "nearest_extents",
    "node_tiles",
    "objective_value",
    "place",
    "random_geometric",
    "recursive_doubling",
    "ring",
    "save_graph",
    "save_placement",
    "solve_qap",
    "spanning_trees",
    "stencil",
    "tile_surface",
    "tree_loads",
    "triangular_grid",
    "triangular_messages",
    "with_gaps",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'topoloom' has no attribute '{name}'")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
