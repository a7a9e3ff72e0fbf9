# SPDX-License-Identifier: BSD-3-Clause
"""Arguments for public functions: valid, from another machine, or of any type."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import scipy.sparse
from list_public_functions import Parameter
from random_names import BY_NAME
from random_scalars import FILES, FLOATS, HUGE, MACHINES, SMALL, TEXTS
from random_tasks import (
    draw_matching_task_arguments,
    make_task_pools,
    make_value_drawers,
)

from topoloom import PlacementFile, _core, save_graph, save_placement
from topoloom.allocations import save_allocation
from topoloom.graphs import (
    QapProblem,
    QapSolution,
    Traffic,
    save_qap,
    save_qap_solution,
)
from topoloom.machines import save_machine
from topoloom.schedules import Call, RankSlots


class ArgumentSource:
    """Draws valid objects and invalid values as arguments."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        staged = _core.MessageCosts()
        staged.beta_em = staged.delta = 1e-10
        self.machines = [_core.Machine(text) for text in MACHINES]
        self.allocations = [
            self._draw_allocation(m) for m in self.machines for _ in "12"
        ]
        self.allocations = [a for a in self.allocations if a is not None]
        self.graphs = [
            _core.ring(4),
            _core.ring(16),
            _core.stencil([4, 4], 5, bytes=1000),
            _core.alltoall(8, 2**40),
            _core.random_geometric(12, seed=3),
            _core.CommGraph.from_edges(3, [0, 1], [1, 1], [5, 5], load=[0.5, 2, 0.1]),
            _core.CommGraph.from_edges(0, [], [], []),
        ]
        self.pools: dict[str, list[Any]] = {
            "Machine": self.machines,
            "Allocation": self.allocations,
            "CommGraph": self.graphs,
            "Placement": [self._draw_placement() for _ in range(24)],
            "Sharing": [_core.Sharing(0.5), _core.Sharing(capacities=[3, 2, 2, 1])],
            "Objective": [_core.Objective(name) for name in ("time", "congestion")],
            "Step": [_core.Step.shift(4, 1), _core.Step([(0, 1), (7, 2)])],
            "Schedule": [
                _core.Schedule("ring", "allgather", 8, 64),
                _core.Schedule("binomial", "bcast", 4, 64, 2),
                _core.Schedule("at-once", "alltoall", 16, 2**40),
            ],
            "NetworkModel": [
                _core.NetworkModel.loggp(1e-6, 1e-6, 1e-6, 1e-9),
                _core.NetworkModel.largest([(1e-6, 1e-9, None)], staged),
                _core.NetworkModel.regimes([(1e-6, 1e-9, 100), (2e-6, 1e-10, None)]),
            ],
            "Strategy": [
                _core.Strategy(8, _core.NetworkModel.regimes([(1e-6, 1e-9, None)]))
            ],
            "MessageCosts": [_core.MessageCosts()],
            "NodeMap": [_core.NodeMap([2, 3], [0, 0, 1, 1, 2, 2])],
            "GridLinks": [_core.GridLinks(latency_s=1e-6, outer_s_per_byte=1e-9)],
            "CombiningCosts": [_core.CombiningCosts(alpha=1e-6, beta=1e-9)],
            "SpanningTree": [
                tree
                for machine in (0, 3, 6)
                for tree in _core.spanning_trees(
                    self.machines[machine], "routes", [(0, [1, 5]), (3, [3])]
                )
            ],
        }

        self.pools["Evaluator"] = [
            self._draw_machine_objects()["Evaluator"] for _ in range(12)
        ]
        self._add_python_objects()

    def _add_python_objects(self) -> None:
        call = Call("allgather", 8, 64)
        matrix = np.arange(9).reshape(3, 3)
        allocation = self.allocations[0]
        placement = _core.Placement(allocation, [allocation.slots[0]])
        placed = PlacementFile(allocation.machine, allocation, placement)
        self.pools |= {
            "Call": [call, call._replace(operation="bcast"), Call("scan", 3, 8)],
            "RankSlots": [RankSlots(allocation, placement)],
            "QapProblem": [QapProblem(matrix, matrix.T)],
            "QapSolution": [QapSolution([2, 0, 1], 5)],
            "Traffic": [Traffic(("x",), "ring", 8), Traffic(("x", "y"), "chain", 9)],
        }
        self.pools |= make_task_pools(self.rng, self.allocations, self.graphs)
        self.by_name = make_value_drawers(self.rng)
        save_graph("g.npz", self.graphs[2])
        save_placement("p.json", placed)
        save_qap("q.dat", self.pools["QapProblem"][0])
        save_qap_solution("q.sln", self.pools["QapSolution"][0])
        save_machine("m.toml", self.machines[0])
        save_allocation("a.txt", allocation, "title")
        Path("junk").write_bytes(bytes(range(256)))
        Path("empty").touch()
        Path("folder").mkdir(exist_ok=True)

    def draw_path(self) -> str:
        """Draw the name of an existing file, maybe corrupted, or of a missing file."""
        name = self.rng.choice(FILES)
        whole = Path(name)
        if self.rng.random() < 0.3 and whole.is_file() and whole.stat().st_size > 0:
            data = bytearray(whole.read_bytes())
            for _ in range(self.rng.randrange(1, 4)):
                data[self.rng.randrange(len(data))] = self.rng.randrange(256)
            Path("changed" + whole.suffix).write_bytes(data)
            return "changed" + whole.suffix
        return name

    def _draw_allocation(self, machine: Any) -> Any:
        nodes = self.rng.sample(list(machine.nodes_up), len(machine.nodes_up))
        for count in (self.rng.randint(1, len(nodes)), 1):
            try:
                return _core.Allocation(machine, nodes[:count])
            except ValueError:
                continue
        return None

    def _draw_placement(self) -> Any:
        allocation = self.rng.choice(self.allocations)
        slots = list(allocation.slots)
        if self.rng.random() < 0.3:
            ranks = [self.rng.choice(slots) for _ in range(self.rng.randint(1, 16))]
            return _core.Placement(allocation, ranks, shared=True)
        count = self.rng.randint(1, len(slots))
        return _core.Placement(allocation, self.rng.sample(slots, count))

    def draw_argument(self, parameter: Parameter) -> Any:
        """Draw a value that fits the parameter, or in 10 % of the cases any value."""
        if self.rng.random() < 0.1:
            return self.draw_any_value()
        return self.draw_valid_value(parameter)

    def draw_matching_arguments(self, function: str) -> dict[str, Any]:
        """Draw arguments that match each other if the function requires this."""
        rng = self.rng
        if together := draw_matching_task_arguments(function, self.pools, rng):
            return self._draw_machine_objects() | together
        if function == "CommGraph.from_edges":
            edges = rng.randrange(9)
            ranks = [[rng.randrange(6) for _ in range(edges)] for _ in "12345"]
            names = ("source", "target", "bytes", "messages")
            return {
                "rank_count": 6,
                "load": ranks[4][:6],
                **dict(zip(names, ranks, strict=False)),
            }
        if function == "CommGraph.from_csr":
            first = [0, 2, 3, 3]
            return {"first": first, "peer": [1, 2, 0], "bytes": [5, 6, 7]}
        if function in ("from_links", "Machine.from_links"):
            count = rng.randrange(2, 7)
            links = [(rng.randrange(v), v) for v in range(1, count)]
            many = rng.random() < 0.5
            return {
                "links": links,
                "bandwidth": [rng.choice((1e9, 2.5e9, 1.0)) for _ in links]
                if many
                else 1e9,
                "latency": [1e-6 for _ in links] if many else 0.0,
                "nodes": rng.choice((None, count, count - 1)),
                "routes": rng.choice((None, [], [links[0]])),
            }
        if function == "CommGraph.from_scipy":
            matrix = scipy.sparse.csr_array(self.draw_matrix())
            return {"matrix": matrix, "messages": rng.choice((None, matrix))}
        if function.endswith("from_networkx"):
            return {
                "graph": networkx.path_graph(rng.randrange(1, 5)),
                "weight": None,
                "nodes": rng.choice((None, [0], [0, 9])),
            }
        if function == "route_matrix":
            drawn = self._draw_machine_objects()
            nodes = drawn["nodes"]
            ends = [rng.choices(nodes, k=5) for _ in "12"]
            return drawn | dict(zip(("node_a", "node_b"), ends, strict=True))
        if function == "save_schedule":
            return {"schedule": rng.choice(self.pools["Schedule"])}
        if function == "solve_qap":
            order = rng.randrange(5)
            matrix = np.arange(order * order).reshape(order, order)
            return {"a": matrix, "b": matrix.T % 3}
        if function in (
            "binomial_order",
            "binomial_scatter_steps",
            "find_cost_groups",
            "group_costs",
        ):
            order = rng.randrange(1, 7)
            costs = np.array(
                [[rng.random() for _ in range(order)] for _ in range(order)]
            )
            np.fill_diagonal(costs, 0)
            method = rng.choice(("standard", "fastest-edge-first", "channel-aware"))
            return {
                "costs": costs,
                "order": rng.sample(range(order), order),
                "method": method,
            }
        if function in ("Schedule", "Step.of_schedule"):
            one = rng.choice(_core.schedules())
            operation = rng.choice(one["operations"])
            return {
                "name": one["name"],
                "schedule": one["name"],
                "operation": operation,
            }
        if function == "stencil":
            axes = rng.randrange(1, 4)
            return {
                "grid": [rng.randrange(1, 5) for _ in range(axes)],
                "points": rng.choice((2 * axes + 1, 3**axes)),
            }
        if function == "NodeMap":
            extents = [rng.randrange(1, 4) for _ in range(rng.randrange(1, 4))]
            cells = math.prod(extents)
            return {
                "extents": extents,
                "node_of_cell": [rng.randrange(cells) for _ in range(cells)],
            }
        if function == "nearest_extents":
            return {"extents": [4, 4], "cells": rng.randrange(1, 100)}
        if function == "virtual_mesh_receivers":
            return {
                "ranks": rng.randrange(1, 40),
                "axes": rng.choice((2, 3)),
                "rank": 0,
            }
        return self._draw_machine_objects()

    def _draw_machine_objects(self) -> dict[str, Any]:
        """Draw a graph, an allocation, and other objects of the same machine."""
        rng = self.rng
        allocation = rng.choice(self.allocations)
        machine, slots = allocation.machine, list(allocation.slots)
        ranks = rng.randint(1, len(slots))
        graph = _core.ring(ranks, rng.choice((1, 1000, 2**40)))
        nodes = list(allocation.nodes)
        pair = (rng.randrange(len(nodes)), rng.randrange(len(nodes)))
        schedule = _core.Schedule("ring", "allgather", ranks, 64)
        placement = _core.Placement(allocation, rng.sample(slots, ranks))
        kinds = ("hop-bytes", "congestion", "congestion-soft", "auto")
        evaluator = _core.Evaluator(
            graph, allocation, placement, objective=rng.choice(kinds)
        )
        some = [rng.randrange(ranks) for _ in range(3)]
        evaluator.swap(some[0], some[1])
        return {
            "Evaluator": evaluator,
            "rank": rng.choice((some, some[0])),
            "rank_a": rng.choice((some, some[1])),
            "rank_b": rng.choice((some, some[2])),
            "slot": rng.choice((rng.choices(slots, k=3), rng.choice(slots))),
            "machine": machine,
            "Machine": machine,
            "allocation": allocation,
            "free": allocation,
            "graph": graph,
            "phases": rng.choice(([], [graph], [graph, graph], [_core.ring(ranks)])),
            "placement": placement,
            "placements": {"block": placement},
            "background": [rng.random() for _ in range(machine.link_count)],
            "previous": rng.sample([-1, *slots], ranks),
            "Schedule": schedule,
            "round": rng.randrange(max(1, schedule.rounds)),
            "source": 0,
            "target": 1 % ranks,
            "nodes": nodes,
            "node_of_rank": nodes,
            "step": _core.Step([pair]),
            "steps": [_core.Step.shift(len(nodes), 1), _core.Step([pair])],
            "on_routes": rng.random() < 0.8,
            "node_a": rng.choice(nodes),
            "node_b": rng.choice(nodes),
            "multicasts": [(nodes[0], nodes)],
            "count": rng.randint(1, len(nodes)),
            "node_count": rng.randint(1, len(nodes)),
            "fragments": 1,
            "extents": [ranks],
            "traffic": [([0], "ring", 8)],
            "grid": [ranks],
        }

    def draw_any_value(self) -> Any:
        """Draw a value of any type."""
        rng = self.rng
        kind = rng.randrange(9)
        if kind == 0:
            return rng.choice(HUGE)
        if kind == 1:
            return rng.choice(SMALL)
        if kind == 2:
            return rng.choice(FLOATS)
        if kind == 3:
            return rng.choice((*TEXTS, None, True, b"abc", {}, {1: 2}, object(), len))
        if kind == 4:
            return rng.choice(rng.choice(list(self.pools.values())))
        if kind == 5:
            return [self.draw_any_value() for _ in range(rng.randrange(4))]
        return self.draw_array()

    def draw_array(self) -> Any:
        """Draw an array of any type and shape."""
        rng = self.rng
        size = rng.choice((0, 1, 2, 3, 4, 8, 16))
        values = [rng.choice((*SMALL[1:], *range(size))) for _ in range(size)]
        kind = rng.randrange(8)
        if kind < 3:
            return values
        if kind == 3:
            return [
                rng.choice((*FLOATS, *HUGE)) if rng.random() < 0.3 else v
                for v in values
            ]
        types = (
            "i1",
            "u1",
            "i2",
            "u4",
            "i8",
            "u8",
            "f2",
            "f4",
            "f8",
            "g",
            ">i4",
            "?",
            "c16",
        )
        array = np.array([max(0, v) for v in values]).astype(rng.choice(types))
        if kind == 4:
            return np.array([rng.choice(FLOATS) for _ in values])
        if kind == 5:
            return array.reshape(1, -1) if rng.random() < 0.5 else array[::-1]
        if kind == 6:
            return rng.sample(range(size), size)
        return array

    def draw_valid_value(self, parameter: Parameter) -> Any:
        """Draw a value that fits the name and the type of a parameter."""
        rng = self.rng
        name, kind = parameter.name, parameter.type
        if name == "traffic" and "Traffic" in kind:
            return rng.choices(self.pools["Traffic"], k=rng.randrange(3))
        if (
            name == "text"
            and "|" not in kind
            and "Machine" not in kind
            and rng.random() < 0.5
        ):
            return rng.choice(
                ("x=4,y=2", "x=4", "x:ring:8", "x,y:alltoall:1KiB", "=", "x=0")
            )
        if name in self.by_name and not _is_core_type(kind):
            return self.by_name[name]()
        if name in BY_NAME and "Costs" not in kind:
            return BY_NAME[name](self)
        for of, pool in self.pools.items():
            if re.match(rf"(\w+\.)*{of}\b", kind.strip()):
                return rng.choice(pool)
            if re.search(rf"Sequence\[(\w+\.)*{of}\]", kind):
                return rng.choices(pool, k=rng.randrange(4))
        if "NDArray" in kind or "Sequence[int]" in kind or "Sequence[float]" in kind:
            return self.draw_numbers()
        if "Sequence[tuple" in kind:
            return [
                (rng.randrange(9), rng.randrange(9)) for _ in range(rng.randrange(5))
            ]
        if "bool" in kind:
            return rng.random() < 0.5
        if "int" in kind:
            return rng.choice(SMALL[2:])
        if "float" in kind:
            return rng.choice((0.0, 0.5, 1.0, 3.0, 1e-9))
        return rng.choice(TEXTS)

    def draw_numbers(self) -> Any:
        """Draw numbers; most are valid slots, nodes or ranks."""
        rng = self.rng
        size = rng.choice((1, 2, 3, 4, 6, 8, 16))
        if rng.random() < 0.5:
            return rng.sample(range(size + rng.randrange(3)), size)
        return np.array([rng.randrange(size) for _ in range(size)])

    def draw_matrix(self) -> Any:
        """Draw a matrix, mostly square."""
        rng = self.rng
        rows = rng.randrange(6)
        columns = rows if rng.random() < 0.8 else rng.randrange(6)
        matrix = np.array(
            [[rng.randrange(9) for _ in range(columns)] for _ in range(rows)]
        )
        scaled = matrix.reshape(rows, columns) * rng.choice(
            (1, 1, 1, 0.5, 1e-6, -1, 2**60)
        )
        return scaled if rng.random() < 0.9 else scaled * math.nan


def _is_core_type(kind: str) -> bool:
    """Return whether a parameter is an array or a class of the core."""
    return any(word in kind for word in ("numpy", "Schedule", "Step", "_core"))
